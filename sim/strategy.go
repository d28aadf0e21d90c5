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
	dice
	schedule *Stream
	paces    paces
}

// NewRandom returns the strategy `random`. A nil rate means no faults.
func NewRandom(seed uint64, rate FaultRate) *Random {
	return &Random{dice: dice{seed: seed, rate: rate}, schedule: NewStream(seed, "schedule"), paces: newPaces(seed)}
}

// Name returns "random".
func (*Random) Name() string { return "random" }

// Pick implements Strategy.
func (s *Random) Pick(r *Ready, _ uint64) (Choice, error) {
	if c, ok := s.fault(r); ok {
		return c, nil
	}
	if len(r.Actions) > 0 && !s.stopped {
		return s.paces.pick(r, s.schedule), nil
	}
	return converging(r, s.schedule)
}

// converging picks once the faults have stopped: from then on all actors are equally fast and time passes only when nothing else can
// happen. The rest of the run must converge in bounded time, which it cannot if the strategy may spend that time at will.
func converging(r *Ready, s *Stream) (Choice, error) {
	switch n := len(r.Actions); {
	case n > 1:
		return r.Actions[s.IntN(n)].Choice, nil
	case n == 1:
		return r.Actions[0].Choice, nil
	case r.Time:
		return r.Advance, nil
	}
	return Choice{}, ErrNothingToDo
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
