package world

import (
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// cutReplay repeats a run that was cut off, and then goes on: with the choice of the step that is not in its trace, and from there on with what is oldest. A run that
// ends its process as the trace's did does not come that far.
type cutReplay struct {
	*sim.Replay
	rest *sim.Guided
	over bool // the trace is
}

func newCutReplay(r *sim.Replay, seed uint64, next *reports.Next) *cutReplay {
	var picks []sim.Pick
	if next != nil {
		if p, ok := next.Pick(); ok {
			picks = append(picks, p)
		}
	}
	return &cutReplay{Replay: r, rest: sim.NewGuided(seed, picks)}
}

// Bind sets the kernel.
func (c *cutReplay) Bind(k *sim.Kernel) {
	c.Replay.Bind(k)
	c.rest.Bind(k)
}

// StopFaults passes on that the faults are over.
func (c *cutReplay) StopFaults() {
	c.Replay.StopFaults()
	c.rest.StopFaults()
}

// Pick implements sim.Strategy.
func (c *cutReplay) Pick(r *sim.Ready, step uint64) (sim.Choice, error) {
	if !c.over {
		pick, err := c.Replay.Pick(r, step)
		if err != sim.ErrNothingToDo {
			return pick, err
		}
		c.over = true
	}
	return c.rest.Pick(r, step)
}

// Draw implements sim.Tape.
func (c *cutReplay) Draw(step uint64, n int) (uint64, bool) {
	if c.over {
		return c.rest.Draw(step, n)
	}
	return c.Replay.Draw(step, n)
}

// Record implements sim.Observer.
func (c *cutReplay) Record(r *sim.Record) {
	if !c.over {
		c.Replay.Record(r)
	}
}

// StepEnd implements sim.Observer.
func (c *cutReplay) StepEnd(s *sim.StepInfo) {
	if !c.over {
		c.Replay.StepEnd(s)
	}
}
