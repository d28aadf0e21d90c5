package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// WorkersWake checks that no worker waits in Get beside a key, or in a queue that is shut down, and that none ends before (I114).
var WorkersWake = Property{
	Name:      "WorkersWake",
	Statement: "a worker that waits for a key gets one as soon as one is ready, and ends as soon as its queue is shut down, not before",
	Kinds:     []sim.Kind{subjects.KindWorkers, subjects.KindReady},
	New: func() Checker {
		p := &workersWake{}
		return Checker{Record: p.record, StepEnd: p.stepEnd}
	},
}

type workersWake struct{ queues byActor[waited] }

// waited is what the workers of a queue may wait for in vain. It is kept as numbers: a key becomes ready often, and is to be told of once
// something is broken.
type waited struct {
	key   string // the last that became ready
	ready origin
	down  origin // how is empty before the shutdown
}

func (p *workersWake) record(_ World, r *sim.Record) *reports.Violation {
	q := p.queues.get(r.Actor)
	switch {
	case r.Kind == subjects.KindReady:
		q.key, q.ready = r.Key, origin{step: r.Step, at: r.At}
	case r.Detail == subjects.WorkersStopping:
		q.down = origin{step: r.Step, at: r.At, how: r.Detail}
	}
	return nil
}

func (p *workersWake) stepEnd(w World) *reports.Violation {
	for _, c := range w.Workers() {
		waiting, ended := c.Waiting(), c.Ended()
		if waiting == 0 && ended == 0 {
			continue
		}
		name := c.Spec().Name
		id, _ := w.Kernel().ActorByName(name)
		q := p.queues.get(id)
		if v := q.early(name, ended); v != nil {
			return v
		}
		if v := q.inVain(name, c.Queued() > 0, waiting); v != nil {
			return v
		}
	}
	return nil
}

// early is the violation of so many workers that have ended, if their queue takes keys still.
func (q *waited) early(name string, ended int) *reports.Violation {
	if ended == 0 || q.down.how != "" {
		return nil
	}
	workers := "1 worker of it has"
	if ended > 1 {
		workers = fmt.Sprintf("%d workers of it have", ended)
	}
	return &reports.Violation{
		Message: fmt.Sprintf("the work queue of %s is not shut down, but %s ended: Get said that it is", name, workers),
	}
}

// inVain is the violation of so many workers that wait in Get, if there is something that should have woken them.
func (q *waited) inVain(name string, queued bool, waiting int) *reports.Violation {
	workers := "1 worker waits"
	if waiting > 1 {
		workers = fmt.Sprintf("%d workers wait", waiting)
	}
	switch {
	case waiting == 0:
	case q.down.how != "":
		return &reports.Violation{
			Message: fmt.Sprintf("the work queue of %s is shut down, but %s in its Get", name, workers),
			Because: []reports.Evidence{{Step: q.down.step, At: q.down.at, Text: "the queue was shut down, which wakes everyone"}},
		}
	case queued:
		return &reports.Violation{
			Key:     q.key,
			Message: fmt.Sprintf("the work queue of %s has a key that is ready, but %s in its Get", name, workers),
			Because: []reports.Evidence{{Step: q.ready.step, At: q.ready.at, Text: q.key + " became ready, which wakes a worker that waits"}},
		}
	}
	return nil
}
