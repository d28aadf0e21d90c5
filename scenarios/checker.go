package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// Checker watches a run and reports the first step at which something is wrong. Package properties has them. A checker
// belongs to one run.
type Checker interface {
	// Name is the property's name.
	Name() string
	// Kinds are the records it wants to see.
	Kinds() []sim.Kind
	// Record sees one of them; nil means that the property holds so far. The record is valid only during the call.
	Record(w *World, r *sim.Record) *Violation
	// End is asked when the faults have stopped and the time they may take to heal has passed (or the world has
	// converged before).
	End(w *World) *Violation
}

// StepChecker is a Checker that judges whole steps too.
type StepChecker interface {
	// StepEnd is called after each step.
	StepEnd(w *World) *Violation
}

// Violation is a broken property.
type Violation struct {
	Property string
	Step     uint64        // the first step at which it is broken; 0 for the end of the run
	At       time.Duration // virtual time
	Key      string        // the object it is about, if any
	Message  string        // what was expected and what was seen
	Because  []Evidence    // the steps that prove it
}

// Evidence is one step of a proof.
type Evidence struct {
	Step uint64
	At   time.Duration
	Text string
}

// Error makes a Violation usable as an error.
func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is broken at step %d (%v): %s", v.Property, v.Step, v.At, v.Message)
	for _, e := range v.Because {
		fmt.Fprintf(&b, "\n  step %d (%v): %s", e.Step, e.At, e.Text)
	}
	return b.String()
}

// checks passes records to the checkers that want them.
type checks struct {
	w      *World
	all    []Checker
	byKind [][]Checker
	// stepEnd are the checkers that look at whole steps, stepEndOf the same as Checkers.
	stepEnd   []StepChecker
	stepEndOf []Checker
	found     *Violation
}

func newChecks(w *World, all []Checker) *checks {
	c := &checks{w: w, all: all}
	for _, ch := range all {
		if s, ok := ch.(StepChecker); ok {
			c.stepEnd, c.stepEndOf = append(c.stepEnd, s), append(c.stepEndOf, ch)
		}
		for _, k := range ch.Kinds() {
			for int(k) >= len(c.byKind) {
				c.byKind = append(c.byKind, nil)
			}
			c.byKind[k] = append(c.byKind[k], ch)
		}
	}
	return c
}

// Record implements sim.Observer.
func (c *checks) Record(r *sim.Record) {
	if int(r.Kind) >= len(c.byKind) || c.found != nil {
		return
	}
	for _, ch := range c.byKind[r.Kind] {
		if v := ch.Record(c.w, r); v != nil {
			c.report(ch, v)
			return
		}
	}
}

func (c *checks) report(ch Checker, v *Violation) {
	v.Property = ch.Name()
	v.Step = c.w.kernel.Steps()
	v.At = c.w.kernel.Elapsed()
	c.found = v
}

// StepEnd implements sim.Observer.
func (c *checks) StepEnd(*sim.StepInfo) {
	for i, ch := range c.stepEnd {
		if c.found != nil {
			return
		}
		if v := ch.StepEnd(c.w); v != nil {
			c.report(c.stepEndOf[i], v)
		}
	}
}

func (c *checks) end() {
	for _, ch := range c.all {
		if c.found != nil {
			return
		}
		if v := ch.End(c.w); v != nil {
			c.report(ch, v)
		}
	}
}
