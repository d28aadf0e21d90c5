package properties

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// FiltersPass checks the filter that a controller puts in front of its handler (I116).
var FiltersPass = Property{
	Name:      "FiltersPass",
	Statement: "behind a filter, a handler is told of what the filter selects: what enters the selection is added, what leaves it is deleted",
	Kinds:     []sim.Kind{subjects.KindNotify},
	New:       func() Checker { return Checker{Record: filtersPass} },
}

func filtersPass(w World, r *sim.Record) *reports.Violation {
	inf := w.InformerOf(r.Actor)
	if inf == nil {
		return nil
	}
	_, handler, _ := strings.Cut(w.Kernel().ActorName(r.Actor), "/")
	got, filtered := inf.Passed(handler)
	if !filtered {
		return nil
	}
	want, any := passes(r, &got)
	switch {
	case !any && got.N == 0, any && got.N == 1 && got.Told[0] == want:
		return nil
	}
	wanted := "nothing"
	if any {
		wanted = told(want)
	}
	return &reports.Violation{
		Key:     r.Key,
		Message: fmt.Sprintf("%s: of %q, a filter %q lets %s through, want %s", w.Kernel().ActorName(r.Actor), r.Detail+" "+r.Key, got.Filter, allTold(&got), wanted),
		Because: []reports.Evidence{reports.Because(r, "the informer tells %s %s (RV %d)", r.Detail, r.Key, r.RV)},
	}
}

// passes says what a filter should let through of a notification, if anything.
func passes(r *sim.Record, p *subjects.Passed) (told subjects.Told, any bool) {
	is := subjects.FilterSelects(p.Filter, r.Obj)
	if r.Detail != subjects.NotifyUpdate && r.Detail != subjects.NotifySync {
		return subjects.Told{Detail: r.Detail, RV: subjects.RevisionOf(r.Obj)}, is
	}
	was := subjects.FilterSelects(p.Filter, r.Old)
	switch {
	case is && was:
		return subjects.Told{Detail: subjects.NotifyUpdate, RV: r.RV, Old: r.N}, true
	case is:
		return subjects.Told{Detail: subjects.NotifyAdd, RV: r.RV}, true
	}
	return subjects.Told{Detail: subjects.NotifyDelete, RV: r.N}, was
}

func told(t subjects.Told) string {
	if t.Old != 0 {
		return fmt.Sprintf("%s (RV %d, before it %d)", t.Detail, t.RV, t.Old)
	}
	return fmt.Sprintf("%s (RV %d)", t.Detail, t.RV)
}

// allTold describes what was let through.
func allTold(p *subjects.Passed) string {
	if p.N == 0 {
		return "nothing"
	}
	var all []string
	for _, t := range p.Told[:min(p.N, len(p.Told))] {
		all = append(all, told(t))
	}
	if p.N > len(p.Told) {
		all = append(all, fmt.Sprintf("%d more", p.N-len(p.Told)))
	}
	return strings.Join(all, " and ")
}
