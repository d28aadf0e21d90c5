package properties

import (
	"fmt"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

// queueNoLostKey: a key that was added, or whose time to be tried again has come, is ready to be taken at once, or, if a worker
// has it, when that one is through (I94).
type queueNoLostKey struct{ workQueues }

func (*queueNoLostKey) Name() string { return "QueueNoLostKey" }

func (*queueNoLostKey) Kinds() []sim.Kind { return workKinds }

func (p *queueNoLostKey) Record(w *scenarios.World, r *sim.Record) *scenarios.Violation {
	if q, k := p.of(w, r); q != nil {
		q.follow(w, r, k)
	}
	return nil
}

// StepEnd implements scenarios.StepChecker.
func (p *queueNoLostKey) StepEnd(w *scenarios.World) *scenarios.Violation {
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

func (q *workQueue) lost(w *scenarios.World, k *workKey) *scenarios.Violation {
	v := &scenarios.Violation{
		Key:     k.key,
		Message: fmt.Sprintf("the work queue of %s has lost %s: %s, but it is not ready to be taken, and no worker has it", q.name, k.key, k.since.how),
	}
	if k.began.step != 0 {
		v.Because = append(v.Because, scenarios.Evidence{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("%s took %s for the last time", k.by, k.key)})
	}
	v.Because = append(v.Because,
		scenarios.Evidence{Step: k.since.step, At: k.since.at, Text: fmt.Sprintf("%s: %s", k.key, k.since.how)},
		scenarios.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "however it is not ready now"})
	return v
}

func (*queueNoLostKey) End(*scenarios.World) *scenarios.Violation { return nil }
