package world

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// discard is an object that a controller has deleted.
type discard struct {
	probed
	path  string // of the request
	obj   any    // before
	again bool   // the controller has asked for its deletion since somebody has made it anew
}

// collection returns the path of the collection that it was in.
func (x *discard) collection() string { return strings.TrimSuffix(x.path, "/"+x.name) }

// whole reports whether it was deleted with that.
func (x *discard) whole() bool { return x.path == x.collection() }

// in reports whether the request was about a resource, or one of the same group.
func (x *discard) in(r *store.Resource) bool {
	if r.Group == "" {
		return strings.HasPrefix(x.path, "/api/")
	}
	return strings.HasPrefix(x.path, "/apis/"+r.Group+"/")
}

// noteDiscard notes what a controller has deleted: one that deletes it for what it is does so again when somebody makes it anew. Of each client and resource, the last one counts.
func (b *wellBehaved) noteDiscard(r *sim.Record) {
	_, q, by := b.ofController(r)
	if q == nil || q.Method != http.MethodDelete || r.Old == nil {
		return
	}
	x := &discard{probed: by(), obj: r.Old}
	x.path, _, _ = strings.Cut(q.Path, "?")
	b.discards = append(slices.DeleteFunc(b.discards, func(y *discard) bool {
		return y.client == x.client && y.resource == x.resource && y.whole() == x.whole()
	}), x)
}

// noteAgain notes that a controller asks for a deletion once more.
func (b *wellBehaved) noteAgain(client sim.ActorID, q *wellbehaved.Request) {
	if !b.probing || q.Method != http.MethodDelete {
		return
	}
	name := b.nameOf(client)
	path, _, _ := strings.Cut(q.Path, "?")
	for _, x := range b.discards {
		x.again = x.again || x.client == name && x.path == path
	}
}

// restorable returns some of what controllers have deleted, of each client the latest, if it is not there and its owners are.
func (b *wellBehaved) restorable() (all []*discard) {
	times := map[string]int{}
	for _, x := range slices.Backward(b.discards) {
		if b.object(x.probed) != nil || !b.owned(x.obj) || b.w.config.probe == 0 && times[x.client] == maxProbed {
			continue
		}
		times[x.client]++
		all = append(all, x)
	}
	return all
}

// owned reports whether all owners of an object are there.
func (b *wellBehaved) owned(obj any) bool {
	m, is := obj.(metav1.Object)
	return is && !slices.ContainsFunc(m.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
		for id, r := range b.w.cluster.Store().Resources() {
			if r.Kind != ref.Kind {
				continue
			}
			namespace := ""
			if r.Namespaced {
				namespace = m.GetNamespace()
			}
			obj, _ := b.w.cluster.Store().Get(store.ResourceID(id), namespace, ref.Name)
			if owner, is := obj.(metav1.Object); is && owner.GetUID() == ref.UID {
				return false
			}
		}
		return true
	})
}

// outageOfDeletes makes anew what controllers have deleted, while what would delete it once more fails, for the property NoAbandonedWrite. Who does not even try lets it be there.
func (b *wellBehaved) outageOfDeletes() {
	restored := b.restorable()
	outages(b, restored, func(x *discard) {
		f, of := b.lasting(), x.probed
		if f.Verb = "delete"; x.whole() {
			f.Verb, of.name = "deletecollection", ""
		}
		b.failing([]probed{of}, f)
		b.restoreSoon(x)
	}, func(x *discard) bool { return x.again && b.stays(x) })
	for _, x := range restored { // what has come back is nobody's
		if b.stays(x) {
			b.removeSoon(x.collection()+"/"+x.name, b.object(x.probed).GetUID())
		}
	}
}

// stays reports whether what was made anew is there, and nobody has deleted it.
func (b *wellBehaved) stays(x *discard) bool {
	m := b.object(x.probed)
	return m != nil && m.GetDeletionTimestamp() == nil
}

// restoreSoon makes an object anew once deletes fail, as it was, its status included.
func (b *wellBehaved) restoreSoon(x *discard) {
	for _, r := range b.resources(x.resource) {
		if !x.in(r) {
			continue
		}
		path := resourcePath(r.GroupVersionResource(), r.Namespaced, x.namespace)
		b.w.kernel.Clock().AfterFunc(2*time.Millisecond, func() {
			b.serve(http.MethodPost, path, "application/json", manifest(x.obj, r.GroupVersionKind()))
			if status := statusOf(x.obj); status != nil {
				b.serve(http.MethodPatch, path+"/"+x.name+"/status", "application/merge-patch+json", status)
			}
		})
		return
	}
}

// statusOf returns a merge patch of an object's status, nil if it has none.
func statusOf(obj any) []byte {
	var fields struct {
		Status json.RawMessage `json:"status,omitempty"`
	}
	if json.Unmarshal(asJSON(obj), &fields) != nil || len(fields.Status) == 0 || string(fields.Status) == "{}" {
		return nil
	}
	patch, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return patch
}
