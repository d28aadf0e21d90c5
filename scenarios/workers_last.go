package scenarios

import (
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/workers"
)

// workersLast is fifo, except that workers do nothing while anything else can happen at that instant. Then neither the objects that
// a worker reads from the Indexer nor the additions of a key that merge depend on the order of steps.
type workersLast struct {
	fifo sim.FIFO    // not embedded: this strategy does not pick the oldest (sim.PicksOldest)
	rest []sim.Offer // reused
}

// Name implements sim.Strategy. The trace of such a run looks like one of fifo.
func (s *workersLast) Name() string { return s.fifo.Name() }

// Pick implements sim.Strategy.
func (s *workersLast) Pick(r *sim.Ready, step uint64) (sim.Choice, error) {
	s.rest = s.rest[:0]
	for _, o := range r.Actions {
		if !workers.IsWork(o.Kind) {
			s.rest = append(s.rest, o)
		}
	}
	if len(s.rest) == 0 {
		return s.fifo.Pick(r, step)
	}
	others := *r
	others.Actions = s.rest
	return s.fifo.Pick(&others, step)
}
