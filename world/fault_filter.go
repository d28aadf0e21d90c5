package world

import (
	"slices"

	"github.com/informersim/informersim/sim"
)

// faultFilter is a strategy that exempts actors from faults: the helpers' client, so that a test's own writes arrive, and those of Kubernetes' controllers.
// Faults of replicas and of the Store still hit them.
type faultFilter struct {
	sim.Strategy
	exempts func(sim.ActorID) bool // nil until the actors are known

	faults []sim.Offer
	kinds  []sim.FaultGroup
}

// Pick implements sim.Strategy.
func (s *faultFilter) Pick(r *sim.Ready, step uint64) (sim.Choice, error) {
	theirs := func(o sim.Offer) bool { return s.exempts(o.Actor) }
	if s.exempts == nil || !slices.ContainsFunc(r.Faults, theirs) {
		return s.Strategy.Pick(r, step)
	}
	s.faults = slices.DeleteFunc(append(s.faults[:0], r.Faults...), theirs)
	s.kinds = s.kinds[:0]
	for _, k := range r.FaultGroups {
		k.Count = 0
		for _, o := range s.faults {
			if o.Kind == k.Kind {
				k.Count++
			}
		}
		if k.Count > 0 {
			s.kinds = append(s.kinds, k)
		}
	}
	rest := *r
	rest.Faults, rest.FaultGroups = s.faults, s.kinds
	return s.Strategy.Pick(&rest, step)
}

// StopFaults tells the wrapped strategy, if it picks faults.
func (s *faultFilter) StopFaults() {
	if f, ok := s.Strategy.(interface{ StopFaults() }); ok {
		f.StopFaults()
	}
}
