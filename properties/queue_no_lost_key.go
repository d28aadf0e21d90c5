package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// QueueNoLostKey says that a key added to a work queue, or whose time to be tried again has come, can be taken at once, or when the worker that has it is through.
var QueueNoLostKey = Property{
	Name:      "QueueNoLostKey",
	Statement: "a key added to a work queue, or whose time to be tried again has come, can be taken at once, or when the worker that has it is through",
	Kinds:     workKinds,
	New: func() Checker {
		p := &queueNoLostKey{}
		return Checker{Record: p.record, StepEnd: p.stepEnd}
	},
}

// queueNoLostKey: a key that was added, or whose time to be tried again has come, is ready to be taken at once, or, if a worker
// has it, when that one is through (I94).
type queueNoLostKey struct{ workQueueTracker }

func (p *queueNoLostKey) record(w World, r *sim.Record) *reports.Violation {
	if q, k := p.of(w, r); q != nil {
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
		Message: fmt.Sprintf("the work queue of %s has lost %s: %s, but it is not ready to be taken, and no worker has it", q.name, k.key, k.since.how),
	}
	if k.began.step != 0 {
		v.Because = append(v.Because, reports.Evidence{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("%s took %s for the last time", k.by, k.key)})
	}
	v.Because = append(v.Because,
		reports.Evidence{Step: k.since.step, At: k.since.at, Text: fmt.Sprintf("%s: %s", k.key, k.since.how)},
		reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "however it is not ready now"})
	return v
}
