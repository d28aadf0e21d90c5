package scenarios

import (
	"testing"

	"github.com/informersim/informersim/sim"
)

// The kernel must ask this strategy: it is not fifo, although it picks as fifo does among what it leaves.
func TestWorkersLastIsAsked(t *testing.T) {
	var s sim.Strategy = &workersLast{}
	if _, ok := s.(sim.PicksOldest); ok {
		t.Error("workersLast says that it picks the oldest action")
	}
	if s.Name() != "fifo" {
		t.Errorf("its name is %q", s.Name())
	}
}
