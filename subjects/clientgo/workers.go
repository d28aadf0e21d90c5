package clientgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// workQueue is client-go's work queue, with goroutines that run every controller's usual loop over it.
type workQueue struct {
	s       *Subject
	pool    *workers.Pool
	spec    subjects.WorkersSpec
	q       workqueue.TypedRateLimitingInterface[string]
	limiter *limiter
	cancel  context.CancelFunc
	workers []*goWorker

	// Noted by goroutines, guarded by the bubble's mu.
	ready []string
}

var _ workers.Queue = (*workQueue)(nil)

// goWorker is one worker. Its goroutine waits before it takes a key, and inside every reconcile.
type goWorker struct {
	q      *workQueue
	cancel context.CancelFunc
	admit  chan struct{}        // buffered: lets the loop take a key
	result chan workers.Outcome // buffered: how the reconcile ends

	// Guarded by the bubble's mu.
	idle  bool
	key   string // reconciled now; "" for none
	ended bool
	last  workers.Disposition // of the last reconcile
}

// AddWorkers implements subjects.Informer.
func (i *actor) AddWorkers(spec subjects.WorkersSpec) (subjects.Workers, error) {
	name := i.Spec.Name + "/" + spec.Name
	pool, err := workers.NewPool(i.Kernel, spec, workers.Source{Handler: name, Get: i.Get})
	if err != nil {
		return nil, err
	}
	w := &workQueue{s: i.s, pool: pool, spec: spec, limiter: &limiter{TypedRateLimiter: limiterOf(spec)}}
	ready := &readyOrder{w: w, Queue: workqueue.DefaultQueue[string]()}
	plain := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: ready})
	w.q = workqueue.NewTypedRateLimitingQueueWithConfig(w.limiter, workqueue.TypedRateLimitingQueueConfig[string]{
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Queue: plain}),
	})
	pool.Use(w)
	w.start()
	i.s.queues = append(i.s.queues, w)
	if err := i.addHandler(subjects.HandlerSpec{Name: spec.Name, Resync: spec.Resync}, pool); err != nil {
		return nil, err
	}
	return pool, nil
}

func limiterOf(spec subjects.WorkersSpec) workqueue.TypedRateLimiter[string] {
	if spec.Base == 0 && spec.Max == 0 {
		return workqueue.DefaultTypedControllerRateLimiter[string]()
	}
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](spec.Base, spec.Max)
}

// start starts the goroutines, and waits until each is ready to take a key.
func (w *workQueue) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	for range w.spec.Count {
		ctx, cancel := context.WithCancel(ctx)
		g := &goWorker{q: w, cancel: cancel, admit: make(chan struct{}, 1), result: make(chan workers.Outcome, 1)}
		w.workers = append(w.workers, g)
		go wait.UntilWithContext(ctx, g.run, time.Second)
	}
	w.s.gate.touch()
	w.s.gate.Quiesce()
}

// readyOrder is client-go's order of arrival; it notes each key that becomes ready.
type readyOrder struct {
	w *workQueue
	workqueue.Queue[string]
}

// Push implements workqueue.Queue.
func (o *readyOrder) Push(key string) {
	o.Queue.Push(key)
	b := o.w.s.gate
	b.mu.Lock()
	o.w.ready = append(o.w.ready, key)
	b.mu.Unlock()
	b.Note()
}

// limiter is client-go's limiter; it remembers its last answer for the record of the reconcile.
type limiter struct {
	workqueue.TypedRateLimiter[string]
	last time.Duration
}

// When implements workqueue.TypedRateLimiter. Only one worker runs at a time.
func (l *limiter) When(key string) time.Duration {
	l.last = l.TypedRateLimiter.When(key)
	return l.last
}

// run is every controller's usual loop.
func (g *goWorker) run(ctx context.Context) {
	for g.next(ctx) {
	}
}

func (g *goWorker) next(ctx context.Context) bool {
	if !g.pass(ctx) {
		return false
	}
	key, shutdown := g.q.q.Get()
	if shutdown {
		g.note(func() { g.ended = true })
		g.cancel()
		return false
	}
	defer g.q.q.Done(key)
	g.note(func() { g.last = workers.Disposition{Retry: -1} })
	switch err := g.reconcile(ctx, key); {
	case err == nil:
		g.q.q.Forget(key)
	case g.q.spec.Retries > 0 && g.q.q.NumRequeues(key) >= g.q.spec.Retries:
		g.q.q.Forget(key)
		g.note(func() { g.last.GivenUp = true })
	default:
		g.q.q.AddRateLimited(key)
		g.note(func() { g.last.Retry = g.q.limiter.last })
	}
	return true
}

// pass waits until the kernel lets the worker take a key, and returns false when the run is over.
func (g *goWorker) pass(ctx context.Context) bool {
	g.note(func() { g.idle = true })
	defer g.note(func() { g.idle = false })
	select {
	case <-g.admit:
		return true
	case <-ctx.Done():
		return false
	}
}

var errReconcile = errors.New("reconcile failed: injected by the scenario")

// reconcile waits until the kernel ends it. A panic becomes an error, unless the workers are to crash.
func (g *goWorker) reconcile(ctx context.Context, key string) (err error) {
	if !g.q.spec.Crash {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
	}
	g.note(func() { g.key = key })
	select {
	case o := <-g.result:
		switch o {
		case workers.Failed:
			return errReconcile
		case workers.Panicked:
			panic(injectedPanic{key})
		}
	case <-ctx.Done():
	}
	return nil
}

// note notes something for the kernel's side.
func (g *goWorker) note(f func()) {
	b := g.q.s.gate
	b.mu.Lock()
	f()
	b.mu.Unlock()
	b.Note()
}

// locked calls f with the lock held.
func (w *workQueue) locked(f func()) {
	w.s.gate.mu.Lock()
	defer w.s.gate.mu.Unlock()
	f()
}

// Add implements workers.Queue.
func (w *workQueue) Add(key string) {
	w.q.Add(key)
	w.noteReady()
}

// noteReady passes on the keys that have become ready.
func (w *workQueue) noteReady() {
	w.locked(func() {
		for _, key := range w.ready {
			w.pool.NoteReady(key)
		}
		w.ready = w.ready[:0]
	})
}

// Len implements workers.Queue.
func (w *workQueue) Len() int { return w.q.Len() }

// Idle implements workers.Queue.
func (w *workQueue) Idle(worker int) (idle bool) {
	g := w.workers[worker]
	w.locked(func() { idle = g.idle })
	return idle
}

// Begin implements workers.Queue.
func (w *workQueue) Begin(worker int) (key string, ok bool) {
	g := w.workers[worker]
	g.admit <- struct{}{}
	w.quiesce()
	w.locked(func() { key, ok = g.key, !g.ended })
	return key, ok
}

// End implements workers.Queue.
func (w *workQueue) End(worker int, _ string, o workers.Outcome) (e workers.Disposition) {
	g := w.workers[worker]
	g.result <- o
	w.quiesce()
	w.locked(func() { e = g.last })
	return e
}

// ShutDown implements workers.Queue.
func (w *workQueue) ShutDown() {
	w.q.ShutDown()
	w.quiesce()
}

func (w *workQueue) quiesce() {
	w.s.gate.touch()
	w.s.gate.Quiesce()
	w.noteReady()
}

// collect notes, while the bubble is quiescent, what the passing of time has done.
func (w *workQueue) collect() {
	w.noteReady()
	if w.s.gate.passed {
		w.pool.OfferSince(w.s.stamp)
		return
	}
	w.pool.Offer()
}

// close ends the goroutines after the run.
func (w *workQueue) close() {
	w.q.ShutDown()
	w.cancel()
}
