package api

import (
	"slices"
	"sort"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// WatchReliable checks that a watch has no gap.
func WatchReliable() property.Property {
	return property.Property{
		Name:      "WatchReliable",
		Statement: "an event or bookmark of a watch without selectors comes after every change before it",
		Kinds:     append(slices.Clone(watchKinds), fakeapiserver.KindCommit),
		New: func() property.Checker {
			p := &watchReliable{log: map[string][]commit{}}
			return property.Checker{Record: p.record}
		},
	}
}

// watchReliable keeps the changes of each resource, oldest first.
type watchReliable struct {
	openWatches
	log map[string][]commit // by plural
}

type commit struct {
	rv        int64
	key       string
	namespace string
}

func (p *watchReliable) record(w property.World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindCommit:
		plural, key, _ := strings.Cut(r.Key, " ")
		namespace, _, namespaced := strings.Cut(key, "/")
		if !namespaced {
			namespace = ""
		}
		p.log[plural] = append(p.log[plural], commit{r.RV, key, namespace})
		return nil
	case fakeapiserver.KindRestore:
		clear(p.log)
	}
	ow := p.openWatches.record(w, r)
	if ow == nil {
		return nil
	}
	if missed := p.missed(ow, r.RV); missed != nil && !ow.request.selects() {
		return ow.violation(w, r, "a %s at rv=%d follows rv=%d, and the change of %s at rv=%d is missing", r.Detail, r.RV, ow.rv, missed.key, missed.rv)
	}
	ow.reached(r)
	return nil
}

// missed returns a change between the last event and rv that the watch should have shown, nil if there is none.
func (p *watchReliable) missed(ow *openWatch, rv int64) *commit {
	all := p.log[ow.plural]
	if ow.pos == 0 {
		ow.pos = sort.Search(len(all), func(i int) bool { return all[i].rv > ow.rv })
	}
	for ; ow.pos < len(all) && all[ow.pos].rv <= rv; ow.pos++ {
		c := &all[ow.pos]
		if c.rv > ow.rv && c.rv < rv && (ow.request.namespace == "" || ow.request.namespace == c.namespace) {
			return c
		}
	}
	return nil
}
