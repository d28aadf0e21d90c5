package scenarios

import (
	"testing"

	"github.com/informersim/informersim/sim"
)

// The kernel must ask this strategy, which is not fifo although it picks like it among the offers that it considers.
func TestWorkersLastIsAsked(t *testing.T) {
	var s sim.Strategy = &workersLast{}
	if _, ok := s.(sim.PicksOldest); ok {
		t.Error("workersLast claims to pick the oldest action")
	}
	if s.Name() != "fifo" {
		t.Errorf("its name is %q, want fifo", s.Name())
	}
}
