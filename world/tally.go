package world

import (
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// tally counts a run's commits, requests, frames and faults.
type tally struct{ run *reports.Run }

// Record implements sim.Observer.
func (t *tally) Record(r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindCommit:
		t.run.Commits++
	case fakeapiserver.KindRequest:
		t.run.Requests++
	case fakeapiserver.KindFrame:
		t.run.Frames++
	case fakeapiserver.KindFault:
		t.run.CountFault(r.Detail)
	case KindProcess:
		if r.Detail == processCrashed {
			t.run.CountFault(kindCrash.String())
		}
	}
}

// StepEnd implements sim.Observer.
func (*tally) StepEnd(*sim.StepInfo) {}
