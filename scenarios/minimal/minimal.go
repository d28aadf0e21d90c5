package minimal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/sim/shrink"
)

// Found is a run that breaks a property.
type Found struct {
	// Scenario is that of the run, with the configurations of its informers written out, as its trace has it.
	Scenario *scenarios.Scenario
	// Options are those of the run. Picks are ignored, and a Strategy other than fifo.
	Options scenarios.Options
	// Picks are the choices of the run, from its trace.
	Picks []sim.Pick
	// Violation is what the run breaks.
	Violation *reports.Violation
}

// Budget limits the search.
type Budget struct {
	// Tries is the number of runs that may be made; 0 means DefaultTries.
	Tries int
}

// DefaultTries is the default of Budget.Tries.
const DefaultTries = 5000

// Size is what the search makes smaller.
type Size struct {
	Commands int
	Faults   int // that the schedule picks; those of the script are commands
	Steps    uint64
}

// String says it in words.
func (s Size) String() string {
	return fmt.Sprintf("%s, %s of the schedule, %s", reports.Counted(s.Commands, "command"), reports.Counted(s.Faults, "fault"), reports.Counted(int(s.Steps), "step"))
}

// Result is the simplest run that was found.
type Result struct {
	// Scenario has the name of the run's, with "-min" behind it.
	Scenario *scenarios.Scenario
	// Options make the run again: the strategy is fifo, and the scenario a transcript, or guided with the picks that are needed.
	Options scenarios.Options
	// Violation is what it breaks.
	Violation     *reports.Violation
	Before, After Size
	Tries         int
	// Complete says that no single command, object, handler, argument or pick can be removed; it is false if the budget ran out, or if the run is flaky.
	Complete bool
	// Flaky says that the run breaks the property sometimes only: what it does depends on something that no seed decides, such as the order of a map.
	Flaky bool
}

// repeats is how often a flaky run is made until it breaks the property, and sureRepeats how often what is left must break it not to be flaky.
const (
	repeats     = 4
	sureRepeats = 2
)

// Transcript reports whether the scenario breaks the property as a transcript, without a schedule.
func (r *Result) Transcript() bool { return r.Options.Strategy == "fifo" }

// ErrNotRepeated means that the picks of the run do not break the property again, so there is nothing to begin with.
var ErrNotRepeated = errors.New("the run did not break the property for the same reason when it was made again")

// Search looks for the simplest run that breaks the same property for the same reason. It returns the best so far if ctx ends.
func Search(ctx context.Context, f Found, b Budget) (*Result, error) {
	if b.Tries == 0 {
		b.Tries = DefaultTries
	}
	s := &search{ctx: ctx, found: f, reason: Reason(f.Violation), max: b.Tries}
	c := newCandidate(f.Scenario.File(), f.Picks)
	if f.Options.StrategyName() == "fifo" { // a transcript, in which time stands still; its picks are none of a schedule
		c.schedule, c.picks = false, nil
	}
	before := Size{Commands: len(c.cmds), Faults: c.faults(), Steps: f.Violation.Step}
	if !s.fails(c) && !s.failsSometimes(c) {
		if s.failed != nil && ctx.Err() == nil {
			return nil, s.failed
		}
		return nil, ErrNotRepeated
	}
	if f.Options.Interleave == scenarios.InterleaveOn {
		c.straight = true
		s.fails(c)
	}
	s.simplify()
	for n := 0; n < sureRepeats && !s.flaky && !s.over(); n++ {
		if best := s.best.candidate; !s.fails(best) { // so what was not removed might be, too
			s.flaky = true
			s.simplify()
		}
	}
	best := s.best
	after := Size{Commands: len(best.cmds), Steps: best.res.Violation.Step}
	if best.schedule {
		after.Faults = best.faults()
	}
	return s.result(before, after)
}

// search keeps the simplest candidate that fails.
type search struct {
	ctx    context.Context
	found  Found
	reason string
	tries  int
	max    int
	flaky  bool
	failed error // of the last run
	best   struct {
		candidate
		res *scenarios.Result
	}
}

func (s *search) over() bool { return s.tries >= s.max || s.ctx.Err() != nil }

// failsSometimes makes the run that was found again, if nothing but its outcome was wrong with the first try.
func (s *search) failsSometimes(c candidate) bool {
	s.flaky = s.failed == nil && !s.over()
	return s.flaky && s.fails(c)
}

// fails makes the candidate's run, that of a flaky one several times. One that breaks the property for the same reason is the best from then on: a search only ever
// tries what is simpler: a transcript counts as simpler than a schedule, even if it needs more commands.
func (s *search) fails(c candidate) bool {
	sc, err := c.scenario(s.found.Scenario.Name, "")
	if err != nil {
		s.tries++
		return false // it uses a name whose declaration is gone
	}
	for n := 0; ; n++ {
		s.tries++
		var res *scenarios.Result
		res, s.failed = scenarios.Run(s.ctx, sc, s.options(c))
		if s.failed == nil && res.Violation != nil && Reason(res.Violation) == s.reason {
			s.best.candidate, s.best.res = c, res
			return true
		}
		if !s.flaky || n+1 == repeats || s.over() {
			return false
		}
	}
}

func (s *search) options(c candidate) scenarios.Options {
	o := s.found.Options
	o.Trace, o.Picks = nil, nil
	if c.straight {
		o.Interleave = scenarios.InterleaveOff
	}
	if !c.schedule {
		o.Strategy, o.Mix = "fifo", nil
		return o
	}
	o.Strategy, o.Picks = scenarios.Guided, c.renumbered()
	if c.faults() == 0 {
		o.Mix = nil
	}
	return o
}

// simplify repeats its phases until none makes the run simpler.
func (s *search) simplify() {
	for simpler := true; simpler && !s.over(); {
		simpler = false
		for _, phase := range []func() bool{s.transcript, s.commands, s.words, s.schedule} {
			simpler = phase() || simpler
		}
	}
}

// transcript tries the commands one after the other, without a schedule: as they are, and with the schedule's faults among them.
func (s *search) transcript() bool {
	c := s.best.candidate
	if !c.schedule {
		return false
	}
	for _, t := range append([]candidate{{cmds: c.cmds}}, scripted(c)...) {
		t.straight = true // the script alone is to show it
		if !s.over() && s.fails(t) {
			return true
		}
	}
	return false
}

// commands removes commands: those that only look, everything about one name, chunks, single ones.
func (s *search) commands() bool {
	before := len(s.best.cmds)
	try := func(cmds []command) bool {
		return len(cmds) < len(s.best.cmds) && !s.over() && s.fails(s.best.with(cmds))
	}
	try(slices.DeleteFunc(slices.Clone(s.best.cmds), onlyLooks))
	for _, name := range names(s.best.cmds) {
		try(withoutName(s.best.cmds, name))
	}
	r := shrink.Reducer[command]{Stop: s.over, Fails: func(cmds []command) bool { return s.fails(s.best.with(cmds)) }}
	r.Reduce(s.best.cmds)
	return len(s.best.cmds) < before
}

// words simplifies what commands say: see edits.
func (s *search) words() bool {
	simpler := false
	for n := 0; n < len(s.best.cmds); n++ {
		for again := true; again; {
			again = false
			for _, e := range edits(s.best.cmds, n) {
				if s.over() {
					return simpler
				}
				if s.fails(s.best.with(e)) {
					simpler, again = true, true
					break
				}
			}
		}
	}
	return simpler
}

// schedule removes picks: the faults, the end, then one after the other.
func (s *search) schedule() bool {
	if !s.best.candidate.schedule {
		return false
	}
	before := len(s.best.picks)
	with := func(picks []sim.Pick) candidate {
		c := s.best.candidate
		c.picks = picks
		return c
	}
	r := shrink.Reducer[sim.Pick]{Stop: s.over, Fails: func(picks []sim.Pick) bool { return s.fails(with(picks)) }}
	fault := func(p sim.Pick) bool { return p.Fault() }
	if calm := slices.DeleteFunc(slices.Clone(s.best.picks), fault); len(calm) < before && !s.over() {
		s.fails(with(calm))
	}
	r.Truncate(s.best.picks)
	r.ReduceOnly(s.best.picks, fault)
	r.ReduceOnly(s.best.picks, func(p sim.Pick) bool { return !p.Fault() })
	return len(s.best.picks) < before
}

// result returns the best run, its script with a comment that says what it shows.
func (s *search) result(before, after Size) (*Result, error) {
	best := s.best.candidate
	what, _, _ := strings.Cut(s.best.res.Violation.Message, "\n\n") // not whole stacks, neither Go's nor klog's
	what, _, _ = strings.Cut(what, "\ngoroutine ")
	sc, err := best.scenario(s.found.Scenario.Name+"-min", fmt.Sprintf("%s: %s", s.best.res.Violation.Property, reports.Plain(what)))
	if err != nil {
		return nil, fmt.Errorf("the simplest scenario: %w", err)
	}
	return &Result{
		Scenario: sc, Options: s.options(best), Violation: s.best.res.Violation, Before: before, After: after, Tries: s.tries, Complete: !s.over() && !s.flaky, Flaky: s.flaky,
	}, nil
}
