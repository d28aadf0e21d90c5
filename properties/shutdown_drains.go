package properties

import (
	"fmt"
	"maps"
	"slices"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// ShutdownDrains checks what the shutdown of a work queue does with its keys (I95), and how long somebody waits for it to drain (I96).
var ShutdownDrains = Property{
	Name:      "ShutdownDrains",
	Statement: "once a work queue shuts down, every key that was ready is still reconciled, no other is, and then its workers end; who waits for it to drain waits until no key is being reconciled, or it is shut down again",
	Kinds:     workKinds,
	New: func() Checker {
		p := &shutdownDrains{queues: map[*workQueue]*shutdown{}}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending, End: p.end}
	},
}

type shutdownDrains struct {
	workQueueTracker
	queues  map[*workQueue]*shutdown
	pending bool // the wait for a shutdown should have ended
}

// shutdown is that of one queue.
type shutdown struct {
	began reports.Evidence
	owed  map[string]bool // ready, or added while a worker held them, be it by a retry that came due
	over  bool
	waits *reports.Evidence // somebody waits for the queue to drain
	ends  *reports.Evidence // a second shutdown ends that wait
}

func (p *shutdownDrains) record(w World, r *sim.Record) *reports.Violation {
	q, k := p.lookup(w, r)
	if q == nil {
		return p.state(w, r)
	}
	defer func() { q.touched = q.touched[:0] }()
	s := p.queues[q]
	if s != nil && r.Kind == subjects.KindReconcile {
		switch {
		case s.over:
			return s.broken(r, k.key, "%s is reconciled after the workers %s have ended", k.key, q.name)
		case !s.owed[k.key]:
			return s.broken(r, k.key, "%s is reconciled by the workers %s, whose queue has shut down, although it was not ready then", k.key, q.name)
		}
		delete(s.owed, k.key)
	}
	q.follow(w, r, k)
	return nil
}

// working returns a key that a worker of the queue holds, the first in order; nil for none.
func (q *workQueue) working() *workKey {
	for _, key := range slices.Sorted(maps.Keys(q.keys)) {
		if q.keys[key].working {
			return q.keys[key]
		}
	}
	return nil
}

// state follows the shutdown of a queue.
func (p *shutdownDrains) state(w World, r *sim.Record) *reports.Violation {
	q := p.queue(w, r)
	if q == nil || r.Kind != subjects.KindWorkers {
		return nil
	}
	switch r.Detail {
	case subjects.WorkersDraining:
		e := reports.Because(r, "somebody waits for the workers %s to drain", q.name)
		p.queues[q].waits = &e
	case subjects.WorkersDrained:
		s := p.queues[q]
		if k := q.working(); k != nil && s.waits != nil {
			return s.broken(r, k.key, "the queue of the workers %s counts as drained, but %s is still being reconciled, since step %d", q.name, k.key, k.began.step)
		}
		s.waits, s.ends = nil, nil
	case subjects.WorkersStopping:
		if s := p.queues[q]; s != nil {
			if s.waits != nil {
				e := reports.Because(r, "the queue of the workers %s is shut down again, without a wait", q.name)
				s.waits, s.ends, p.pending = nil, &e, true
			}
			return nil
		}
		s := &shutdown{began: reports.Because(r, "the queue of the workers %s shuts down", q.name), owed: map[string]bool{}}
		for key, k := range q.keys { // order: a set is built
			if k.ready || k.working && k.dirty {
				s.owed[key] = true
			}
		}
		p.queues[q] = s
	case subjects.WorkersStopped:
		s := p.queues[q]
		if s == nil {
			return nil
		}
		s.over = true
		if s.waits != nil {
			return s.stuck(q, *s.waits)
		}
		if left := slices.Sorted(maps.Keys(s.owed)); len(left) > 0 {
			return s.broken(r, left[0], "the workers %s have ended, but %s was ready when their queue shut down, and was never reconciled", q.name, left[0])
		}
	}
	return nil
}

// stuck says that a drain has no end.
func (s *shutdown) stuck(q *workQueue, at reports.Evidence) *reports.Violation {
	return &reports.Violation{
		Message: fmt.Sprintf("who waits for the queue of the workers %s to drain need not wait any more, but still does", q.name), Because: []reports.Evidence{s.began, at},
	}
}

func (s *shutdown) broken(r *sim.Record, key, format string, args ...any) *reports.Violation {
	return &reports.Violation{Key: key, Message: fmt.Sprintf(format, args...), Because: []reports.Evidence{s.began, reports.Because(r, "but then: %s %s", r.Kind, r.Detail)}}
}

// stepEnd judges that a second shutdown ends the wait for the first.
func (p *shutdownDrains) stepEnd(World) *reports.Violation {
	for _, q := range p.all {
		if s := p.queues[q]; s != nil && s.ends != nil {
			return s.stuck(q, *s.ends)
		}
	}
	return nil
}

// end judges that the workers of queues that shut down have ended.
func (p *shutdownDrains) end(w World) *reports.Violation {
	for _, q := range p.all {
		s := p.queues[q]
		if s != nil && s.waits != nil && q.working() == nil {
			return s.stuck(q, *s.waits)
		}
		if s != nil && !s.over {
			return &reports.Violation{
				Message: fmt.Sprintf("the queue of the workers %s has shut down, but they have not ended", q.name),
				Because: []reports.Evidence{s.began, {Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("but %d keys are left, and nothing happens", len(s.owed))}},
			}
		}
	}
	return nil
}
