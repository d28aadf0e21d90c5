package scenarios

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/scenarios/script"
)

// settle runs until the world is quiescent, without letting time pass.
//
//	settle
var settleSpec = spec{
	name:  "settle",
	usage: "settle",
	doc:   "runs until the world is quiescent, without letting time pass",
	parse: func(r *script.ArgReader) Command { return settleCmd{} },
}

type settleCmd struct{}

func (settleCmd) run(w *World) error {
	w.wait("settle", func() { w.kernel.Clock().Freeze() }, w.kernel.Quiet)
	return nil
}

// advance lets virtual time pass, and everything that happens meanwhile.
//
//	advance 2s
var advanceSpec = spec{
	name:  "advance",
	usage: "advance DURATION",
	doc:   "lets virtual time pass",
	parse: func(r *script.ArgReader) Command {
		if r.More() == 0 {
			return advanceCmd{r.NextDuration("duration")}
		}
		a := r.Next("duration")
		d, err := a.Duration()
		if err == nil && d > maxDuration {
			err = outside(a, "%s or less", maxDuration)
		}
		r.Fail(err)
		return advanceCmd{d}
	},
}

type advanceCmd struct{ d time.Duration }

func (c advanceCmd) run(w *World) error {
	clock := w.kernel.Clock()
	w.wait(fmt.Sprintf("advance %v", c.d), func() { clock.LimitTo(c.d) }, func() bool { return clock.AtLimit() && w.kernel.Quiet() })
	return nil
}

// step makes N choices, or fewer if the world is quiescent earlier. Time passes only within the duration of within=, and each
// advance of time counts as a choice.
//
//	step 3
//	step 5 within=2s
var stepSpec = spec{
	name:  "step",
	usage: "step [N] [within=DURATION]",
	doc:   "makes N choices (default 1); time passes only within the duration",
	parse: func(r *script.ArgReader) Command {
		c := stepCmd{n: 1}
		if r.More() > 0 {
			c.n = uint64(r.NextInt("number", 1, 1_000_000))
		}
		c.within = upTo(r, "within", maxDuration)
		return c
	},
}

type stepCmd struct {
	n      uint64
	within time.Duration
}

func (c stepCmd) run(w *World) error {
	clock := w.kernel.Clock()
	until := w.kernel.Steps() + c.n
	if c.within == 0 {
		w.wait("step", clock.Freeze, func() bool { return w.kernel.Steps() >= until || w.kernel.Quiet() })
		return nil
	}
	w.wait("step", func() { clock.LimitTo(c.within) }, func() bool {
		return w.kernel.Steps() >= until || clock.AtLimit() && w.kernel.Quiet()
	})
	return nil
}
