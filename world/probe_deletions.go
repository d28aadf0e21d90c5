package world

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// missDeletions deletes what controllers have made: first while they watch, and what they make again once more while the watches of its resource have ended, so that a list tells of that, for the
// property NoLostDeletion.
func (b *wellBehaved) missDeletions(made []making) {
	for _, round := range oneOfEach(alone(b, made)) {
		for _, unseen := range []bool{false, true} {
			if b.over() || len(round) == 0 {
				break
			}
			b.w.stopFaults()
			had := map[making]int{}
			for _, x := range round {
				m := b.removable(x)
				if m == nil {
					continue
				}
				had[x] = len(b.like(x))
				if unseen {
					b.endWatches(x.client, x.resource)
				}
				b.removeSoon(x.path+"/"+m.GetName(), m.GetUID())
			}
			b.w.goOn(probeTime)
			all := len(round)
			round = slices.DeleteFunc(round, func(x making) bool { return len(b.like(x)) < had[x] })
			if len(round) < all {
				b.lookAgain()
			}
		}
	}
}

// endWatches ends a client's watches of a resource just before removeSoon deletes something.
func (b *wellBehaved) endWatches(client, resource string) {
	f := fault.Fault{Kind: fault.Watch410, Target: client, Resource: resource, From: b.w.kernel.Elapsed() + time.Millisecond, Count: -1}
	if err := b.w.cluster.Inject(f); err != nil {
		b.w.kernel.Fail(err)
	}
}

// removable returns the last object like one that was made, nil if something holds it, or there is none.
func (b *wellBehaved) removable(x making) metav1.Object {
	all := b.like(x)
	if len(all) == 0 {
		return nil
	}
	if m := all[len(all)-1]; m.GetDeletionTimestamp() == nil && len(m.GetFinalizers()) == 0 {
		return m
	}
	return nil
}
