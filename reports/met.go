package reports

import (
	"cmp"
	"slices"
	"strings"
)

// met is what a client has met of faults: the one that struck last what is under way, and the last failure by one, as long as nothing has succeeded since.
type met struct {
	fault   string
	refusal *Line
}

// struck notes a fault. One that only holds something back does not have it fail.
func (a *aftermath) struck(victim, fault string) {
	if strings.HasSuffix(fault, "-slow") || strings.HasSuffix(fault, "-late") {
		return
	}
	m := a.met[victim]
	if m == nil {
		m = &met{}
		a.met[victim] = m
	}
	m.fault = fault
}

// answered notes that a client has an answer, with what failed, nil for nothing.
func (a *aftermath) answered(client string, failed *Line) {
	m := a.met[client]
	if m == nil {
		return
	}
	switch {
	case failed == nil:
		m.refusal = nil
	case m.fault != "":
		line := *failed
		line.Text += ": by the fault " + m.fault
		m.refusal = &line
	}
	m.fault = ""
}

// metSection tells what faults the test's own clients have met last, as a body that fails because of one may not expect.
func (a *aftermath) metSection(own []string) Section {
	var all []Line
	for _, client := range own {
		if m := a.met[client]; m != nil && m.refusal != nil {
			all = append(all, *m.refusal)
		}
	}
	s := Section{Title: "a client of the test's own has met a fault"}
	if len(all) == 0 {
		return s
	}
	slices.SortStableFunc(all, func(x, y Line) int { return cmp.Compare(x.Step, y.Step) })
	for _, l := range all {
		s.Lines = append(s.Lines, l.String())
	}
	s.Lines = append(s.Lines, metRemedy)
	return s
}

// metRemedy is what to do about a fault that the body did not expect.
const metRemedy = "Faults hit each client of env.RESTConfig. If that is why the body failed: retry, call env.StopFaults first, or use env.Get, env.List, env.Create, " +
	"env.Mutate and the like, which no fault affects."
