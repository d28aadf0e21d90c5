package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
)

// faultOffers are the faults that one actor currently offers to the kernel: at most one choice per kind.
type faultOffers struct {
	offered fault.Set
	choices []sim.Choice // by kind; nil until something is offered
}

// set offers and withdraws faults so that exactly the wanted ones are offered.
func (s *faultOffers) set(k *sim.Kernel, id sim.ActorID, want fault.Set) {
	if s.offered == want {
		return
	}
	if s.choices == nil {
		s.choices = make([]sim.Choice, len(fault.Specs()))
	}
	for changed := s.offered ^ want; changed != 0; changed &= changed - 1 {
		spec := changed.First()
		if i := spec.Index(); want&spec.Set() != 0 {
			s.choices[i] = k.Offer(id, spec.Choice, 0)
		} else {
			k.Withdraw(s.choices[i])
		}
	}
	s.offered = want
}

// applied removes a choice that the strategy picked.
func (s *faultOffers) applied(c sim.Choice) {
	if spec := fault.SpecOfChoice(c.Kind); spec != nil {
		s.offered &^= spec.Set()
	}
}
