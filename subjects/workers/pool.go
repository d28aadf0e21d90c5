package workers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Outcome is the outcome of a reconcile.
type Outcome uint8

// The outcomes of a reconcile.
const (
	OK Outcome = iota
	Failed
	Panicked
)

// Disposition is what a worker's loop did with a key after its reconcile.
type Disposition struct {
	Retry   time.Duration // the delay until the key is retried; -1 if it is not
	GivenUp bool          // its retries are exhausted
}

// Queue is an engine's work queue, with the loops that its workers run over it.
type Queue interface {
	// Add adds a key, as an event handler does.
	Add(key string)
	// Len is the number of keys that are ready.
	Len() int
	// Idle reports whether the worker's loop is ready to take a key.
	Idle(worker int) bool
	// Begin has an idle worker take a key. It is called when one is ready or the queue is shut down; ok is false if the queue, and
	// with it the worker, has ended.
	Begin(worker int) (key string, ok bool)
	// Wait has an idle worker wait in Get. It is called while no key is ready, before the queue is shut down.
	Wait(worker int)
	// Woken returns the next worker whose Get has returned since, with what Begin would return; any is false if there is none.
	Woken() (worker int, key string, ok, any bool)
	// End makes the worker's reconcile of the key return.
	End(worker int, key string, o Outcome) Disposition
	// ShutDown shuts it down, and ends a drain.
	ShutDown()
	// ShutDownWithDrain shuts it down for somebody who waits until Draining is false.
	ShutDownWithDrain()
	Draining() bool
}

// End is the end of a worker's reconcile, with what became of its key.
type End struct {
	Worker  int
	Outcome Outcome
	Disposition
}

// Source is the informer's side of a pool: the handler that supplies keys, and the Indexer.
type Source struct {
	Handler string // the name of the handler in records, "i1/w1"
	Get     func(key string) (runtime.Object, bool)
}

// Pool are the workers of one controller.
type Pool struct {
	kernel  *sim.Kernel
	spec    subjects.WorkersSpec
	source  Source
	queue   Queue
	id      sim.ActorID
	workers []*worker
	faults  *subjects.CallFaults

	synced, started, held, stopping, draining, stopped bool

	ended       []End       // scratch
	endTogether func([]End) // nil if reconciles end one by one
	allEnd      sim.Toggle

	ready   []string      // keys that became ready and are not recorded yet
	retryAt time.Duration // when the last delayed key is due
	since   uint64        // the stamp of the next offers; 0 for a new one
}

var _ subjects.Workers = (*Pool)(nil)

// NewPool creates the workers. It must be called within a step, and Use before anything else.
func NewPool(k *sim.Kernel, spec subjects.WorkersSpec, source Source) (*Pool, error) {
	if spec.Count < 1 {
		return nil, fmt.Errorf("workers %s: need at least 1 worker, got %d", spec.Name, spec.Count)
	}
	p := &Pool{kernel: k, spec: spec, source: source, faults: subjects.NewCallFaults(k, spec.Name)}
	p.id = k.Register(poolActor{p})
	for n := range spec.Count {
		w := &worker{pool: p, n: n}
		w.id = k.Register(w)
		p.workers = append(p.workers, w)
	}
	return p, nil
}

// Use gives the pool its queue.
func (p *Pool) Use(q Queue) {
	p.queue = q
	r := p.kernel.Record(p.id, subjects.KindWorkers)
	r.Detail, r.Key, r.Obj = subjects.WorkersAdded, p.source.Handler, p.spec
	p.kernel.Emit(r)
}

// EndTogether has the reconciles of several workers end in one step, too, by a choice of its own. The function does what the queue's End does, for all
// of them, and puts them into the order in which it happened.
func (p *Pool) EndTogether(end func([]End)) { p.endTogether = end }

// ReadFrom has the workers read from another Indexer: that of the next life of their informer.
func (p *Pool) ReadFrom(get func(key string) (runtime.Object, bool)) { p.source.Get = get }

// poolActor represents the pool in records. What it offers is the end of several reconciles at once.
type poolActor struct{ p *Pool }

// Name implements sim.Actor.
func (a poolActor) Name() string { return a.p.spec.Name }

// Apply implements sim.Actor.
func (a poolActor) Apply(sim.Choice) {
	p := a.p
	p.allEnd.Taken()
	var all []*worker
	for _, w := range p.workers {
		if w.ending {
			w.ends.Set(p.kernel, w.id, kindFinish, false)
			all = append(all, w)
		}
	}
	p.finish(all)
	p.Offer()
}

func (p *Pool) recordState(detail string) {
	r := p.kernel.Record(p.id, subjects.KindWorkers)
	r.Detail = detail
	p.kernel.Emit(r)
}

// Start lets the workers take keys, now that their handler has synced. That of another life of their informer changes nothing for them.
func (p *Pool) Start() {
	if p.synced {
		return
	}
	p.synced, p.started = true, true
	p.recordState(subjects.WorkersStarted)
	p.Offer()
}

// Add adds the key of a notification.
func (p *Pool) Add(key string) {
	r := p.kernel.Record(p.id, subjects.KindEnqueue)
	r.Key = key
	p.kernel.Emit(r)
	p.queue.Add(key)
	p.Offer()
}

// NoteReady notes that a key has become ready. The engine calls Offer afterwards.
func (p *Pool) NoteReady(key string) { p.ready = append(p.ready, key) }

// Offer records the keys that have become ready, and which workers that waited have got them, and offers the workers' choices.
func (p *Pool) Offer() {
	p.flush()
	for {
		n, key, ok, any := p.queue.Woken()
		if !any {
			break
		}
		p.workers[n].waiting = false
		p.workers[n].got(key, ok)
	}
	for _, w := range p.workers {
		w.offer()
	}
	p.offerAllEnd()
}

// offerAllEnd offers the end of all reconciles that can end, if there are several.
func (p *Pool) offerAllEnd() {
	if p.endTogether == nil {
		return
	}
	n := 0
	for _, w := range p.workers {
		if w.ending {
			n++
		}
	}
	p.allEnd.Set(p.kernel, p.id, kindFinishAll, n > 1)
}

// OfferSince is Offer for choices that became possible at the given stamp.
func (p *Pool) OfferSince(stamp uint64) {
	p.since = stamp
	p.Offer()
	p.since = 0
}

func (p *Pool) flush() {
	for _, key := range p.ready {
		r := p.kernel.Record(p.id, subjects.KindReady)
		r.Key = key
		p.kernel.Emit(r)
	}
	p.ready = p.ready[:0]
}

// Spec implements subjects.Workers.
func (p *Pool) Spec() subjects.WorkersSpec { return p.spec }

// InjectFault implements subjects.Workers.
func (p *Pool) InjectFault(f subjects.CallFault) { p.faults.Inject(f) }

// ClearFaults implements subjects.Workers.
func (p *Pool) ClearFaults() { p.faults.Clear() }

// Hold implements subjects.Workers.
func (p *Pool) Hold() { p.setHeld(true) }

// Release implements subjects.Workers.
func (p *Pool) Release() { p.setHeld(false) }

func (p *Pool) setHeld(held bool) {
	p.held = held
	p.Offer()
}

// Stop implements subjects.Workers.
func (p *Pool) Stop() {
	if p.stopping && p.draining {
		p.recordState(subjects.WorkersStopping)
		p.queue.ShutDown()
		p.noteDrained()
	}
	if !p.stopping {
		p.shutDown(p.queue.ShutDown)
	}
}

// Drain implements subjects.Workers. A queue that is shut down can still be drained.
func (p *Pool) Drain() {
	if p.draining {
		return
	}
	p.draining = true
	if p.stopping {
		p.recordState(subjects.WorkersDraining)
		p.queue.ShutDownWithDrain()
	} else {
		p.shutDown(p.queue.ShutDownWithDrain)
	}
	p.noteDrained()
}

// noteDrained records that a drain is over.
func (p *Pool) noteDrained() {
	if p.draining && !p.queue.Draining() {
		p.draining = false
		p.recordState(subjects.WorkersDrained)
	}
}

// shutDown shuts the queue down.
func (p *Pool) shutDown(how func()) {
	p.stopping, p.started = true, true // workers that wait for the sync stop waiting
	p.retryAt = 0
	p.recordState(subjects.WorkersStopping)
	if p.draining {
		p.recordState(subjects.WorkersDraining)
	}
	how()
	p.noteDrained() // before workers that waited end
	p.Offer()
}

// Waiting implements subjects.Workers.
func (p *Pool) Waiting() (n int) {
	for _, w := range p.workers {
		if w.waiting {
			n++
		}
	}
	return n
}

// Ended implements subjects.Workers.
func (p *Pool) Ended() (n int) {
	for _, w := range p.workers {
		if w.gone {
			n++
		}
	}
	return n
}

// Queued implements subjects.Workers.
func (p *Pool) Queued() int { return p.queue.Len() }

// Busy implements subjects.Workers.
func (p *Pool) Busy() bool {
	if p.stopped {
		return false
	}
	if p.stopping || p.queue.Len() > 0 || p.kernel.Elapsed() < p.retryAt {
		return true
	}
	for _, w := range p.workers {
		if w.busy || !w.waiting && !p.queue.Idle(w.n) {
			return true
		}
	}
	return false
}

// Working reports whether a worker is reconciling a key.
func (p *Pool) Working(n int) bool { return p.workers[n].busy }

func (p *Pool) revision(key string) int64 {
	obj, ok := p.source.Get(key)
	if !ok {
		return 0
	}
	return subjects.RevisionOf(obj)
}

// workerEnded is called when a worker has found its queue shut down and empty.
func (p *Pool) workerEnded() {
	for _, w := range p.workers {
		if !w.gone {
			return
		}
	}
	p.stopped = true
	p.recordState(subjects.WorkersStopped)
}
