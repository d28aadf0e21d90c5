package properties

import (
	"fmt"
	"slices"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// CallsRefused checks calls that come too late, or twice, and those that ask how far an informer is (I43, I117).
var CallsRefused = Property{
	Name:      "CallsRefused",
	Statement: "an informer refuses what comes too late, takes no notice of what comes twice, and says rightly whether it has synced or stopped",
	Kinds:     []sim.Kind{subjects.KindStopped},
	New: func() Checker {
		p := &callsRefused{}
		return Checker{Record: p.record, End: p.end}
	},
}

// callsRefused makes those calls at the end of a run, when what a wrong one does harms nothing.
type callsRefused struct{ stopped []subjects.Informer }

func (p *callsRefused) record(w World, r *sim.Record) *reports.Violation {
	if inf := w.InformerOf(r.Actor); inf != nil {
		p.stopped = append(p.stopped, inf)
	}
	return nil
}

func (p *callsRefused) end(w World) *reports.Violation {
	for _, inf := range slices.Concat(p.stopped, w.Informers()) {
		for _, o := range inf.Outcomes() {
			if o.Got != o.Want {
				return &reports.Violation{Message: fmt.Sprintf("informer %s: %s: %s, want %s", inf.Name(), o.Call, o.Got, o.Want)}
			}
		}
	}
	return nil
}
