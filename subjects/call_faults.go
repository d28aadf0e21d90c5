package subjects

import (
	"slices"
	"time"

	"github.com/informersim/informersim/sim"
)

// CrashPause is how long client-go pauses after a handler's call has panicked, and after a panic that has ended a worker's loop,
// as wait.UntilWithContext has it in every controller.
const CrashPause = time.Second

// Rate says how often something happens: to the next Times calls, -1 for all of them, or to each with the probability
// Odds/65536. The zero value is never.
type Rate struct {
	Times int
	Odds  uint32
}

// Always is the rate of what happens every time.
var Always = Rate{Times: -1}

// CallFault is what goes wrong in calls of a handler, or in reconciles of a worker.
type CallFault struct {
	Key    string        // of which object; "" for all that have no fault of their own
	Takes  time.Duration // how long a call takes, in virtual time
	Panics Rate
	Fails  Rate // of reconciles: handlers cannot fail
}

// CallPlan is how one call goes.
type CallPlan struct {
	Takes         time.Duration
	Panics, Fails bool
}

// CallFaults are the faults of one handler's calls, or of one controller's reconciles. What is drawn depends on the seed, on whose
// faults they are, and on how many were drawn before for that key, so it is the same for every subject.
type CallFaults struct {
	kernel *sim.Kernel
	who    string
	faults []CallFault
}

// NewCallFaults returns no faults yet.
func NewCallFaults(k *sim.Kernel, who string) *CallFaults { return &CallFaults{kernel: k, who: who} }

// Inject makes a fault begin. It replaces the one before about the same key.
func (c *CallFaults) Inject(f CallFault) {
	c.faults = slices.DeleteFunc(c.faults, func(old CallFault) bool { return old.Key == f.Key })
	c.faults = append(c.faults, f)
}

// Clear ends all faults.
func (c *CallFaults) Clear() { c.faults = nil }

// Next is how the call about that key goes. It may be called on nil, and within a step.
func (c *CallFaults) Next(key string) CallPlan {
	if c == nil || len(c.faults) == 0 {
		return CallPlan{}
	}
	f := c.of(key)
	if f == nil {
		return CallPlan{}
	}
	p := CallPlan{Takes: f.Takes, Panics: c.happens(&f.Panics, key)}
	p.Fails = !p.Panics && c.happens(&f.Fails, key)
	return p
}

func (c *CallFaults) of(key string) *CallFault {
	var general *CallFault
	for i := range c.faults {
		switch f := &c.faults[i]; f.Key {
		case key:
			return f
		case "":
			general = f
		}
	}
	return general
}

func (c *CallFaults) happens(r *Rate, key string) bool {
	switch {
	case r.Times < 0:
		return true
	case r.Times > 0:
		r.Times--
		return true
	case r.Odds == 0:
		return false
	}
	return uint32(c.kernel.Stream(c.who+" about "+key).Uint64()&0xffff) < r.Odds
}
