package workers

import (
	"fmt"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// The kinds of choices of a worker.
var (
	kindTake   = sim.RegisterKind("take", sim.ClassAction)   // it takes a key from the queue and begins to reconcile it
	kindWait   = sim.RegisterKind("wait", sim.ClassAction)   // it waits in Get, since there is no key
	kindFinish = sim.RegisterKind("finish", sim.ClassAction) // its reconcile returns
	// kindFinishAll: the reconciles of all workers that can finish return at once
	kindFinishAll = sim.RegisterKind("finish all", sim.ClassAction)
)

// IsWork reports whether a choice of kind k is a worker's.
func IsWork(k sim.Kind) bool {
	return k == kindTake || k == kindWait || k == kindFinish || k == kindFinishAll
}

// worker is one worker as an actor.
type worker struct {
	pool    *Pool
	n       int
	id      sim.ActorID
	busy    bool
	key     string
	plan    subjects.CallPlan // of the reconcile
	waiting bool              // in Get
	gone    bool
	ending  bool // its reconcile can return
	takes   sim.Toggle
	waits   sim.Toggle
	ends    sim.Toggle
}

// Name implements sim.Actor.
func (w *worker) Name() string { return fmt.Sprintf("%s/%d", w.pool.spec.Name, w.n) }

// offer offers the choice take while there is something to take, and else, to workers that wait, the choice wait.
func (w *worker) offer() {
	p := w.pool
	idle := p.started && !p.held && !w.busy && !w.waiting && !w.gone && p.queue.Idle(w.n)
	some := p.stopping || p.queue.Len() > 0
	if p.spec.Waits {
		w.waits.Set(p.kernel, w.id, kindWait, idle && !some)
	}
	if p.since != 0 {
		w.takes.SetSince(p.kernel, w.id, kindTake, idle && some, p.since)
		return
	}
	w.takes.Set(p.kernel, w.id, kindTake, idle && some)
}

// Apply implements sim.Actor.
func (w *worker) Apply(c sim.Choice) {
	switch c.Kind {
	case kindTake:
		w.takes.Taken()
		w.got(w.pool.queue.Begin(w.n))
	case kindWait:
		w.waits.Taken()
		w.waiting = true
		w.pool.queue.Wait(w.n)
	default:
		w.ends.Taken()
		w.pool.finish([]*worker{w})
	}
	w.pool.Offer()
}

// got has the worker reconcile the key that Get has returned, or end with its queue.
func (w *worker) got(key string, ok bool) {
	p := w.pool
	if !ok {
		w.gone = true
		p.workerEnded()
		return
	}
	w.busy, w.key, w.plan = true, key, p.faults.Next(key)
	r := p.kernel.Record(w.id, subjects.KindReconcile)
	r.Key, r.RV = key, p.revision(key)
	p.kernel.Emit(r)
	if w.plan.Takes > 0 {
		p.kernel.Clock().AfterFunc(w.plan.Takes, w.offerFinish)
		return
	}
	w.offerFinish()
}

// offerFinish offers the return of the reconcile, which is a choice of its own.
func (w *worker) offerFinish() {
	w.ending = true
	w.ends.Set(w.pool.kernel, w.id, kindFinish, true)
	w.pool.offerAllEnd()
}

// outcome is how the reconcile ends.
func (w *worker) outcome() Outcome {
	switch {
	case w.plan.Panics:
		return Panicked
	case w.plan.Fails:
		return Failed
	}
	return OK
}

// finish makes the reconciles of some workers return.
func (p *Pool) finish(some []*worker) {
	p.ended = p.ended[:0]
	for _, w := range some {
		w.busy, w.ending = false, false
		p.ended = append(p.ended, End{Worker: w.n, Outcome: w.outcome()})
	}
	if len(some) == 1 {
		e := &p.ended[0]
		e.Disposition = p.queue.End(e.Worker, some[0].key, e.Outcome)
	} else {
		p.endTogether(p.ended)
	}
	for _, e := range p.ended {
		p.workers[e.Worker].finished(e)
	}
	p.noteDrained()
}

// finished records the end of the reconcile.
func (w *worker) finished(e End) {
	p := w.pool
	if p.stopping {
		e.Retry = -1 // the queue accepts no more keys
	}
	if e.Retry >= 0 {
		p.retryAt = max(p.retryAt, p.kernel.Elapsed()+e.Retry)
	}
	r := p.kernel.Record(w.id, subjects.KindReconciled)
	r.Key, r.Detail, r.N = w.key, detailOf(e.Outcome, e.Disposition), int64(e.Retry)
	p.kernel.Emit(r)
}

func detailOf(o Outcome, e Disposition) string {
	switch {
	case o == OK:
		return subjects.ReconcileOK
	case o == Failed && e.GivenUp:
		return subjects.ReconcileFailedForGood
	case o == Failed:
		return subjects.ReconcileFailed
	case e.GivenUp:
		return subjects.ReconcilePanickedForGood
	}
	return subjects.ReconcilePanicked
}
