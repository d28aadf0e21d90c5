package world

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/world/wellbehaved"
)

// deletions deletes what controllers have made, again and again: some times the first attempts to make it again fail, for the property NoGrowingBackoff, and at last the watches of its resource have
// just ended, so that a list tells of it, for NoLostDeletion. NoOrphan sees whether it has its owner again. What does not come back is deleted no more.
func (b *wellBehaved) deletions(made []making) {
	var ways []func(making)
	if b.asked(wellbehaved.NameBackoff) {
		for range wellbehaved.CreateRounds {
			ways = append(ways, func(x making) { b.failCreates(x, fault.Fault{Count: wellbehaved.ProbeFailures}) })
		}
	}
	if len(ways) == 0 && (b.asked(wellbehaved.NameDeletion) || b.asked(wellbehaved.NameOrphan)) {
		ways = append(ways, func(making) {}) // while a watch tells
	}
	if b.asked(wellbehaved.NameDeletion) {
		ways = append(ways, b.endWatches)
	}
	for _, round := range oneOfEach(alone(b, made)) {
		for _, way := range ways {
			round = b.deletion(round, way)
			b.fade()
		}
	}
}

// deletion deletes objects, each in some way, and returns those that have come back within probeTime. For the others, informers list anew.
func (b *wellBehaved) deletion(of []making, way func(making)) (back []making) {
	if b.over() || len(of) == 0 {
		return nil
	}
	b.w.stopFaults()
	had := map[making]int{}
	for _, x := range of {
		if m := b.lastLike(x); removable(m) {
			had[x] = len(b.like(x))
			way(x)
			b.removeSoon(x.path+"/"+m.GetName(), m.GetUID())
		}
	}
	b.w.goOn(probeTime)
	lacks := func(x making) bool { return len(b.like(x)) < had[x] }
	back = slices.DeleteFunc(slices.Clone(of), func(x making) bool { return had[x] == 0 || lacks(x) })
	b.lookAgain(func() bool { return slices.ContainsFunc(of, lacks) })
	return back
}

// endWatches ends the watches of an object's resource just before removeSoon deletes it.
func (b *wellBehaved) endWatches(x making) {
	b.injectInto(x.client, b.endOfWatches(x.resource))
}

// lastLike returns the last object like one that was made, nil if there is none.
func (b *wellBehaved) lastLike(x making) metav1.Object {
	all := b.like(x)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}
