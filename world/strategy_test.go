package world

import (
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// Every strategy makes runs that end and repeat; a name that is none gets the list.
func TestStrategies(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	for _, s := range strategies {
		hashes := map[string]bool{}
		for range 2 {
			f.next = script(askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour), askFor(wire.AskStopFaults, 0), askFor(wire.AskAdvance, time.Hour))
			task := newTask()
			task.Options.Strategy = s.name
			task.Options.GarbageCollection = true // a client that makes steps of its own
			res := f.job(task)
			if res.Failure != "" || res.Virtual != 2*time.Hour || res.Faults > 0 && s.name == fifo {
				t.Errorf("%s: %+v", s.name, res)
			}
			hashes[res.Hash] = true
		}
		if len(hashes) != 1 {
			t.Errorf("%s: two runs of a seed have the hashes %v", s.name, hashes)
		}
	}
	task := newTask()
	task.Options.Strategy = "randm"
	if res := f.job(task); !res.Invalid || !strings.Contains(res.Failure, `Options.Strategy is "randm": it must be random`) {
		t.Errorf("a wrong name: %+v", res)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}
