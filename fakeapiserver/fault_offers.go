package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
)

// faultOffers is the faults that one actor offers to the kernel at the moment: at most one choice for each kind.
type faultOffers struct {
	offered fault.Set
	choices []sim.Choice // by kind; empty while nothing was ever offered
}

// set offers and withdraws until exactly the wanted faults are offered.
func (s *faultOffers) set(k *sim.Kernel, id sim.ActorID, want fault.Set) {
	if s.offered == want {
		return
	}
	if s.choices == nil {
		s.choices = make([]sim.Choice, len(fault.Specs()))
	}
	for i := range fault.Specs() {
		spec := &fault.Specs()[i]
		bit := spec.Set()
		switch {
		case want&bit != 0 && s.offered&bit == 0:
			s.choices[i] = k.Offer(id, spec.Choice, 0)
		case want&bit == 0 && s.offered&bit != 0:
			k.Withdraw(s.choices[i])
		}
	}
	s.offered = want
}

// applied notes that a choice was taken.
func (s *faultOffers) applied(c sim.Choice) {
	if spec := fault.SpecOfChoice(c.Kind); spec != nil {
		s.offered &^= spec.Set()
	}
}
