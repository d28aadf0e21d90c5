package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// QueueNoLostKey checks that a work queue loses no key (I94).
var QueueNoLostKey = Property{
	Name: "QueueNoLostKey",
	Statement: "a key that is added to a work queue, or whose retry is due, is ready at once, or as soon as the worker that holds it is done; " +
		"workers take keys in the order in which they became ready",
	Kinds: workKinds,
	New:   func() Checker { return newQueueNoLostKey(true) },
	Needs: []property.Need{{Feature: subjects.ReadyKeys, Part: "of whether a retry is late", Rest: func() Checker { return newQueueNoLostKey(false) }}},
}

func newQueueNoLostKey(timed bool) Checker {
	p := &queueNoLostKey{timed: timed}
	return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending}
}

type queueNoLostKey struct {
	workQueueTracker
	timed   bool // time stops when a key becomes ready
	pending bool // there are queues
}

func (p *queueNoLostKey) record(w World, r *sim.Record) *reports.Violation {
	q, k := p.lookup(w, r)
	p.pending = len(p.all) > 0
	if q == nil {
		return nil
	}
	if r.Kind == subjects.KindReconcile && k.ready {
		if v := q.outOfTurn(w, r, k); v != nil {
			return v
		}
	}
	q.follow(w, r, k)
	return nil
}

// outOfTurn returns a violation if another key has been ready since an earlier step than the one that is taken: a queue that is never empty
// could keep it for ever. Among keys that became ready in one step, any may be the first.
func (q *workQueue) outOfTurn(w World, r *sim.Record, k *workKey) *reports.Violation {
	first := k
	for _, other := range q.keys { // order: the result is the least
		if other.ready && (other.turn.step < first.turn.step || other.turn.step == first.turn.step && first != k && other.key < first.key) {
			first = other
		}
	}
	if first == k {
		return nil
	}
	return &reports.Violation{
		Key:     first.key,
		Message: fmt.Sprintf("%s takes %s before %s, which was ready earlier", w.Kernel().ActorName(r.Actor), k.key, first.key),
		Because: []reports.Evidence{
			{Step: first.turn.step, At: first.turn.at, Text: fmt.Sprintf("%s is ready for the workers %s", first.key, q.name)},
			{Step: k.turn.step, At: k.turn.at, Text: fmt.Sprintf("%s is ready after it", k.key)},
			reports.Because(r, "but %s is taken", k.key),
		},
	}
}

func (p *queueNoLostKey) stepEnd(w World) *reports.Violation {
	for _, q := range p.all {
		q.due(w.Kernel().Elapsed(), w.Kernel().Steps())
		for _, k := range q.touched {
			if k.overdue != 0 && p.timed {
				return q.late(w, k)
			}
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

// late is a key whose retry did not come when it was due. Time stops at each timer of a queue, so the queue had none then: it has the key wait for that
// of another one.
func (q *workQueue) late(w World, k *workKey) *reports.Violation {
	now := reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "but time goes on, and nothing is set to wake the queue then"}
	if k.ready {
		now.Text = "but it becomes ready only now"
	}
	return &reports.Violation{
		Key:     k.key,
		Message: fmt.Sprintf("the work queue of %s is late with %s: its retry was due at %v, and it is %v", q.name, k.key, k.overdue, now.At),
		Because: []reports.Evidence{
			{Step: k.failed.step, At: k.failed.at, Text: fmt.Sprintf("%s failed, to be retried %v later", k.key, k.overdue-k.failed.at)},
			now,
		},
	}
}
