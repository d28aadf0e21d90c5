package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The usual rate limiter of a work queue puts off what has failed by so much, twice as long each time.
const (
	firstDelay = 5 * time.Millisecond
	mostDelay  = 1000 * time.Second
)

// leastDelay is how long a delay is that explains anything.
const leastDelay = 10 * time.Second

// failing are the reconciles of an object that have failed, one after the other.
type failing struct {
	last  Line
	times int
}

// reconciling notes that a reconcile begins, or how it has ended. An error that controller-runtime calls terminal is not put off.
func (a *aftermath) reconciling(controller, key, outcome string, line Line) {
	controller, _, _ = strings.Cut(controller, "/")
	id := controller + " " + key
	switch f := a.failing[id]; {
	case outcome == "": // it has been tried again
		if f != nil {
			f.last = Line{}
		}
	case outcome == "ok" || strings.Contains(outcome, "terminal error: "):
		delete(a.failing, id)
	default:
		if f == nil {
			f = &failing{}
			a.failing[id] = f
		}
		f.times++
		line.Text = fmt.Sprintf("has failed to reconcile %s", key)
		f.last = line
	}
}

// putOffSection tells whose next try is later than the end, if a usual work queue has it: who waits for its effect has waited too little. now is the end.
func (a *aftermath) putOffSection(now time.Duration) Section {
	s := Section{Title: fmt.Sprintf("reconciles that failed, and may not be due yet: a work queue's usual rate limiter waits for up to %v", mostDelay)}
	var all []Line
	for _, f := range a.failing { // order: sorted below
		delay := mostDelay
		if f.times < 19 { // the first delay that is cut
			delay = firstDelay << (f.times - 1)
		}
		if due := f.last.At + delay; f.last.Step > 0 && delay >= leastDelay && due > now {
			f.last.Text += fmt.Sprintf(" %d times in a row: usually it is tried again at %v", f.times, due)
			all = append(all, f.last)
		}
	}
	slices.SortFunc(all, func(x, y Line) int { return cmp.Or(cmp.Compare(x.Step, y.Step), strings.Compare(x.Text, y.Text)) })
	for _, l := range all {
		s.Lines = append(s.Lines, l.String())
	}
	return s
}
