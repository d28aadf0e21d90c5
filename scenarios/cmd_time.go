package scenarios

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/scenarios/script"
)

// settle lets everything happen that can happen without time passing.
var settleSpec = spec{
	name:  "settle",
	usage: "settle",
	doc:   "lets everything happen that needs no time to pass",
	parse: func(r *script.ArgReader) Command { return settleCmd{} },
}

type settleCmd struct{}

func (settleCmd) run(w *World) error {
	w.wait("settle", func() { w.kernel.Clock().Freeze() }, w.kernel.Quiet)
	return nil
}

// advance lets virtual time pass, and everything happen meanwhile.
//
//	advance 2s
var advanceSpec = spec{
	name:  "advance",
	usage: "advance DURATION",
	doc:   "lets that much virtual time pass",
	parse: func(r *script.ArgReader) Command { return advanceCmd{r.NextDuration("duration")} },
}

type advanceCmd struct{ d time.Duration }

func (c advanceCmd) run(w *World) error {
	clock := w.kernel.Clock()
	w.wait(fmt.Sprintf("advance %v", c.d), func() { clock.LimitTo(c.d) }, func() bool { return clock.AtLimit() && w.kernel.Quiet() })
	return nil
}

// step lets N choices be made, fewer if nothing is left to happen without time passing.
//
//	step 3
var stepSpec = spec{
	name:  "step",
	usage: "step [N]",
	doc:   "lets that many choices be made (1 without a number)",
	parse: func(r *script.ArgReader) Command {
		n := 1
		if r.More() > 0 {
			n = r.NextInt("number", 1, 1_000_000)
		}
		return stepCmd{uint64(n)}
	},
}

type stepCmd struct{ n uint64 }

func (c stepCmd) run(w *World) error {
	until := w.kernel.Steps() + c.n
	w.wait("step", func() { w.kernel.Clock().Freeze() }, func() bool { return w.kernel.Steps() >= until || w.kernel.Quiet() })
	return nil
}
