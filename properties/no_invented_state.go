package properties

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// NoInventedState checks that informers show only objects that the Store committed.
var NoInventedState = Property{
	Name:      "NoInventedState",
	Statement: "every object in the Indexer or passed to a handler is a version that the Store committed for its key",
	Kinds:     []sim.Kind{fakeapiserver.KindCommit, subjects.KindIndexer, subjects.KindNotify},
	New: func() Checker {
		p := newNoInventedState()
		return Checker{Record: p.record}
	},
}

// noInventedState keeps the latest versions that the Store committed, per resource and key.
type noInventedState struct {
	versions map[string][]committed // by "pods default/a"
	resource byActor[resourceName]
	scratch  []byte
}

type committed struct {
	rv  int64
	obj any
	// seen are the last objects that were found to be this version, as transforms have made it: a resync shows them again and again.
	seen []seenBy
}

// seenBy is the last object that an informer has shown for a version.
type seenBy struct {
	informer subjects.Informer
	obj      any
}

type resourceName struct {
	plural   string
	informer subjects.Informer // that has the object
}

// keepVersions is the number of versions kept per key. An object older than all of them is not judged.
const keepVersions = 256

func newNoInventedState() *noInventedState {
	return &noInventedState{versions: map[string][]committed{}}
}

func (p *noInventedState) record(w World, r *sim.Record) *reports.Violation {
	if r.Kind == fakeapiserver.KindCommit {
		v := p.versions[r.Key]
		if len(v) == 2*keepVersions {
			v = append(v[:0], v[keepVersions:]...)
		}
		p.versions[r.Key] = append(v, committed{rv: r.RV, obj: r.Obj})
		return nil
	}
	if r.Obj == nil {
		return nil // a deletion from the Indexer
	}
	p.scratch = append(append(append(p.scratch[:0], p.plural(w, r.Actor)...), ' '), r.Key...)
	versions := p.versions[string(p.scratch)]
	another, inf := false, p.resource.get(r.Actor).informer
	for i := len(versions) - 1; i >= 0; i-- {
		v := &versions[i]
		if v.shown(inf, r.Obj) || v.obj == r.Obj && (inf == nil || any(transformed(inf, v.obj)) == r.Obj) {
			return nil
		}
		if v.rv == r.RV {
			// An object that leaves a selector is shown in its previous state, at the resourceVersion of the change (S17):
			// only the resourceVersion of a deletion is judged.
			if r.Detail == subjects.NotifyDelete {
				return nil
			}
			if equality.Semantic.DeepEqual(transformed(inf, v.obj), r.Obj) {
				v.show(inf, r.Obj)
				return nil
			}
			another = true // keep looking: a restored store reuses revisions, so there may be two
		}
	}
	if another {
		return p.broken(w, r, fmt.Sprintf("the server committed a different object at rv=%d", r.RV))
	}
	if len(versions) >= keepVersions && r.RV < versions[0].rv {
		return nil
	}
	return p.broken(w, r, "the server never committed that version")
}

// shown reports whether the object is the last one that the informer has shown for this version.
func (v *committed) shown(inf subjects.Informer, obj any) bool {
	for i := range v.seen {
		if s := &v.seen[i]; s.obj == obj && s.informer == inf {
			return true
		}
	}
	return false
}

// show notes that it is.
func (v *committed) show(inf subjects.Informer, obj any) {
	for i := range v.seen {
		if v.seen[i].informer == inf {
			v.seen[i].obj = obj
			return
		}
	}
	v.seen = append(v.seen, seenBy{inf, obj})
}

// transformed returns what an informer makes of a version.
func transformed(inf subjects.Informer, obj any) any {
	if o, ok := obj.(runtime.Object); ok && inf != nil {
		return inf.Transformed(o)
	}
	return obj
}

func (p *noInventedState) broken(w World, r *sim.Record, why string) *reports.Violation {
	return &reports.Violation{
		Key:     r.Key,
		Message: fmt.Sprintf("%s received %s at rv=%d, but %s", w.Kernel().ActorName(r.Actor), r.Key, r.RV, why),
		Because: []reports.Evidence{reports.Because(r, "%s %s %s rv=%d", w.Kernel().ActorName(r.Actor), r.Detail, r.Key, r.RV)},
	}
}

// plural returns the resource of an informer or handler.
func (p *noInventedState) plural(w World, id sim.ActorID) string {
	n := p.resource.get(id)
	if n.plural == "" {
		if inf := w.InformerOf(id); inf != nil {
			n.informer = inf
			n.plural = w.Cluster().Store().Resource(inf.Resource()).Plural
		}
	}
	return n.plural
}
