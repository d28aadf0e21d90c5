package stack

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// WorkQueue is the part of a work queue that a worker's loop uses. workqueue.RateLimitingQueue implements it.
type WorkQueue interface {
	Add(key string) workqueue.AddResult
	TryGet() (key string, ok, shutdown bool)
	Done(key string) (readyAgain bool)
	AddRateLimited(now time.Time, key string) time.Duration
	Forget(key string)
	NumRequeues(key string) int
	Advance(now time.Time) (ready int)
	NextDeadline() (deadline time.Time, ok bool)
	Len() int
	ShutDown()
	ShutDownWithDrain()
	Draining() bool
}

// AddWorkers implements subjects.Informer.
func (i *actor) AddWorkers(spec subjects.WorkersSpec) (subjects.Workers, error) {
	name := i.Spec.Name + "/" + spec.Name
	pool, err := workers.NewPool(i.Kernel, spec, workers.Source{Handler: name, Get: i.Get})
	if err != nil {
		return nil, err
	}
	q := &workQueue{informer: i, pool: pool, spec: spec, backsOff: make([]bool, spec.Count)}
	make := i.stack.parts.WorkQueue
	if make == nil {
		make = newWorkQueue
	}
	q.q = make(limiterOf(spec), &readyOrder{q: q})
	pool.Use(q)
	if err := i.addHandler(subjects.HandlerSpec{Name: spec.Name, Resync: spec.Resync}, pool); err != nil {
		return nil, err
	}
	return pool, nil
}

func newWorkQueue(l workqueue.RateLimiter[string], order workqueue.Order[string]) WorkQueue {
	return workqueue.NewRateLimitingQueue(order, l)
}

func limiterOf(spec subjects.WorkersSpec) workqueue.RateLimiter[string] {
	if spec.Base == 0 && spec.Max == 0 {
		return workqueue.DefaultControllerRateLimiter[string]()
	}
	return workqueue.NewItemExponentialFailure[string](spec.Base, spec.Max)
}

// workQueue is the work queue of a controller, with the loops of its workers.
type workQueue struct {
	informer *actor
	pool     *workers.Pool
	spec     subjects.WorkersSpec
	q        WorkQueue
	backsOff []bool // by worker: a panic has ended its loop
	waiting  []int  // the workers that wait in Get, as long as they do
	signals  int    // to them; each wakes one
	down     bool   // a shutdown wakes them all
	timer    clock.Timer
	timerAt  time.Time
}

var _ workers.Queue = (*workQueue)(nil)

// readyOrder is the order of arrival; it notes each key that becomes ready.
type readyOrder struct {
	q    *workQueue
	keys workqueue.Ring[string]
}

func (*readyOrder) Touch(string)  {}
func (o *readyOrder) Len() int    { return o.keys.Len() }
func (o *readyOrder) Pop() string { return o.keys.Pop() }
func (o *readyOrder) Push(key string) {
	o.keys.Push(key)
	o.q.signals++
	o.q.pool.NoteReady(key)
}

// Add implements workers.Queue.
func (w *workQueue) Add(key string) { w.q.Add(key) }

// Len implements workers.Queue.
func (w *workQueue) Len() int { return w.q.Len() }

// Idle implements workers.Queue.
func (w *workQueue) Idle(worker int) bool { return !w.backsOff[worker] && !w.pool.Working(worker) }

// Begin implements workers.Queue.
func (w *workQueue) Begin(int) (string, bool) {
	key, ok, _ := w.q.TryGet()
	return key, ok
}

// Wait implements workers.Queue. The queue has no Get that blocks, so what a condition variable would do is done here: each key that becomes ready
// wakes the worker that has waited longest (I114).
func (w *workQueue) Wait(worker int) { w.waiting = append(w.waiting, worker) }

// Woken implements workers.Queue.
func (w *workQueue) Woken() (worker int, key string, ok, any bool) {
	if len(w.waiting) == 0 || w.signals == 0 && !w.down {
		w.signals = 0 // nobody was there to be woken
		return 0, "", false, false
	}
	w.signals = max(0, w.signals-1)
	worker = w.waiting[0]
	w.waiting = w.waiting[1:]
	key, ok, _ = w.q.TryGet()
	return worker, key, ok, true
}

// End implements workers.Queue.
func (w *workQueue) End(worker int, key string, o workers.Outcome) workers.Disposition {
	e := workers.Disposition{Retry: -1}
	switch {
	case o == workers.OK:
		w.q.Forget(key)
	case o == workers.Panicked && w.spec.Crash:
		w.backOff(worker)
	case w.spec.Retries > 0 && w.q.NumRequeues(key) >= w.spec.Retries:
		w.q.Forget(key)
		e.GivenUp = true
	default:
		e.Retry = w.q.AddRateLimited(w.informer.now(), key)
	}
	w.q.Done(key)
	w.arm()
	return e
}

// backOff makes a worker back off after a panic has ended its loop.
func (w *workQueue) backOff(worker int) {
	w.backsOff[worker] = true
	w.informer.Kernel.Clock().AfterFunc(subjects.CrashBackoff, func() {
		w.backsOff[worker] = false
		w.pool.Offer()
	})
}

// ShutDown implements workers.Queue.
func (w *workQueue) ShutDown() {
	w.down = true
	w.q.ShutDown()
	w.arm()
}

// ShutDownWithDrain implements workers.Queue.
func (w *workQueue) ShutDownWithDrain() {
	w.down = true
	w.q.ShutDownWithDrain()
	w.arm()
}

// Draining implements workers.Queue.
func (w *workQueue) Draining() bool { return w.q.Draining() }

// arm sets the timer to when the next delayed key is due.
func (w *workQueue) arm() {
	at, any := w.q.NextDeadline()
	if !any {
		at = time.Time{}
	}
	if at.Equal(w.timerAt) {
		return
	}
	w.timerAt = at
	switch {
	case !any:
		w.timer.Stop()
	case w.timer == nil:
		w.timer = w.informer.Kernel.Clock().AfterFunc(at.Sub(w.informer.now()), w.ring)
	default:
		w.timer.Reset(at.Sub(w.informer.now()))
	}
}

func (w *workQueue) ring() {
	w.timerAt = time.Time{}
	w.q.Advance(w.informer.now())
	w.arm()
	w.pool.OfferSince(w.informer.Kernel.InstantStamp())
}
