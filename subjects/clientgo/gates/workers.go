package gates

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// workQueue is client-go's work queue, with goroutines that run every controller's usual loop over it.
type workQueue struct {
	g       *Gates
	n       int
	spec    WorkersSpec
	q       keyQueue
	limiter *limiter
	cancel  context.CancelFunc
	workers []*worker
	length  int  // told before
	drained bool // and not told yet; guarded by the gates' mu
	observed
}

// worker is one worker. Its goroutine waits before it takes a key, and inside every reconcile.
type worker struct {
	q      *workQueue
	n      int
	cancel context.CancelFunc
	admit  chan struct{} // buffered: lets the loop take a key
	result chan Outcome  // buffered: how the reconcile ends

	// Guarded by the gates' mu.
	changed bool // since it was told
	idle    bool
	key     string // reconciled now or, by an idle one, last; "" in Get
	ended   bool
	retry   delay // of the last key; -1 for none
	givenUp bool
}

// answers are a limiter's last ones, for the records of reconciles. They have an order, which the turn says.
type answers struct {
	g    *Gates
	mu   sync.Mutex
	turn int64
	last map[string]delay // guarded by the gates' mu
}

// note asks the limiter about a key, and keeps what it says.
func (a *answers) note(key string, when func() time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := when()
	a.turn++
	a.g.mu.Lock()
	a.last[key] = delay{d, a.turn}
	a.g.mu.Unlock()
	return d
}

// delay is an answer of the limiter, with how many it has given until then.
type delay struct {
	time.Duration
	turn int64
}

// NewQueue creates a work queue, the next one by number, and its workers. Each is ready to take a key when it returns.
func (g *Gates) NewQueue(spec WorkersSpec) {
	w := &workQueue{g: g, n: len(g.queues), spec: spec}
	w.build()
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	for n := range spec.Count {
		ctx, cancel := context.WithCancel(ctx)
		k := &worker{q: w, n: n, cancel: cancel, admit: make(chan struct{}, 1), result: make(chan Outcome, 1)}
		w.workers = append(w.workers, k)
		go wait.UntilWithContext(ctx, k.run, time.Second)
	}
	g.queues = append(g.queues, w)
	g.Quiesce()
}

// AddKey adds a key to a work queue.
func (g *Gates) AddKey(queue int, key string) {
	w := g.queues[queue]
	w.q.Add(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	w.report()
}

// Admit lets a worker take a key.
func (g *Gates) Admit(queue, worker int) { g.queues[queue].workers[worker].admit <- struct{}{} }

// Finish ends a worker's reconcile.
func (g *Gates) Finish(queue, worker int, o Outcome) { g.queues[queue].workers[worker].result <- o }

// ShutDown shuts a work queue down.
func (g *Gates) ShutDown(queue int) { g.queues[queue].q.ShutDown() }

// ShutDownWithDrain has a goroutine shut a work queue down and wait until it has drained.
func (g *Gates) ShutDownWithDrain(queue int) {
	w := g.queues[queue]
	go func() {
		drain(w.q)
		g.mu.Lock()
		w.drained = true
		g.mu.Unlock()
		g.b.Note()
	}()
}

// run is every controller's usual loop.
func (k *worker) run(ctx context.Context) {
	for k.next(ctx) {
	}
}

func (k *worker) next(ctx context.Context) bool {
	if !k.pass(ctx) {
		return false
	}
	q := k.q.q
	key, shutdown := k.q.get()
	if shutdown {
		k.note(func() { k.ended = true })
		k.cancel()
		return false
	}
	defer q.Done(key)
	k.note(func() { k.retry, k.givenUp = delay{Duration: -1}, false })
	switch err := k.reconcile(ctx, key); {
	case err == nil:
		q.Forget(key)
	case k.q.spec.Retries > 0 && q.NumRequeues(key) >= k.q.spec.Retries:
		q.Forget(key)
		k.note(func() { k.givenUp = true })
	default:
		q.AddRateLimited(key)
		k.note(func() { k.retry = k.q.limiter.last[key] })
	}
	return true
}

// pass waits until the kernel lets the worker take a key, and returns false when the run is over.
func (k *worker) pass(ctx context.Context) bool {
	k.note(func() { k.idle = true })
	defer k.note(func() { k.idle, k.key = false, "" })
	select {
	case <-k.admit:
		return true
	case <-ctx.Done():
		return false
	}
}

var errReconcile = errors.New("reconcile failed: injected by the scenario")

// reconcile waits until the kernel ends it. A panic becomes an error, unless the workers are to crash.
func (k *worker) reconcile(ctx context.Context, key string) (err error) {
	if !k.q.spec.Crash {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
	}
	k.note(func() { k.key = key })
	select {
	case o := <-k.result:
		switch o {
		case Failed:
			return errReconcile
		case Panicked:
			panic(injectedPanic{key})
		}
	case <-ctx.Done():
	}
	return nil
}

// note notes something for the kernel's side.
func (k *worker) note(f func()) {
	g := k.q.g
	g.mu.Lock()
	f()
	k.changed = true
	g.mu.Unlock()
	g.b.Note()
}

// report tells what has become of a work queue. It is called with mu held.
func (w *workQueue) report() {
	g := w.g
	for _, key := range w.newlyReady() {
		g.say(Event{What: Ready, Of: w.n, Key: key})
	}
	if n := w.q.Len(); n != w.length {
		w.length = n
		g.say(Event{What: Length, Of: w.n, N: int64(n)})
	}
	if w.drained {
		w.drained = false
		g.say(Event{What: Drained, Of: w.n})
	}
	for _, k := range w.workers {
		if !k.changed {
			continue
		}
		k.changed = false
		e := Event{What: Worker, Of: w.n, Sub: k.n, Flag: k.idle, Key: k.key, ID: int64(k.retry.Duration), N: k.retry.turn << TurnShift}
		if k.ended {
			e.N |= Ended
		}
		if k.givenUp {
			e.N |= GivenUp
		}
		g.say(e)
	}
}
