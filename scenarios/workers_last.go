package scenarios

import (
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/workers"
)

// workersLast is fifo, except that workers do nothing while anything else can happen at that instant. What a worker finds in
// the Indexer, and how many additions of a key it works on at once, then depends on no order of steps that is left open.
type workersLast struct {
	fifo sim.FIFO    // not embedded: this strategy does not pick the oldest (sim.PicksOldest)
	rest []sim.Offer // reused
}

// Name implements sim.Strategy: the trace of such a run cannot be told from one of fifo.
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
