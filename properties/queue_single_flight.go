package properties

import (
	"fmt"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// queueSingleFlight: no two workers have one key (I94).
type queueSingleFlight struct{ workQueues }

func (*queueSingleFlight) Name() string { return "QueueSingleFlight" }

func (*queueSingleFlight) Kinds() []sim.Kind { return workKinds }

func (p *queueSingleFlight) Record(w *scenarios.World, r *sim.Record) *scenarios.Violation {
	q, k := p.of(w, r)
	if q == nil {
		return nil
	}
	if r.Kind == subjects.KindReconcile && k.working {
		return &scenarios.Violation{
			Key:     k.key,
			Message: fmt.Sprintf("worker %s was given %s, which %s is reconciling", w.Kernel().ActorName(r.Actor), k.key, k.by),
			Because: []scenarios.Evidence{
				{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("%s began to reconcile %s", k.by, k.key)},
				because(r, "however %s was given it before that one had ended", w.Kernel().ActorName(r.Actor)),
			},
		}
	}
	q.follow(w, r, k)
	q.touched = q.touched[:0]
	return nil
}

func (*queueSingleFlight) End(*scenarios.World) *scenarios.Violation { return nil }
