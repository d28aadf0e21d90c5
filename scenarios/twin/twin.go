package twin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
)

// DefaultTries is the number of runs that Search makes at most, if it is not told otherwise.
const DefaultTries = 80

// ErrNotRepeated means that the run does not break its property when it is made again, so there is nothing to compare with.
var ErrNotRepeated = errors.New("the run did not break the property when it was made again")

// change is a run with one thing changed.
type change struct {
	text    string
	picks   []sim.Pick     // of a schedule
	without map[int]string // the indices of the commands that a transcript lacks
}

// search makes runs.
type search struct {
	ctx   context.Context
	found minimal.Found
	here  *reports.Steps
}

// Search looks for the nearest run that passes, in up to that many runs; 0 means DefaultTries. If there is none, the twin says only how many
// were tried.
func Search(ctx context.Context, f minimal.Found, tries int) (*reports.Twin, error) {
	if tries == 0 {
		tries = DefaultTries
	}
	s := &search{ctx: ctx, found: f}
	all := change{picks: f.Picks}
	res, err := s.run(all, nil)
	if err != nil {
		return nil, err
	}
	if res.Violation == nil || res.Violation.Property != f.Violation.Property {
		return nil, ErrNotRepeated
	}
	if s.here, err = s.steps(all); err != nil {
		return nil, err
	}
	t := &reports.Twin{Version: reports.TwinVersion}
	for _, c := range s.changes(tries) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.Tried++
		if res, err := s.run(c, nil); err != nil || !res.Passed() {
			continue // also a script that needs what is missing
		}
		there, err := s.steps(c)
		if err != nil {
			return nil, err
		}
		t.Change, t.Steps = c.text, uint64(len(there.Steps))
		t.Partings = reports.PartingsOf(s.here, there)
		return t, nil
	}
	return t, nil
}

func (s *search) schedule() bool { return s.found.Options.StrategyName() != "fifo" }

// run makes the run of a change.
func (s *search) run(c change, trace io.Writer) (*scenarios.Result, error) {
	sc, err := s.scenario(c)
	if err != nil {
		return nil, err
	}
	o := s.found.Options
	o.Trace, o.Picks = trace, nil
	if s.schedule() {
		o.Strategy, o.Picks = scenarios.Guided, c.picks
	}
	return scenarios.Run(s.ctx, sc, o)
}

// scenario is that of the run, without what a change leaves out, and without what only a person would compare.
func (s *search) scenario(c change) (*scenarios.Scenario, error) {
	if s.schedule() {
		return s.found.Scenario, nil
	}
	f := &script.File{Name: s.found.Scenario.Name + ".sim"}
	for n, cmd := range s.found.Scenario.File().Commands() {
		if _, gone := c.without[n]; gone || cmd.Name == "expect" {
			continue
		}
		bare := *cmd
		bare.Comment, bare.Output = "", nil
		f.Nodes = append(f.Nodes, &bare)
	}
	return scenarios.Parse(f.Name, script.Print(f))
}

// steps makes the run of a change once more, for its steps.
func (s *search) steps(c change) (*reports.Steps, error) {
	var tape bytes.Buffer
	if _, err := s.run(c, &tape); err != nil {
		return nil, err
	}
	tr, err := sim.NewTraceReader("the run", &tape)
	if err != nil {
		return nil, err
	}
	r := &reports.Steps{}
	if f, err := script.Parse(tr.Header().Scenario, []byte(tr.Header().Script)); err == nil {
		for _, cmd := range f.Commands() {
			bare := *cmd
			bare.Comment = ""
			r.Texts = append(r.Texts, bare.String())
		}
	}
	for {
		step, err := tr.Next()
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		r.Steps = append(r.Steps, *step)
	}
}

// changes are what is tried, up to a number, in that order.
func (s *search) changes(tries int) []change {
	all := s.later(tries)
	if !s.schedule() {
		all = s.commands()
	}
	return all[:min(len(all), tries)]
}

// later are the changes of a schedule: without a pick, which is a fault that does not happen, or a step that comes after all others that
// were picked. Three quarters of the budget are for the last picks, the rest for faults before those.
func (s *search) later(tries int) (all []change) {
	picks := s.found.Picks
	for i := len(picks) - 1; i >= 0; i-- {
		p := &picks[i]
		near := len(all) < tries*3/4
		if scenarios.PicksCommand(p) || p.Kind.String() == "advance" || !near && !p.Fault() {
			continue
		}
		text := fmt.Sprintf("step %d comes later", i+1)
		if i < len(s.here.Steps) {
			text += ": " + reports.ChoiceText(&s.here.Steps[i], s.here.Texts)
		}
		if p.Fault() {
			text = fmt.Sprintf("the fault %s on %s does not happen at step %d", p.Kind, p.Actor, i+1)
		}
		all = append(all, change{text: text, picks: slices.Delete(slices.Clone(picks), i, i+1)})
	}
	return all
}

// needed are commands without which nothing is left to look at, and those that only wait or look.
var needed = []string{"resource", "informer", "handler", "worker", "writer", "settle", "expect", "log", "show", "requests", "reconciles"}

// commands are the changes of a transcript: without a command, the last one first; those that make trouble before those that write.
func (s *search) commands() []change {
	var trouble, writes []change
	cmds := s.found.Scenario.File().Commands()
	for i := len(cmds) - 1; i >= 0; i-- {
		c := cmds[i]
		if slices.Contains(needed, c.Name) {
			continue
		}
		bare := *c
		bare.Comment = ""
		x := change{text: fmt.Sprintf("the script lacks %q", bare.String()), without: map[int]string{i: c.Name}}
		switch c.Name {
		case "create", "update", "delete", "advance":
			writes = append(writes, x)
			continue
		case "release":
			continue // goes with its hold
		case "hold":
			for n, other := range cmds[i+1:] {
				if other.Name == "release" && slices.ContainsFunc(other.Args, func(a script.Arg) bool { return slices.Contains(c.Args, a) }) {
					x.without[i+1+n] = other.Name
				}
			}
		}
		trouble = append(trouble, x)
	}
	return append(trouble, writes...)
}
