package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// QueueNoLostKey checks that a work queue loses no key (I94).
var QueueNoLostKey = Property{
	Name:      "QueueNoLostKey",
	Statement: "a key that is added to a work queue, or whose retry is due, is ready at once, or as soon as the worker that holds it is done",
	Kinds:     workKinds,
	New: func() Checker {
		p := &queueNoLostKey{}
		return Checker{Record: p.record, StepEnd: p.stepEnd}
	},
}

type queueNoLostKey struct{ workQueueTracker }

func (p *queueNoLostKey) record(w World, r *sim.Record) *reports.Violation {
	if q, k := p.lookup(w, r); q != nil {
		q.follow(w, r, k)
	}
	return nil
}

func (p *queueNoLostKey) stepEnd(w World) *reports.Violation {
	for _, q := range p.all {
		q.due(w.Kernel().Elapsed(), w.Kernel().Steps())
		for _, k := range q.touched {
			if k.dirty && !k.working && !k.ready {
				return q.lost(w, k)
			}
		}
		q.touched = q.touched[:0]
	}
	return nil
}

func (q *workQueue) lost(w World, k *workKey) *reports.Violation {
	v := &reports.Violation{
		Key:     k.key,
		Message: fmt.Sprintf("the work queue of %s lost %s: %s, but it is not ready and no worker holds it", q.name, k.key, k.since.how),
	}
	if k.began.step != 0 {
		v.Because = append(v.Because, reports.Evidence{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("%s last took %s", k.by, k.key)})
	}
	v.Because = append(v.Because,
		reports.Evidence{Step: k.since.step, At: k.since.at, Text: fmt.Sprintf("%s: %s", k.key, k.since.how)},
		reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "but it is not ready"})
	return v
}
