package sim

import "fmt"

// A Strategy picks among the enabled choices. It sees only the ready set and the number of the step it picks for.
type Strategy interface {
	Name() string
	// Pick returns a choice of r, or ErrNothingToDo.
	Pick(r *Ready, step uint64) (Choice, error)
}

// PicksOldest may be implemented by a strategy, for speed. If it returns true, the strategy always picks the action with the lowest
// stamp (of equal ones the first), no fault, and the advance of time when there is no action; the kernel then does that by itself
// and may leave out calls of Pick. A strategy that embeds one of these inherits the promise.
type PicksOldest interface {
	Strategy
	PicksOldest() bool
}

// FIFO picks the oldest action, a script's next line before any other, and advances time when nothing else is left. It
// never picks a fault: the only faults under FIFO are those that a script orders.
type FIFO struct{}

// NewFIFO returns the strategy `fifo`.
func NewFIFO() *FIFO { return &FIFO{} }

// Name returns "fifo".
func (*FIFO) Name() string { return "fifo" }

// PicksOldest implements the interface of that name.
func (*FIFO) PicksOldest() bool { return true }

// Pick implements Strategy.
func (*FIFO) Pick(r *Ready, _ uint64) (Choice, error) {
	if i := oldest(r.Actions); i >= 0 {
		return r.Actions[i].Choice, nil
	}
	if r.Time {
		return r.Advance, nil
	}
	return Choice{}, ErrNothingToDo
}

// FaultRate returns the probability that a fault of a kind happens in a step at which one is enabled; 0 means never. It is
// rounded down to a multiple of 1/65536, but not to 0, and called once per kind.
type FaultRate func(Kind) float64

// Random picks among the enabled actions, some of which are slow for a while. Each kind of fault happens at its own rate,
// from its own stream. Now and then time passes although something could still happen, which makes a replica, a delivery or
// a handler slow compared with timers.
type Random struct {
	seed     uint64
	schedule *Stream
	rate     FaultRate
	paces    paces
	dice     []*faultDice // by kind; nil until first used
	stopped  bool
}

// faultDice decides, one opportunity after another, whether a kind of fault happens. The probability is a fraction of 65536,
// so that one draw serves four opportunities and no floating point, whose last bit differs between machines, is involved.
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

// NewRandom returns the strategy `random`. A nil rate means no faults.
func NewRandom(seed uint64, rate FaultRate) *Random {
	return &Random{seed: seed, schedule: NewStream(seed, "schedule"), rate: rate, paces: newPaces(seed)}
}

// Name returns "random".
func (*Random) Name() string { return "random" }

// StopFaults ends the faults. From then on all actors are equally fast and time passes only when nothing else can happen:
// the rest of the run must converge in bounded time, which it cannot if the strategy may spend that time at will.
func (s *Random) StopFaults() { s.stopped = true }

// Pick implements Strategy.
func (s *Random) Pick(r *Ready, _ uint64) (Choice, error) {
	if !s.stopped && s.rate != nil && len(r.Faults) > 0 {
		if c, ok := s.fault(r); ok {
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
	if !s.stopped {
		return s.paces.pick(r, s.schedule), nil
	}
	if n == 1 {
		return r.Actions[0].Choice, nil
	}
	return r.Actions[s.schedule.IntN(n)].Choice, nil
}

// fault gives every enabled kind its chance, in order of name, and returns a fault of the first kind that happens.
func (s *Random) fault(r *Ready) (Choice, bool) {
	for _, f := range r.FaultGroups {
		if d := s.diceOf(f.Kind); d.roll() {
			return ofKind(r.Faults, f.Kind, d.stream.IntN(f.Count)), true
		}
	}
	return Choice{}, false
}

func (s *Random) diceOf(kind Kind) *faultDice {
	for int(kind) >= len(s.dice) {
		s.dice = append(s.dice, nil)
	}
	if s.dice[kind] == nil {
		s.dice[kind] = newFaultDice(s.seed, kind, s.rate(kind))
	}
	return s.dice[kind]
}

// ofKind returns the n-th choice of kind, from 0.
func ofKind(set []Offer, kind Kind, n int) Choice {
	for i := range set {
		if set[i].Kind != kind {
			continue
		}
		if n == 0 {
			return set[i].Choice
		}
		n--
	}
	panic("unreachable: there are more than n")
}

// A DivergedError reports that a run did not follow its trace.
type DivergedError struct {
	Step uint64
	Why  string

	// Trace is the step in the trace, nil if the trace has ended. Run is what the run did instead, with its records; nil if it took
	// no such step. Enabled is what it could have picked, if the trace's pick was not among that.
	Trace, Run *TraceStep
	Enabled    []TraceStep
}

func (e *DivergedError) Error() string { return fmt.Sprintf("step %d: %s", e.Step, e.Why) }
