package properties

import (
	"fmt"
	"math"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// ReadsAgree checks the ways in which controllers read an Indexer, listers among them (I115).
var ReadsAgree = Property{
	Name:      "ReadsAgree",
	Statement: "whichever way an Indexer is read, by a lister, a selector, a namespace or an index, it gives what it holds",
	Kinds:     []sim.Kind{subjects.KindIndexer},
	New: func() Checker {
		p := &readsAgree{}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending, End: p.end}
	},
}

// readsAgree reads an Indexer after its 4th change, its 16th, its 64th and so on, and at the end. To read in all ways takes long, so what is asked
// for takes turns, by the number of the step.
type readsAgree struct {
	changes byActor[int]
	due     []subjects.Informer
	pending bool  // there are some
	held    []any // under keys
	keys    []string
	// readings are kept from one turn to the next, so that their room is used again.
	readings []subjects.Reading
}

func (p *readsAgree) record(w World, r *sim.Record) *reports.Violation {
	n := p.changes.get(r.Actor)
	if *n++; *n < 4 || !powerOf4(*n) {
		return nil
	}
	if inf := w.InformerOf(r.Actor); inf != nil && !slices.Contains(p.due, inf) {
		p.due, p.pending = append(p.due, inf), true
	}
	return nil
}

// powerOf4 reports whether n, which is positive, is a power of four.
func powerOf4(n int) bool { return n&(n-1) == 0 && n&0x5555_5555 != 0 }

func (p *readsAgree) stepEnd(w World) *reports.Violation {
	due := p.due
	p.due, p.pending = p.due[:0], false
	for _, inf := range due {
		if inf.Len() > indexedAtEachStep {
			continue
		}
		if v := p.judge(w, inf, fewReadings); v != nil {
			return v
		}
	}
	return nil
}

func (p *readsAgree) end(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if v := p.judge(w, inf, math.MaxInt); v != nil {
			return v
		}
	}
	return nil
}

// absent is in no scenario: a name of a namespace, an object and a value.
const absent = "absent"

// fewReadings are made of an Indexer at a time while the run goes on. At the end, all are.
const fewReadings = 3

// judge reads an Indexer in so many ways, and compares.
func (p *readsAgree) judge(w World, inf subjects.Informer, most int) *reports.Violation {
	p.keys, p.held = inf.Keys(), p.held[:0]
	for _, key := range p.keys {
		obj, _ := inf.Get(key)
		p.held = append(p.held, obj)
	}
	turn := int(w.Kernel().Steps() % 1_000_003)
	key := p.readingsOf(inf, turn)
	for n := range min(most, len(p.readings)) {
		r := &p.readings[(turn+n)%len(p.readings)]
		if wrong := p.compare(inf, r); wrong != "" {
			return &reports.Violation{Key: key, Message: fmt.Sprintf("informer %s: %s %s", inf.Name(), r.Describe(), wrong)}
		}
	}
	return nil
}

// readingsOf makes the readings of a turn, and returns the key that some of them are about.
func (p *readsAgree) readingsOf(inf subjects.Informer, turn int) (key string) {
	key, namespace := absent+"/"+absent, absent
	if n := turn % (len(p.keys) + 1); n < len(p.keys) {
		key = p.keys[n]
		namespace, _, _ = strings.Cut(key, "/")
	}
	selector := subjects.Selectors[turn%len(subjects.Selectors)]
	p.readings = append(p.readings[:0],
		subjects.Reading{Way: subjects.List},
		subjects.Reading{Way: subjects.ListAll, Labels: selector},
		subjects.Reading{Way: subjects.ListAllByNamespace, Namespace: namespace},
		subjects.Reading{Way: subjects.ListAllByNamespace, Namespace: namespace, Labels: selector},
		subjects.Reading{Way: subjects.ListerList, Labels: selector, Namespace: [...]string{"", namespace}[turn%2]},
		subjects.Reading{Way: subjects.ListerGet, Key: key},
		subjects.Reading{Way: subjects.Get, Key: key},
		subjects.Reading{Way: subjects.ByIndex, Index: namespaceIndex, Value: namespace},
		subjects.Reading{Way: subjects.Index, Index: namespaceIndex, Key: key},
		[...]subjects.Reading{
			{Way: subjects.ListAll}, {Way: subjects.ListAll, Nothing: true}, {Way: subjects.ListAllByNamespace}, {Way: subjects.ListerList},
			{Way: subjects.ListAllByNamespace, Namespace: namespace, Nothing: true},
			{Way: subjects.ListWithoutIndex, Namespace: namespace, Labels: selector},
			{Way: subjects.Index, Index: absent, Key: key}, {Way: subjects.ByIndex, Index: absent, Value: namespace},
		}[turn%8],
	)
	for _, ix := range inf.Indexes() {
		p.readings = append(p.readings, subjects.Reading{Way: subjects.Index, Index: ix.Name, Key: key})
		if values := inf.IndexValues(ix.Name); len(values) > 0 {
			p.readings = append(p.readings, subjects.Reading{Way: subjects.ByIndex, Index: ix.Name, Value: values[turn%len(values)]})
		}
	}
	return key
}

// namespaceIndex is the name of the index that every informer has, and listers use.
var namespaceIndex = subjects.NamespaceIndex().Name

// compare reads, and says what is wrong with the result, "" for nothing.
func (p *readsAgree) compare(inf subjects.Informer, r *subjects.Reading) string {
	got, err := inf.Read(*r)
	key, exists := slices.BinarySearch(p.keys, r.Key)
	switch {
	case r.Index == absent:
		if err == nil && (r.Way == subjects.ByIndex || exists) {
			return "has no error, although there is no such index"
		}
		return ""
	case r.Way == subjects.ListerGet && !exists:
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("gives %s and the error %v, want that it is not found", named(got), err)
		}
		return ""
	case err != nil:
		return "fails: " + err.Error()
	}
	want := 0
	for n, obj := range p.held {
		if !p.wanted(inf, r, n, key, exists) {
			continue
		}
		if want++; !slices.Contains(got, obj) {
			return fmt.Sprintf("lacks %s: it gives %s", p.keys[n], named(got))
		}
	}
	if len(got) != want {
		return fmt.Sprintf("gives %s, want %d of what it holds, %s", named(got), want, strings.Join(p.keys, " "))
	}
	return ""
}

// wanted reports whether the object with number n is to be read. key is the number of the one that is asked for, if it exists.
func (p *readsAgree) wanted(inf subjects.Informer, r *subjects.Reading, n, key int, exists bool) bool {
	m, err := meta.Accessor(p.held[n])
	if err != nil {
		return false
	}
	switch r.Way {
	case subjects.Get, subjects.ListerGet:
		return exists && n == key
	case subjects.Index:
		return exists && slices.ContainsFunc(values(inf, r.Index, p.held[key]), func(v string) bool { return slices.Contains(values(inf, r.Index, p.held[n]), v) })
	case subjects.ByIndex:
		return slices.Contains(values(inf, r.Index, p.held[n]), r.Value)
	}
	return (r.Namespace == "" || r.Namespace == m.GetNamespace()) && r.Selects(m.GetLabels())
}

// values are those of an object in an index. An index function that fails is a matter of IndexMatchesItems.
func values(inf subjects.Informer, index string, obj any) []string {
	ix := subjects.NamespaceIndex()
	if n := slices.IndexFunc(inf.Indexes(), func(x subjects.IndexSpec) bool { return x.Name == index }); n >= 0 {
		ix = inf.Indexes()[n]
	}
	of, err := ix.Values(obj)
	if err != nil {
		return nil
	}
	return of
}

// named are the keys of objects.
func named(objs []any) string {
	keys := make([]string, len(objs))
	for n, obj := range objs {
		if m, err := meta.Accessor(obj); err == nil {
			keys[n] = strings.TrimPrefix(m.GetNamespace()+"/"+m.GetName(), "/")
		}
	}
	if len(keys) == 0 {
		return "nothing"
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}
