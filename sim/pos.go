package sim

// POS is partial order sampling (Yuan, Yang and Gu, CAV 2018): every choice has a random priority from when it becomes possible, and
// the highest of those enabled happens. The priorities of choices that race with it are drawn again. So orders that differ only in
// choices without influence on each other are not sampled again and again.
//
// A choice races with those of the actors that its step touches: its own, those that it emits records of, and those that offer
// something new.
type POS struct {
	dice
	k        *Kernel
	schedule *Stream
	waiting  []posEvent // in canonical order
	spare    []posEvent
	time     uint64 // the priority of time, 0 while none is drawn
	touched  []bool // by actor: whether the last step touched it
	offered  []uint32
}

type posEvent struct{ order, priority uint64 }

// NewPOS returns the strategy `pos`. A nil rate means no faults. It must be bound to its kernel.
func NewPOS(seed uint64, rate FaultRate) *POS {
	return &POS{dice: dice{seed: seed, rate: rate}, schedule: NewStream(seed, "schedule/pos")}
}

// Name returns "pos".
func (*POS) Name() string { return "pos" }

// Bind sets the kernel that the strategy drives, whose steps it observes.
func (s *POS) Bind(k *Kernel) {
	s.k = k
	k.Observe(s)
}

// Record implements Observer.
func (s *POS) Record(r *Record) { s.touch(r.Actor) }

// StepEnd implements Observer.
func (s *POS) StepEnd(i *StepInfo) {
	s.touch(i.Choice.Actor)
	if i.Choice.Kind.Class() == ClassTime {
		s.time = 0
	}
}

func (s *POS) touch(id ActorID) {
	for int(id) >= len(s.touched) {
		s.touched = append(s.touched, false)
	}
	s.touched[id] = true
}

// Pick implements Strategy.
func (s *POS) Pick(r *Ready, _ uint64) (Choice, error) {
	s.race(r)
	if c, ok := s.fault(r); ok {
		return c, nil
	}
	if s.stopped || len(r.Actions) == 0 {
		return converging(r, s.schedule)
	}
	best, top := Choice{}, uint64(0)
	for n, e := range s.waiting {
		if e.priority >= top {
			best, top = r.Actions[n].Choice, e.priority
		}
	}
	if r.Time {
		if s.time == 0 {
			// Time is one event among those of many actors, and seldom the first: at equal odds it would always pass at once.
			s.time = s.schedule.Uint64() >> (2 + s.schedule.IntN(8))
		}
		if s.time > top {
			best = r.Advance
		}
	}
	return best, nil
}

// race draws priorities for choices that are new, and new ones for those that race with the last step.
func (s *POS) race(r *Ready) {
	for id := range s.k.actors {
		if id >= len(s.offered) {
			s.offered = append(s.offered, 0)
		}
		if seq := s.k.actors[id].seq; seq != s.offered[id] {
			s.offered[id] = seq
			s.touch(ActorID(id))
		}
	}
	now, old := s.spare[:0], s.waiting
	for _, o := range r.Actions {
		order := o.order()
		for len(old) > 0 && old[0].order < order {
			old = old[1:]
		}
		if int(o.Actor) < len(s.touched) && s.touched[o.Actor] || len(old) == 0 || old[0].order != order {
			now = append(now, posEvent{order, s.schedule.Uint64()})
		} else {
			now = append(now, old[0])
		}
	}
	s.waiting, s.spare = now, s.waiting
	clear(s.touched)
}
