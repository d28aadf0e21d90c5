package reports

import (
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// Steps are the steps of a run, to be compared with another's. Texts are the commands of its script, which steps may name.
type Steps struct {
	Steps []sim.TraceStep
	Texts []string
}

const (
	maxPartings = 4   // that are told
	maxLines    = 4   // of a run in a difference
	maxAhead    = 60  // steps that are looked through for where two runs are the same again
	maxText     = 300 // bytes of a line
)

// text says what a step did. It is what two runs are compared by: not the time, and not the number of the step.
func (r *Steps) text(i int) string {
	s := &r.Steps[i]
	parts := []string{ChoiceText(s, r.Texts)}
	for n := range s.Records {
		parts = append(parts, RecordText(&s.Records[n]))
	}
	return strings.Join(parts, "; ")
}

func (r *Steps) line(i int) Line {
	s := &r.Steps[i]
	text := r.text(i)
	if head := ChoiceText(s, r.Texts); len(s.Records) > 0 { // what came of the choice says more
		text = strings.TrimPrefix(text, head+"; ")
	}
	text = Plain(text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return Line{Step: uint64(i + 1), At: time.Duration(s.At), Actor: s.Actor, Text: text}
}

func same(x *Steps, i int, y *Steps, j int) bool {
	a, b := &x.Steps[i], &y.Steps[j]
	return a.Actor == b.Actor && a.Kind == b.Kind && x.text(i) == y.text(j)
}

// PartingsOf returns where two runs differ, in order, until they have gone apart for good or enough is told.
func PartingsOf(here, there *Steps) (all []Parting) {
	i, j := 0, 0
	for len(all) < maxPartings && i < len(here.Steps) && j < len(there.Steps) {
		if same(here, i, there, j) {
			i, j = i+1, j+1
			continue
		}
		m, n, again := meet(here, i, there, j)
		d := Parting{Here: lines(here, i, m), There: lines(there, j, n)}
		all = append(all, d)
		if !again {
			break
		}
		i, j = m, n
	}
	return all
}

// meet returns where two runs are the same again after a difference: as soon as possible. Two equal steps in a row count; one may be chance.
func meet(here *Steps, i int, there *Steps, j int) (m, n int, again bool) {
	for sum := 1; sum <= maxAhead; sum++ {
		for a := 0; a <= sum; a++ {
			m, n := i+a, j+sum-a
			if m+1 < len(here.Steps) && n+1 < len(there.Steps) && same(here, m, there, n) && same(here, m+1, there, n+1) {
				return m, n, true
			}
		}
	}
	return min(i+maxLines, len(here.Steps)), min(j+maxLines, len(there.Steps)), false
}

func lines(r *Steps, from, to int) (all []Line) {
	for i := from; i < min(to, from+maxLines); i++ {
		all = append(all, r.line(i))
	}
	return all
}
