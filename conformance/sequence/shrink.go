package sequence

import (
	"github.com/informersim/informersim/internal/probe"
	"github.com/informersim/informersim/sim/shrink"
)

// Shrink removes steps from a probe as long as differs still holds, which is asked at most tries times. A step at least is
// left.
func Shrink(p probe.Probe, tries int, differs func(probe.Probe) bool) probe.Probe {
	with := func(steps []probe.Step) probe.Probe {
		shorter := p
		shorter.Steps = steps
		return shorter
	}
	r := shrink.Reducer[probe.Step]{MaxTries: tries, Fails: func(steps []probe.Step) bool {
		return len(steps) > 0 && differs(with(steps))
	}}
	return with(r.Reduce(p.Steps))
}
