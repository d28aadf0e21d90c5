package sim

import "slices"

// PCT is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010): every actor, and time,
// has a random priority, and the enabled action of the highest one happens. At a few random picks the highest falls below all
// others. A bug that needs d such constraints is found with a probability of at least 1/(n·k^(d-1)) for n actors and k picks, however
// unlikely it is under odds that are even at every step.
//
// The algorithm is for programs that end by themselves, while a cluster's timers never do: time that has passed a few times although
// something else could happen falls below all others, too, until the next change.
type PCT struct {
	dice
	schedule *Stream
	priority []uint64 // by actor
	picks    uint64
	changes  []uint64 // the picks at which the highest priority falls, ascending
	lowest   uint64   // the next lower priority than all others
	patience int      // how often time may pass early between two changes
	passed   int      // how often it has since the last one
}

const (
	pctMaxChanges  = 6
	pctMaxPatience = 32
	// pctFallen is the priority of the first that falls. Those of others are above it.
	pctFallen = 1 << 32
)

// NewPCT returns the strategy `pct`. A nil rate means no faults. How many changes there are, and among how many picks, is drawn: 0 to 6,
// among the first 32 to 2048.
func NewPCT(seed uint64, rate FaultRate) *PCT {
	s := &PCT{dice: dice{seed: seed, rate: rate}, schedule: NewStream(seed, "schedule/pct"), lowest: pctFallen}
	picks := 32 << s.schedule.IntN(7)
	for range s.schedule.IntN(pctMaxChanges + 1) {
		s.changes = append(s.changes, uint64(s.schedule.IntN(picks)))
	}
	slices.Sort(s.changes)
	s.patience = 1 + s.schedule.IntN(pctMaxPatience)
	return s
}

// Name returns "pct".
func (*PCT) Name() string { return "pct" }

// Pick implements Strategy.
func (s *PCT) Pick(r *Ready, _ uint64) (Choice, error) {
	if c, ok := s.fault(r); ok {
		return c, nil
	}
	if s.stopped || len(r.Actions) == 0 {
		return converging(r, s.schedule)
	}
	for len(s.changes) > 0 && s.changes[0] <= s.picks {
		s.changes = s.changes[1:]
		s.fall(s.highest(r).Actor)
		s.priority[0], s.passed = s.draw(), 0
	}
	s.picks++
	c := s.highest(r)
	if c == r.Advance {
		if s.passed++; s.passed > s.patience {
			s.fall(c.Actor)
			c = s.highest(r)
		}
	}
	return c, nil
}

func (s *PCT) draw() uint64 { return pctFallen<<1 + s.schedule.Uint64()>>32 }

func (s *PCT) fall(id ActorID) {
	s.lowest--
	s.priority[id] = s.lowest
}

// highest returns the choice of the actor with the highest priority, its oldest. There is an action.
func (s *PCT) highest(r *Ready) Choice {
	best, top := Choice{}, uint64(0)
	if r.Time {
		best, top = r.Advance, s.priorityOf(0)
	}
	for _, o := range r.Actions {
		if p := s.priorityOf(o.Actor); p > top {
			best, top = o.Choice, p
		}
	}
	return best
}

// priorityOf returns the priority of an actor. Time is that of the clock.
func (s *PCT) priorityOf(id ActorID) uint64 {
	for int(id) >= len(s.priority) {
		s.priority = append(s.priority, s.draw())
	}
	return s.priority[id]
}
