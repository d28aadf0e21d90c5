package world

import (
	"cmp"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// making is an object that a controller has made.
type making struct {
	probed
	step uint64
	path string // of the resource
	uid  types.UID
	// applied says that an apply has made it, which makes what is not there.
	applied bool
	drawn   string // the beginning of its name, of which the server has drawn the rest; "" if it has not
	owner   types.UID
}

// noteMade notes what a controller has created: one that looks after it makes it again when somebody deletes it.
func (b *wellBehaved) noteMade(r *sim.Record) {
	m, q, by := b.ofController(r)
	if q == nil || r.Detail != "ADDED" || q.Method != http.MethodPost && q.Method != http.MethodPatch {
		return
	}
	x := making{probed: by(), step: r.Step, uid: m.GetUID(), drawn: m.GetGenerateName()}
	if !strings.HasPrefix(x.name, x.drawn) {
		x.drawn = ""
	}
	x.path, _, _ = strings.Cut(q.Path, "?")
	if x.applied = q.Method == http.MethodPatch; x.applied {
		x.path = strings.TrimSuffix(x.path, "/"+x.name)
	}
	x.owner = ownerOf(m)
	b.made = append(b.made, x)
}

// ownerOf returns the uid of an object's controlling owner, "" if it has none.
func ownerOf(m metav1.Object) types.UID {
	if ref := metav1.GetControllerOf(m); ref != nil {
		return ref.UID
	}
	return ""
}

// deletable returns some of what controllers have made and what is still there, of each client and resource the last, if nothing holds it.
func (b *wellBehaved) deletable() (all []making) {
	times := map[string]int{}
	latest := slices.Clone(b.made)
	slices.SortStableFunc(latest, func(x, y making) int { return cmp.Compare(y.step, x.step) })
	for _, x := range latest {
		m := b.object(x.probed)
		another := func(y making) bool { return y.client == x.client && y.resource == x.resource }
		if !removable(m) || m.GetUID() != x.uid || b.w.config.probe == 0 && times[x.client] == maxProbed || slices.ContainsFunc(all, another) {
			continue
		}
		times[x.client]++
		all = append(all, x)
	}
	return all
}

// resources returns those that are called so, each of another group.
func (b *wellBehaved) resources(plural string) iter.Seq2[store.ResourceID, *store.Resource] {
	return func(yield func(store.ResourceID, *store.Resource) bool) {
		for id, r := range b.w.cluster.Store().Resources() {
			if r.Plural == plural && !yield(store.ResourceID(id), r) {
				return
			}
		}
	}
}

// object returns the object of a name, nil if there is none.
func (b *wellBehaved) object(p probed) metav1.Object {
	for id := range b.resources(p.resource) {
		obj, _ := b.w.cluster.Store().Get(id, p.namespace, p.name)
		if m, is := obj.(metav1.Object); is {
			return m
		}
	}
	return nil
}

// outageOfCreates deletes what controllers have made while what would make it again fails, for the property NoAbandonedWrite.
func (b *wellBehaved) outageOfCreates(made []making) {
	had := map[making]int{}
	outages(b, made, func(x making) {
		had[x] = len(b.like(x))
		b.failCreates(x, b.lasting())
		b.removeSoon(x.path+"/"+x.name, x.uid)
	}, func(x making) bool { return len(b.like(x)) < had[x] })
}

// failCreates has what would make an object again fail.
func (b *wellBehaved) failCreates(x making, f fault.Fault) {
	kind := x.probed
	if f.Verb = "create"; x.applied {
		f.Verb = "patch"
	} else {
		kind.name = ""
	}
	b.failing([]probed{kind}, f)
}

// like returns the objects of a name, or of its drawn beginning with the same owner.
func (b *wellBehaved) like(x making) (all []metav1.Object) {
	if x.drawn == "" {
		if m := b.object(x.probed); m != nil {
			all = append(all, m)
		}
		return all
	}
	for id := range b.resources(x.resource) {
		b.w.cluster.Store().Newest(id, x.namespace, func(_ string, obj runtime.Object) bool {
			if m, is := obj.(metav1.Object); is && m.GetGenerateName() == x.drawn && ownerOf(m) == x.owner {
				all = append(all, m)
			}
			return true
		})
	}
	return all
}

// removable reports whether an object is there, and goes when it is deleted.
func removable(m metav1.Object) bool {
	return m != nil && m.GetDeletionTimestamp() == nil && len(m.GetFinalizers()) == 0
}

// removeSoon deletes an object once writes fail, as somebody would who has not heard of the controller.
func (b *wellBehaved) removeSoon(path string, uid types.UID) {
	b.w.kernel.Clock().AfterFunc(2*time.Millisecond, func() {
		b.serve(http.MethodDelete, path, "application/json", deleteNow(uid))
	})
}

// deleteNow is the body of a delete that grants no time, of nothing but the object with the uid; "" for whichever has the name.
func deleteNow(uid types.UID) []byte { return deleteOptions(uid, `,"gracePeriodSeconds":0`) }

// deleteOptions is the body of a delete of nothing but the object with the uid; "" for whichever has the name.
func deleteOptions(uid types.UID, more string) []byte {
	if uid != "" {
		more += `,"preconditions":{"uid":"` + string(uid) + `"}`
	}
	return []byte(`{"apiVersion":"v1","kind":"DeleteOptions"` + more + `}`)
}
