package twin

import (
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
)

const (
	maxPartings = 4   // that are told
	maxLines    = 4   // of a run in a difference
	maxAhead    = 60  // steps that are looked through for where two runs are the same again
	maxText     = 300 // bytes of a line
)

// text says what a step did. It is what two runs are compared by: not the time, and not the number of the step.
func (r *run) text(i int) string {
	s := &r.steps[i]
	parts := []string{reports.ChoiceText(s, r.texts)}
	for n := range s.Records {
		parts = append(parts, reports.RecordText(&s.Records[n]))
	}
	return strings.Join(parts, "; ")
}

func (r *run) line(i int) reports.Line {
	s := &r.steps[i]
	text := r.text(i)
	if head := reports.ChoiceText(s, r.texts); len(s.Records) > 0 { // what came of the choice says more
		text = strings.TrimPrefix(text, head+"; ")
	}
	text = reports.Plain(text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return reports.Line{Step: uint64(i + 1), At: time.Duration(s.At), Actor: s.Actor, Text: text}
}

func same(x *run, i int, y *run, j int) bool {
	a, b := &x.steps[i], &y.steps[j]
	return a.Actor == b.Actor && a.Kind == b.Kind && x.text(i) == y.text(j)
}

// compare returns where two runs differ, in order, until they have gone apart for good or enough is told.
func compare(here, there *run) (all []reports.Parting) {
	i, j := 0, 0
	for len(all) < maxPartings && i < len(here.steps) && j < len(there.steps) {
		if same(here, i, there, j) {
			i, j = i+1, j+1
			continue
		}
		m, n, again := meet(here, i, there, j)
		d := reports.Parting{Here: lines(here, i, m), There: lines(there, j, n)}
		all = append(all, d)
		if !again {
			break
		}
		i, j = m, n
	}
	return all
}

// meet returns where two runs are the same again after a difference: as soon as possible. Two equal steps in a row count; one may be chance.
func meet(here *run, i int, there *run, j int) (m, n int, again bool) {
	for sum := 1; sum <= maxAhead; sum++ {
		for a := 0; a <= sum; a++ {
			m, n := i+a, j+sum-a
			if m+1 < len(here.steps) && n+1 < len(there.steps) && same(here, m, there, n) && same(here, m+1, there, n+1) {
				return m, n, true
			}
		}
	}
	return min(i+maxLines, len(here.steps)), min(j+maxLines, len(there.steps)), false
}

func lines(r *run, from, to int) (all []reports.Line) {
	for i := from; i < min(to, from+maxLines); i++ {
		all = append(all, r.line(i))
	}
	return all
}
