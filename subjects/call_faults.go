package subjects

import (
	"slices"
	"time"

	"github.com/informersim/informersim/sim"
)

// CrashBackoff is client-go's backoff after a handler's call has panicked, and that of wait.UntilWithContext, which every
// controller uses, after a panic has ended a worker's loop.
const CrashBackoff = time.Second

// Rate is how often something happens: to the next Times calls, -1 for all of them, or to each call with probability
// Odds/65536. The zero value means never.
type Rate struct {
	Times int
	Odds  uint32
}

// Always is the rate of a fault that hits every call.
var Always = Rate{Times: -1}

// CallFault is a fault in calls of a handler, or in reconciles of a worker.
type CallFault struct {
	Key    string        // the object's key; "" for all objects without a fault of their own
	Takes  time.Duration // how long a call takes, in virtual time
	Panics Rate
	Fails  Rate // only reconciles: handlers cannot fail
}

// CallPlan is the course of one call.
type CallPlan struct {
	Takes         time.Duration
	Panics, Fails bool
}

// CallFaults are the faults of one handler's calls, or of one controller's reconciles. A draw depends on the seed, the owner, the
// key, and the number of earlier draws for that key, so it is the same for every subject.
type CallFaults struct {
	kernel *sim.Kernel
	owner  string
	faults []CallFault
}

// NewCallFaults returns an empty set of faults for a handler or a controller.
func NewCallFaults(k *sim.Kernel, owner string) *CallFaults {
	return &CallFaults{kernel: k, owner: owner}
}

// Inject starts a fault. It replaces an earlier one with the same key.
func (c *CallFaults) Inject(f CallFault) {
	c.faults = slices.DeleteFunc(c.faults, func(old CallFault) bool { return old.Key == f.Key })
	c.faults = append(c.faults, f)
}

// Clear ends all faults.
func (c *CallFaults) Clear() { c.faults = nil }

// Next returns the plan of the next call about key. It must be called within a step; c may be nil.
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
	return uint32(c.kernel.Stream(c.owner+" about "+key).Uint64()&0xffff) < r.Odds
}
