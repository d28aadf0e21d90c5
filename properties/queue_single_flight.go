package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// QueueSingleFlight checks that no two workers hold the same key (I94).
var QueueSingleFlight = Property{
	Name:      "QueueSingleFlight",
	Statement: "no key of a work queue is reconciled by two workers at once",
	Kinds:     workKinds,
	New: func() Checker {
		p := &queueSingleFlight{}
		return Checker{Record: p.record}
	},
}

type queueSingleFlight struct{ workQueueTracker }

func (p *queueSingleFlight) record(w World, r *sim.Record) *reports.Violation {
	q, k := p.lookup(w, r)
	if q == nil {
		return nil
	}
	if r.Kind == subjects.KindReconcile && k.working {
		return &reports.Violation{
			Key:     k.key,
			Message: fmt.Sprintf("worker %s took %s while %s was reconciling it", w.Kernel().ActorName(r.Actor), k.key, k.by),
			Because: []reports.Evidence{
				{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("%s began to reconcile %s", k.by, k.key)},
				reports.Because(r, "but %s took it before that reconcile finished", w.Kernel().ActorName(r.Actor)),
			},
		}
	}
	q.follow(w, r, k)
	q.touched = q.touched[:0]
	return nil
}
