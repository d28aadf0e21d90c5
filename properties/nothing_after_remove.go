package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// NothingAfterRemove checks that a handler that was removed is left alone (I81).
var NothingAfterRemove = Property{
	Name:      "NothingAfterRemove",
	Statement: "a handler that was removed is notified of nothing more",
	Kinds:     []sim.Kind{subjects.KindNotify, subjects.KindHandler},
	New: func() Checker {
		p := &nothingAfterRemove{}
		return Checker{Record: p.record}
	},
}

// nothingAfterRemove knows when each handler was removed.
type nothingAfterRemove struct{ removed byActor[reports.Evidence] }

func (p *nothingAfterRemove) record(w World, r *sim.Record) *reports.Violation {
	gone := p.removed.get(r.Actor)
	if r.Kind == subjects.KindHandler {
		if *gone = (reports.Evidence{}); r.Detail == "removed" {
			*gone = reports.Because(r, "the handler was removed")
		}
		return nil
	}
	if gone.Text == "" {
		return nil
	}
	return &reports.Violation{
		Key:     r.Key,
		Message: fmt.Sprintf("handler %s was removed, and was then notified of %s", w.Kernel().ActorName(r.Actor), r.Key),
		Because: []reports.Evidence{*gone, reports.Because(r, "but it was notified: %s", scenarios.NotificationText(r))},
	}
}
