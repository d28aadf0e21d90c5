package api

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// WatchReliable checks that a watch has no gap, and holds nothing back.
func WatchReliable() property.Property {
	return property.Property{
		Name:      "WatchReliable",
		Statement: "an event or bookmark of a watch without selectors comes after every change before it, and once all is at rest each change has come",
		Kinds:     append(slices.Clone(watchKinds), fakeapiserver.KindCommit, fakeapiserver.KindApply),
		New: func() property.Checker {
			p := &watchReliable{log: map[string][]commit{}}
			return property.Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.news}
		},
	}
}

// watchReliable keeps the changes of each resource, oldest first.
type watchReliable struct {
	openWatches
	log  map[string][]commit // by plural
	news bool                // something may be due at the next rest that was not at the last
}

type commit struct {
	rv        int64
	key       string
	namespace string
	// applied is how many replicas have applied it. One that starts anew reads it without that: what it should have shown of it is not judged
	// when all is at rest.
	applied int
}

func (p *watchReliable) record(w property.World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindCommit:
		plural, key, _ := strings.Cut(r.Key, " ")
		namespace, _, namespaced := strings.Cut(key, "/")
		if !namespaced {
			namespace = ""
		}
		p.log[plural] = append(p.log[plural], commit{rv: r.RV, key: key, namespace: namespace})
		return nil
	case fakeapiserver.KindApply:
		p.apply(w, r)
		return nil
	case fakeapiserver.KindRestore:
		clear(p.log)
	case fakeapiserver.KindResponse:
		p.news = true // a watch may have been opened
	}
	ow := p.openWatches.record(w, r)
	if ow == nil {
		return nil
	}
	if missed := p.missed(ow, r.RV); missed != nil && !ow.asked.Selects() {
		return ow.violation(w, r, "a %s at rv=%d follows rv=%d, and the change of %s at rv=%d is missing", r.Detail, r.RV, ow.rv, missed.key, missed.rv)
	}
	ow.reached(r)
	return nil
}

// apply notes that a replica has applied a change.
func (p *watchReliable) apply(w property.World, r *sim.Record) {
	if r.Key == "" {
		return // only progress
	}
	plural, _, _ := strings.Cut(r.Key, " ")
	all := p.log[plural]
	if n := after(all, r.RV-1); n < len(all) && all[n].rv == r.RV {
		all[n].applied++
		p.news = p.news || all[n].applied == w.Cluster().Replicas()
	}
}

// stepEnd judges, once nothing is left to be done but to let time pass, that each watch has shown what its replica has applied: one that
// nobody wakes would show it with the next event, or the next bookmark.
func (p *watchReliable) stepEnd(w property.World) *reports.Violation {
	if !w.Kernel().Quiet() {
		return nil
	}
	p.news = false
	for id, watches := range p.byConn {
		for _, ow := range watches {
			if v := p.withheld(w, sim.ActorID(id), ow); v != nil {
				return v
			}
		}
	}
	return nil
}

// withheld returns the violation of a watch that has not shown a change, nil if it has shown all, or something keeps them back.
func (p *watchReliable) withheld(w property.World, conn sim.ActorID, ow *openWatch) *reports.Violation {
	if !ow.opened || ow.initial || ow.rv == 0 || ow.asked.Selects() {
		return nil
	}
	all := p.log[ow.plural]
	for n := after(all, ow.rv); n < len(all); n++ {
		c := &all[n]
		if c.applied < w.Cluster().Replicas() || ow.asked.Namespace != "" && ow.asked.Namespace != c.namespace {
			continue
		}
		name := w.Kernel().ActorName(conn)
		if w.Cluster().KeepsBack(strings.TrimPrefix(name, "conn/"), fakeapiserver.ReqID(ow.id)) {
			p.news = true // it may end without a record
			return nil
		}
		return &reports.Violation{
			Key: c.key,
			Message: fmt.Sprintf("%s, watch %d of %s: all replicas have applied the change of %s at rv=%d, and nothing else is left to be done, but the watch has not shown it",
				name, ow.id, ow.plural, c.key, c.rv),
			Because: []reports.Evidence{
				{Step: ow.step, At: ow.at, Text: fmt.Sprintf("the watch is at rv=%d: %s", ow.rv, ow.last)},
				{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "and now only time could pass"},
			},
		}
	}
	return nil
}

// missed returns a change between the last event and rv that the watch should have shown, nil if there is none.
func (p *watchReliable) missed(ow *openWatch, rv int64) *commit {
	all := p.log[ow.plural]
	if ow.pos == 0 {
		ow.pos = after(all, ow.rv)
	}
	for ; ow.pos < len(all) && all[ow.pos].rv <= rv; ow.pos++ {
		c := &all[ow.pos]
		if c.rv > ow.rv && c.rv < rv && (ow.asked.Namespace == "" || ow.asked.Namespace == c.namespace) {
			return c
		}
	}
	return nil
}

// after returns the place of the first change after a revision.
func after(all []commit, rv int64) int {
	return sort.Search(len(all), func(i int) bool { return all[i].rv > rv })
}
