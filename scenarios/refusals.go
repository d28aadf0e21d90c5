package scenarios

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// refusals follows what an informer cannot know because its transform fails for some objects (I112): what a watch brings of them is lost, until
// a list makes up for it; and while there is such an object, no list is taken.
type refusals struct {
	inf   subjects.Informer
	since int64             // the revision from which on changes are followed
	last  map[string]change // by key
	live  int               // objects in the Store for which the transform fails
	// lost are the keys of which the informer was last shown what its transform fails for. A replica that lags shows what the Store has compacted, so that last
	// knows nothing of it.
	lost map[string]bool
}

// change is the last change of an object, as the informer's watch shows it.
type change struct {
	rv            int64
	live, refused bool
}

// followRefusals starts to follow an informer whose transform may fail.
func (w *World) followRefusals(inf subjects.Informer, spec subjects.InformerSpec) error {
	if spec.Transform.FailLabel == "" {
		return nil
	}
	r := &refusals{inf: inf, lost: map[string]bool{}}
	begin := func() error {
		s := w.cluster.Store()
		r.last, r.live, r.since = map[string]change{}, 0, s.Compacted()
		if err := s.Walk(spec.Resource, s.Revision(), "", func(key string, obj runtime.Object) bool {
			r.note(key, subjects.RevisionOf(obj), obj, nil)
			return true
		}); err != nil {
			return err
		}
		// A replica that lags may still list what has been deleted, and a watch from there brings how that ended.
		return s.Changes(spec.Resource, s.Compacted(), func(c store.Committed) bool {
			r.follow(c)
			return true
		})
	}
	w.cluster.OnRestore(func() {
		if err := begin(); err != nil {
			w.kernel.Fail(err)
		}
	})
	w.cluster.OnCommit(func(id store.ResourceID, c store.Committed) {
		if id == spec.Resource {
			r.follow(c)
		}
	})
	if w.refusals == nil {
		w.refusals = map[string]*refusals{}
	}
	w.refusals[inf.Name()] = r
	return begin()
}

func (r *refusals) follow(c store.Committed) {
	if c.Deleted {
		r.note(c.Key, c.Revision, nil, c.Object)
	} else {
		r.note(c.Key, c.Revision, c.Object, c.Old)
	}
}

// note notes a change of an object: obj is nil for a deletion. What leaves the informer's selection is shown in its previous state (S17).
func (r *refusals) note(key string, rv int64, obj, old runtime.Object) {
	before, known := r.last[key]
	if before.live && before.refused {
		r.live--
	}
	c := change{rv: rv, live: obj != nil && r.inf.Selects(obj)}
	switch {
	case c.live:
		c.refused = r.inf.Refuses(obj)
	case old != nil && r.inf.Selects(old):
		c.refused = r.inf.Refuses(old)
	case known && !before.live:
		return // no watch shows it: what was shown last is still what the informer may lack
	}
	if r.last[key] = c; c.live && c.refused {
		r.live++
	}
}

// shown follows what informers are shown.
func (w *World) shown(r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindFrame:
		id, _ := w.kernel.Inner(r.Actor)
		_, key, _ := strings.Cut(r.Key, " ")
		delete(w.lost(id), key)
	case subjects.KindReplace:
		clear(w.lost(r.Actor))
	case subjects.KindRefused:
		if lost := w.lost(r.Actor); lost != nil {
			lost[r.Key] = true
		}
	}
}

// lost returns the keys of which an informer was last shown what its transform fails for, nil if it fails for nothing.
func (w *World) lost(id sim.ActorID) map[string]bool {
	if inf := w.InformerOf(id); inf != nil && w.refusals[inf.Name()] != nil {
		return w.refusals[inf.Name()].lost
	}
	return nil
}

// excuses reports whether the informer need not have what the Store has under a key: its transform failed for the last change, or no list has
// brought the change, and none can.
func (r *refusals) excuses(key string) bool {
	c, known := r.last[key]
	if !known {
		c.rv = r.since // it was deleted by then
	}
	return c.refused || r.lost[key] || r.listless() && c.rv > subjects.ParseRevision(r.inf.LastSyncResourceVersion())
}

// listless reports whether a list fails.
func (r *refusals) listless() bool { return r != nil && r.live > 0 }

// excusesSync reports whether an informer need not have synced: no list can be taken.
func (w *World) excusesSync(inf subjects.Informer) bool { return w.refusals[inf.Name()].listless() }

// excuses reports whether an informer's transform is to blame for what it has under a key.
func (w *World) excuses(inf subjects.Informer, key string) bool {
	r := w.refusals[inf.Name()]
	return r != nil && r.excuses(key)
}

// refused says what transforms fail for at the end of a run: nobody blames an informer for that.
func (w *World) refused() []reports.Refused {
	var all []reports.Refused
	for _, inf := range w.Informers() {
		r := w.refusals[inf.Name()]
		if r == nil {
			continue
		}
		x := reports.Refused{Informer: inf.Name(), Synced: inf.HasSynced()}
		for key, c := range r.last { // order: sorted below
			if _, held := inf.Get(key); c.refused && (c.live || held) {
				x.Keys = append(x.Keys, key)
			}
		}
		for key := range r.lost { // order: sorted below
			if _, held := inf.Get(key); held && !r.last[key].refused {
				x.Keys = append(x.Keys, key)
			}
		}
		slices.Sort(x.Keys)
		if len(x.Keys) > 0 {
			all = append(all, x)
		}
	}
	return all
}
