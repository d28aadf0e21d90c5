package world

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/sim"
)

// holding is a finalizer that a controller adds to objects of a resource, or removes.
type holding struct{ client, resource, finalizer string }

// held is an object that has such a finalizer.
type held struct {
	probed
	path      string
	uid       types.UID
	finalizer string
}

// noteFinalizers notes which finalizers a controller adds or removes: it has to remove each when the object is deleted.
func (b *wellBehaved) noteFinalizers(r *sim.Record) {
	m, q, by := b.ofController(r)
	if q == nil {
		return
	}
	var had []string
	if old, is := r.Old.(metav1.Object); is {
		had = old.GetFinalizers()
	}
	has := m.GetFinalizers()
	if r.Detail == "DELETED" { // it is committed with the last one, which an update has removed (S18)
		has = nil
	}
	for _, f := range slices.Concat(had, has) {
		if slices.Contains(had, f) == slices.Contains(has, f) {
			continue
		}
		p := by()
		if x := (holding{p.client, p.resource, f}); !slices.Contains(b.holds, x) {
			b.holds = append(b.holds, x)
		}
	}
}

// releasable returns objects with finalizers of controllers, which nobody has deleted, some of each client unless one of all is picked.
func (b *wellBehaved) releasable() (all []held) {
	s := b.w.cluster.Store()
	times := map[string]int{}
	for _, x := range b.holds {
		for id, r := range b.resources(x.resource) {
			s.Newest(id, "", func(_ string, obj runtime.Object) bool {
				m, is := obj.(metav1.Object)
				if !is || m.GetDeletionTimestamp() != nil || !slices.Contains(m.GetFinalizers(), x.finalizer) {
					return true
				}
				p := probed{x.client, x.resource, m.GetNamespace(), m.GetName()}
				if b.w.config.probe == 0 && times[x.client] == maxProbed || slices.ContainsFunc(all, func(y held) bool { return y.probed == p }) {
					return true
				}
				times[x.client]++
				all = append(all, held{p, resourcePath(r.GroupVersionResource(), r.Namespaced, p.namespace) + "/" + p.name, m.GetUID(), x.finalizer})
				return true
			})
		}
	}
	return all
}

// isHeld reports whether an object still has the finalizer.
func (b *wellBehaved) isHeld(x held) bool {
	m := b.object(x.probed)
	return m != nil && m.GetUID() == x.uid && slices.Contains(m.GetFinalizers(), x.finalizer)
}

// outageOfFinalizers deletes objects that controllers hold while all their writes of them fail, for the property NoAbandonedWrite.
func (b *wellBehaved) outageOfFinalizers() {
	outages(b, b.releasable(), func(x held) {
		b.failing([]probed{x.probed}, b.lasting())
		b.removeSoon(x.path, x.uid)
	}, b.isHeld)
}
