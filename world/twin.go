package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// How long the nearest run that passes is looked for, in real time and in runs. Where the failure was shrunk to its end, the first run will do: with
// a fault less it did not break.
const (
	twinTime  = 2 * time.Second
	twinTries = 40
)

// twin looks for the nearest run that passes beside the one that is the result of shrinking: the same without one of its faults, the last one
// first; or, if it has none, with a step that comes later. Its trace then tells of it.
func (s *shrinker) twin(res *outcome, picks []sim.Pick) {
	s.deadline = s.r.host.Now().Add(min(twinTime, s.r.task.Shrink))
	t := &reports.Twin{Version: reports.TwinVersion}
	for _, n := range leftOut(picks) {
		if t.Tried == twinTries || s.over() {
			break
		}
		other := s.try(s.source(slices.Delete(slices.Clone(picks), n, n+1), s.timed))
		if s.failed {
			break
		}
		t.Tried++
		if other.failed() {
			continue
		}
		if !s.repeats(res, picks) {
			res.fleeting = true
			return
		}
		here, there := stepsOf(res), stepsOf(other)
		t.Change, t.Steps = changeOf(picks, n, here), other.steps
		t.Partings = reports.PartingsOf(&reports.Steps{Steps: here}, &reports.Steps{Steps: there})
		break
	}
	if t.Tried > 0 && !s.failed {
		res.tellOf(t)
	}
}

// repeats reports whether a run breaks the same when it is made once more. If it does not, it is chance that has another run pass, not what is changed in it.
func (s *shrinker) repeats(res *outcome, picks []sim.Pick) bool {
	from := s.source(picks, s.timed)
	if s.surely(s.try(from), from) != nil || s.failed {
		return true
	}
	if res.header.Options[optionShrunk] != "" {
		return false
	}
	from = source{header: res.header, maxSteps: s.maxSteps}
	return s.surely(s.try(from), from) != nil || s.failed
}

// tellOf puts the nearest run that passes into the run's trace.
func (o *outcome) tellOf(t *reports.Twin) {
	if o.conclude(func(c *reports.Conclusion) { c.Twin = t }) {
		o.twin = t
	}
}

// conclude changes what the run's trace says of its end, and reports whether the trace has one.
func (o *outcome) conclude(change func(*reports.Conclusion)) bool {
	trace, err := reports.WithConclusion(o.trace.Bytes(), change)
	if err == nil {
		o.trace = *bytes.NewBuffer(trace)
	}
	return err == nil
}

// conclusionIn returns what a trace says of its run's end: nothing if it has none that can be read.
func conclusionIn(trace []byte) *reports.Conclusion {
	trace = bytes.TrimRight(trace, "\r\n")
	var end sim.TraceEnd
	if json.Unmarshal(trace[bytes.LastIndexByte(trace, '\n')+1:], &end) == nil {
		if c, err := reports.ConclusionOf(&end); err == nil && c != nil {
			return c
		}
	}
	return &reports.Conclusion{}
}

// leftOut are the indices of the picks without which the run is made, in that order.
func leftOut(picks []sim.Pick) (all []int) {
	for n := range picks {
		if picks[n].Fault() {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		for n := range picks {
			all = append(all, n)
		}
	}
	slices.Reverse(all)
	return all
}

// changeOf says what is different without a pick. The picks are some of the run's steps, in their order: what it picks for the nth time is the
// nth such step.
func changeOf(picks []sim.Pick, n int, steps []sim.TraceStep) string {
	p, nth := &picks[n], 0
	for i := range picks[:n] {
		if q := &picks[i]; q.Kind == p.Kind && q.Actor == p.Actor {
			nth++
		}
	}
	for i := range steps {
		s := &steps[i]
		if s.Kind != p.Kind.String() || s.Actor != p.Actor {
			continue
		}
		if nth--; nth < 0 {
			if p.Fault() {
				return fmt.Sprintf("the fault %s on %s does not happen at step %d", p.Kind, p.Actor, s.Step)
			}
			return fmt.Sprintf("step %d comes later: %s", s.Step, reports.ChoiceText(s, nil))
		}
	}
	if p.Fault() {
		return fmt.Sprintf("the fault %s on %s does not happen", p.Kind, p.Actor)
	}
	return fmt.Sprintf("a step of %s comes later: %s", p.Actor, p.Kind)
}

// stepsOf returns the steps of a run's trace, as far as it can be read.
func stepsOf(o *outcome) (steps []sim.TraceStep) {
	tr, err := o.read()
	for err == nil {
		var s *sim.TraceStep
		if s, err = tr.Next(); err == nil {
			steps = append(steps, *s)
		}
	}
	return steps
}
