package sim

import "fmt"

// Strategy picks among enabled choices. It may read the ready set only; it is told the number of the step it picks for.
type Strategy interface {
	Name() string
	// Pick returns a choice of r, or ErrNothingToDo.
	Pick(r *Ready, step uint64) (Choice, error)
}

// FIFO picks the oldest action, a script's next line before any other, and advances time when nothing else is left. It
// never picks a fault: under it only the faults that a script orders happen.
type FIFO struct{}

// NewFIFO returns the strategy `fifo`.
func NewFIFO() *FIFO { return &FIFO{} }

// Name is "fifo".
func (*FIFO) Name() string { return "fifo" }

// Pick implements Strategy.
func (*FIFO) Pick(r *Ready, _ uint64) (Choice, error) {
	if len(r.Actions) == 0 {
		if r.Time {
			return r.Advance, nil
		}
		return Choice{}, ErrNothingToDo
	}
	best := 0
	for i := 1; i < len(r.Actions); i++ {
		if r.Actions[i].Stamp < r.Actions[best].Stamp {
			best = i
		}
	}
	return r.Actions[best].Choice, nil
}

// FaultRate gives the probability, per step at which a fault of that kind is enabled, that one happens; 0 for never.
type FaultRate func(Kind) float64

// Random picks uniformly among the enabled actions; each kind of fault happens at its own rate, from its own stream; and
// now and then time passes although something could still happen.
type Random struct {
	seed     uint64
	schedule *Stream
	rate     FaultRate
	early    float64
	dice     map[Kind]*faultDice
	stopped  bool
}

// faultDice decides, one opportunity after the other, whether a kind of fault happens. The probability is kept as a
// fraction of 65536, so that one draw serves four opportunities and no floating point, whose last bit differs between
// machines, takes part.
type faultDice struct {
	threshold uint32 // of 65536
	bits      uint64
	left      int
	stream    *Stream
}

func newFaultDice(seed uint64, kind Kind, rate float64) *faultDice {
	d := &faultDice{stream: NewStream(seed, "fault/"+kind.String())}
	switch {
	case rate >= 1:
		d.threshold = 1 << 16
	case rate > 0:
		d.threshold = max(1, uint32(rate*(1<<16)))
	}
	return d
}

func (d *faultDice) roll() bool {
	if d.threshold == 0 {
		return false
	}
	if d.left == 0 {
		d.bits, d.left = d.stream.Uint64(), 4
	}
	v := uint32(d.bits & 0xffff)
	d.bits >>= 16
	d.left--
	return v < d.threshold
}

// earlyAdvance is how often Random advances time although actions are enabled: it is what makes a replica, a delivery or
// a handler slow compared with timers.
const earlyAdvance = 1.0 / 64

// NewRandom returns the strategy `random`. A nil rate means no faults.
func NewRandom(seed uint64, rate FaultRate) *Random {
	return &Random{seed: seed, schedule: NewStream(seed, "schedule"), rate: rate, early: earlyAdvance, dice: map[Kind]*faultDice{}}
}

// Name is "random".
func (*Random) Name() string { return "random" }

// StopFaults ends the faults: the phase that follows must converge.
func (s *Random) StopFaults() { s.stopped = true }

// Pick implements Strategy.
func (s *Random) Pick(r *Ready, _ uint64) (Choice, error) {
	if !s.stopped && s.rate != nil && len(r.Faults) > 0 {
		if c, ok := s.fault(r.Faults); ok {
			return c, nil
		}
	}
	n := len(r.Actions)
	if n == 0 {
		if r.Time {
			return r.Advance, nil
		}
		return Choice{}, ErrNothingToDo
	}
	if r.Time && s.schedule.Chance(s.early) {
		return r.Advance, nil
	}
	if n == 1 {
		return r.Actions[0].Choice, nil
	}
	return r.Actions[s.schedule.IntN(n)].Choice, nil
}

// fault gives every kind that is enabled its chance, in canonical order, and returns the first that happens.
func (s *Random) fault(set []Offer) (Choice, bool) {
	var seen [4]uint64 // kinds met in this step, as a bit set; kinds are few
	for i := range set {
		kind := set[i].Kind
		if kind < 256 {
			if seen[kind>>6]&(1<<(kind&63)) != 0 {
				continue
			}
			seen[kind>>6] |= 1 << (kind & 63)
		}
		d := s.dice[kind]
		if d == nil {
			d = newFaultDice(s.seed, kind, s.rate(kind))
			s.dice[kind] = d
		}
		if d.roll() {
			return pickOfKind(set[i:], kind, d.stream), true
		}
	}
	return Choice{}, false
}

func pickOfKind(set []Offer, kind Kind, s *Stream) Choice {
	n := 0
	for i := range set {
		if set[i].Kind == kind {
			n++
		}
	}
	k := s.IntN(n)
	for i := range set {
		if set[i].Kind == kind {
			if k == 0 {
				return set[i].Choice
			}
			k--
		}
	}
	panic("unreachable: k < n")
}

// DivergedError says that a run did not do what its trace says.
type DivergedError struct {
	Step uint64
	Why  string
}

func (e *DivergedError) Error() string { return fmt.Sprintf("step %d: %s", e.Step, e.Why) }
