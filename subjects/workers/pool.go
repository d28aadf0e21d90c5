package workers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Outcome is how a reconcile ends.
type Outcome uint8

// The outcomes of a reconcile.
const (
	OK Outcome = iota
	Failed
	Panicked
)

// Ended is what a worker's loop has done about an outcome.
type Ended struct {
	Retry   time.Duration // after which the key is tried again; -1 if it is not
	GivenUp bool          // it was retried as often as it may be
}

// Queue is an engine's work queue, with the loops that its workers run over it.
type Queue interface {
	// Add adds a key, as an event handler does.
	Add(key string)
	// Len is the number of keys that are ready.
	Len() int
	// Idle tells whether that worker's loop is where it takes a key.
	Idle(worker int) bool
	// Begin has an idle worker take a key. It is called when one is ready or the queue is shut down; ok is false when the
	// queue has ended, and with it the worker.
	Begin(worker int) (key string, ok bool)
	// End has the worker's reconcile of the key return.
	End(worker int, key string, o Outcome) Ended
	// ShutDown shuts it down.
	ShutDown()
}

// Source is where the workers' keys come from.
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

	started, held, stopping, stopped bool

	ready   []string      // that have become ready and are not noted yet
	retryAt time.Duration // when the last of the keys that wait has its time
	since   uint64        // how old what is offered next is; 0 for new
}

var _ subjects.Workers = (*Pool)(nil)

// NewPool makes the workers; the engine calls Use before anything else. It is called within a step.
func NewPool(k *sim.Kernel, spec subjects.WorkersSpec, source Source) (*Pool, error) {
	if spec.Count < 1 {
		return nil, fmt.Errorf("workers %s: there must be one at least, not %d", spec.Name, spec.Count)
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

// poolActor stands for the pool in records. It offers nothing.
type poolActor struct{ p *Pool }

func (a poolActor) Name() string   { return a.p.spec.Name }
func (poolActor) Apply(sim.Choice) {}

func (p *Pool) say(detail string) {
	r := p.kernel.Record(p.id, subjects.KindWorkers)
	r.Detail = detail
	p.kernel.Emit(r)
}

// Start lets the workers take keys: what they have waited for has synced.
func (p *Pool) Start() {
	p.started = true
	p.say(subjects.WorkersStarted)
	p.Offer()
}

// Add adds a key that the handler was told of.
func (p *Pool) Add(key string) {
	r := p.kernel.Record(p.id, subjects.KindEnqueue)
	r.Key = key
	p.kernel.Emit(r)
	p.queue.Add(key)
	p.Offer()
}

// NoteReady says that a key has become ready. The engine calls Offer when that is over.
func (p *Pool) NoteReady(key string) { p.ready = append(p.ready, key) }

// Offer notes what has become ready, and offers what workers can do now.
func (p *Pool) Offer() {
	p.flush()
	for _, w := range p.workers {
		w.offer()
	}
}

// OfferSince is Offer for what became possible at that stamp.
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
	if p.stopping {
		return
	}
	p.stopping, p.started = true, true // who waits for a sync stops waiting
	p.retryAt = 0
	p.say(subjects.WorkersStopping)
	p.queue.ShutDown()
	p.Offer()
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
		if w.busy || !p.queue.Idle(w.n) {
			return true
		}
	}
	return false
}

// Working tells whether a worker is reconciling something.
func (p *Pool) Working(n int) bool { return p.workers[n].busy }

func (p *Pool) revision(key string) int64 {
	obj, ok := p.source.Get(key)
	if !ok {
		return 0
	}
	return subjects.RevisionOf(obj)
}

// ended is called when a worker has found its queue shut down and empty.
func (p *Pool) ended() {
	for _, w := range p.workers {
		if !w.gone {
			return
		}
	}
	p.stopped = true
	p.say(subjects.WorkersStopped)
}
