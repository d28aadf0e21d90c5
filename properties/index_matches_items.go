package properties

import (
	"fmt"
	"slices"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// IndexMatchesItems checks the indexes of an Indexer (I71, I72).
var IndexMatchesItems = Property{
	Name:      "IndexMatchesItems",
	Statement: "every index holds what its function gives over the items: no value and no key is missing, and none is left over",
	Kinds:     []sim.Kind{subjects.KindIndexer},
	New: func() Checker {
		p := &indexMatchesItems{}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending, End: p.end}
	},
}

// indexedAtEachStep is the number of items up to which an Indexer is compared after each step that has changed it. Larger ones are
// compared at the end: the work is that of the whole content.
const indexedAtEachStep = 64

// indexMatchesItems compares the indexes that a scenario has added after each step, and the one of namespaces at the end.
type indexMatchesItems struct {
	changed []subjects.Informer
	pending bool                // there are some
	last    byActor[sim.Record] // the last change, by informer
	want    map[string][]string // by value, the keys in an index; kept from one to the next, so that the room is used again
	values  []string            // of an object, kept likewise
}

func (p *indexMatchesItems) record(w World, r *sim.Record) *reports.Violation {
	inf := w.InformerOf(r.Actor)
	if inf == nil || len(inf.Indexes()) == 0 {
		return nil
	}
	*p.last.get(r.Actor) = bare(r)
	if !slices.Contains(p.changed, inf) {
		p.changed, p.pending = append(p.changed, inf), true
	}
	return nil
}

func (p *indexMatchesItems) stepEnd(w World) *reports.Violation {
	changed := p.changed
	p.changed, p.pending = p.changed[:0], false
	for _, inf := range changed {
		if inf.Len() > indexedAtEachStep {
			continue
		}
		if v := p.judge(w, inf, inf.Indexes()); v != nil {
			return v
		}
	}
	return nil
}

func (p *indexMatchesItems) end(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if v := p.judge(w, inf, append([]subjects.IndexSpec{subjects.NamespaceIndex()}, inf.Indexes()...)); v != nil {
			return v
		}
	}
	return nil
}

// judge compares indexes with the items.
func (p *indexMatchesItems) judge(w World, inf subjects.Informer, indexes []subjects.IndexSpec) *reports.Violation {
	held := inf.Keys()
	for n := range indexes {
		ix := &indexes[n]
		if key, err := p.expect(inf, held, ix); err != nil {
			return p.violation(w, inf, key, fmt.Sprintf("index %s of informer %s has no values for %s, which the Indexer holds: %v", ix.Name, inf.Name(), key, err))
		}
		wrong, got, any := "", []string(nil), false
		for v, keys := range p.want { // order: the smallest value that is wrong
			if len(keys) == 0 || any && v > wrong {
				continue
			}
			if have := inf.IndexKeys(ix.Name, v); !slices.Equal(have, keys) {
				wrong, got, any = v, have, true
			}
		}
		if want := p.want[wrong]; any {
			return p.violation(w, inf, want[0], fmt.Sprintf("index %s of informer %s has %v under %q, want %v", ix.Name, inf.Name(), got, wrong, want))
		}
		for _, v := range inf.IndexValues(ix.Name) {
			if len(p.want[v]) == 0 {
				return p.violation(w, inf, "", fmt.Sprintf("index %s of informer %s has the value %q, with %v, which no item has", ix.Name, inf.Name(), v, inf.IndexKeys(ix.Name, v)))
			}
		}
	}
	return nil
}

// expect works out what an index should have, in p.want. An error is one of the index function, for the object of that key.
func (p *indexMatchesItems) expect(inf subjects.Informer, held []string, ix *subjects.IndexSpec) (key string, err error) {
	if p.want == nil {
		p.want = map[string][]string{}
	}
	for v, keys := range p.want { // order: all are emptied
		p.want[v] = keys[:0]
	}
	for _, key := range held {
		obj, _ := inf.Get(key)
		values, err := ix.AppendValues(p.values[:0], obj)
		if err != nil {
			return key, err
		}
		p.values = values
		for _, v := range values {
			if keys := p.want[v]; len(keys) == 0 || keys[len(keys)-1] != key {
				p.want[v] = append(keys, key)
			}
		}
	}
	return "", nil
}

func (p *indexMatchesItems) violation(w World, inf subjects.Informer, key, message string) *reports.Violation {
	v := &reports.Violation{Key: key, Message: message}
	if id, ok := w.Kernel().ActorByName(inf.Name()); ok {
		if last := p.last.get(id); last.Step != 0 {
			v.Because = append(v.Because, reports.Because(last, "the last change: %s %s at rv=%d", last.Detail, last.Key, last.RV))
		}
	}
	v.Because = append(v.Because, reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "and now the index is wrong"})
	return v
}
