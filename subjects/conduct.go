package subjects

import (
	"slices"
	"time"

	"github.com/informersim/informersim/sim"
)

// Rate says how often something happens: to the next Times calls, -1 for all of them, or to each with the probability
// Odds/65536. The zero value is never.
type Rate struct {
	Times int
	Odds  uint32
}

// Always is the rate of what happens every time.
var Always = Rate{Times: -1}

// Trouble is what calls of a handler, or reconciles of a worker, suffer from now on.
type Trouble struct {
	Key    string        // of which object; "" for all that have no trouble of their own
	Takes  time.Duration // how long a call takes, in virtual time
	Panics Rate
	Fails  Rate // of reconciles: handlers cannot fail
}

// Verdict is how one call goes.
type Verdict struct {
	Takes         time.Duration
	Panics, Fails bool
}

// Conduct decides how each call of a handler, or each reconcile of a worker, goes. What is drawn depends on the seed, on whose
// conduct it is, and on how many were drawn before for that key, so it is the same for every subject.
type Conduct struct {
	kernel   *sim.Kernel
	who      string
	troubles []Trouble
}

// NewConduct is the conduct of somebody without troubles.
func NewConduct(k *sim.Kernel, who string) *Conduct { return &Conduct{kernel: k, who: who} }

// Set makes a trouble begin. It takes the place of the one before about the same key.
func (c *Conduct) Set(t Trouble) {
	c.troubles = slices.DeleteFunc(c.troubles, func(old Trouble) bool { return old.Key == t.Key })
	c.troubles = append(c.troubles, t)
}

// Mend ends all troubles.
func (c *Conduct) Mend() { c.troubles = nil }

// Next is how the call about that key goes. It may be called on nil, and within a step.
func (c *Conduct) Next(key string) Verdict {
	if c == nil || len(c.troubles) == 0 {
		return Verdict{}
	}
	t := c.of(key)
	if t == nil {
		return Verdict{}
	}
	v := Verdict{Takes: t.Takes, Panics: c.happens(&t.Panics, key)}
	v.Fails = !v.Panics && c.happens(&t.Fails, key)
	return v
}

func (c *Conduct) of(key string) *Trouble {
	var general *Trouble
	for i := range c.troubles {
		switch t := &c.troubles[i]; t.Key {
		case key:
			return t
		case "":
			general = t
		}
	}
	return general
}

func (c *Conduct) happens(r *Rate, key string) bool {
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
