package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// WorkersWake checks that no worker waits in Get beside a key, or in a queue that is shut down (I114).
var WorkersWake = Property{
	Name:      "WorkersWake",
	Statement: "a worker that waits for a key gets one as soon as one is ready, and ends as soon as its queue is shut down",
	Kinds:     []sim.Kind{subjects.KindWorkers, subjects.KindReady},
	New: func() Checker {
		p := &workersWake{queues: map[string]*waited{}}
		return Checker{Record: p.record, StepEnd: p.stepEnd}
	},
}

type workersWake struct{ queues map[string]*waited }

// waited is what the workers of a queue may wait for in vain.
type waited struct {
	key   string // the last that became ready
	ready reports.Evidence
	down  reports.Evidence // none before the shutdown
}

func (p *workersWake) record(w World, r *sim.Record) *reports.Violation {
	name := w.Kernel().ActorName(r.Actor)
	q := p.queues[name]
	if q == nil {
		q = &waited{}
		p.queues[name] = q
	}
	switch {
	case r.Kind == subjects.KindReady:
		q.key, q.ready = r.Key, reports.Because(r, "%s became ready", r.Key)
	case r.Detail == subjects.WorkersStopping:
		q.down = reports.Because(r, "the queue was shut down")
	}
	return nil
}

func (p *workersWake) stepEnd(w World) *reports.Violation {
	for _, c := range w.Workers() {
		if c.Waiting() == 0 {
			continue
		}
		q, v := p.queues[c.Spec().Name], (*reports.Violation)(nil)
		switch {
		case q.down.Text != "":
			v = &reports.Violation{Message: "the work queue of %s is shut down, but %s in its Get", Because: []reports.Evidence{q.down}}
		case c.Queued() > 0:
			v = &reports.Violation{Key: q.key, Message: "the work queue of %s has a key that is ready, but %s in its Get", Because: []reports.Evidence{q.ready}}
		default:
			continue
		}
		wait := reports.Counted(c.Waiting(), "worker") + " wait"
		if c.Waiting() == 1 {
			wait += "s"
		}
		v.Message = fmt.Sprintf(v.Message, c.Spec().Name, wait)
		v.Because = append(v.Because, reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "but " + wait})
		return v
	}
	return nil
}
