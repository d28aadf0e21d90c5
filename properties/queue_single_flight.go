package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// QueueSingleFlight says that no key of a work queue is reconciled by two workers at once.
var QueueSingleFlight = Property{
	Name:      "QueueSingleFlight",
	Statement: "no key of a work queue is reconciled by two workers at once",
	Kinds:     workKinds,
	New: func() Checker {
		p := &queueSingleFlight{}
		return Checker{Record: p.record}
	},
}

// queueSingleFlight: no two workers have one key (I94).
type queueSingleFlight struct{ workQueueTracker }

func (p *queueSingleFlight) record(w World, r *sim.Record) *reports.Violation {
	q, k := p.of(w, r)
	if q == nil {
		return nil
	}
	if r.Kind == subjects.KindReconcile && k.working {
		return &reports.Violation{
			Key:     k.key,
			Message: fmt.Sprintf("worker %s was given %s, which %s is reconciling", w.Kernel().ActorName(r.Actor), k.key, k.by),
			Because: []reports.Evidence{
				{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("%s began to reconcile %s", k.by, k.key)},
				reports.Because(r, "however %s was given it before that one had ended", w.Kernel().ActorName(r.Actor)),
			},
		}
	}
	q.follow(w, r, k)
	q.touched = q.touched[:0]
	return nil
}
