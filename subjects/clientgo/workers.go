package clientgo

import (
	"cmp"
	"slices"
	"time"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/subjects/workers"
)

// workQueue is client-go's work queue, with its workers.
type workQueue struct {
	s       *Subject
	n       int // its number on the other side
	pool    *workers.Pool
	workers []workerState
	threads []int // the other side's number of each worker
	length  int
	ready   []string // keys that have become ready and are not passed on yet
	waiting []int    // workers that wait in Get, in the order in which they began to
	woken   []int    // those of them whose Get has returned

	draining bool // somebody waits in ShutDownWithDrain
}

// workerState is what is known of one worker.
type workerState struct {
	idle  bool
	key   string // reconciled now or, of an idle one, last
	ended bool
	last  workers.Disposition // of the last reconcile
	turn  int64               // of its retry: which answer of the limiter it was
}

var _ workers.Queue = (*workQueue)(nil)

// AddWorkers implements subjects.Informer.
func (i *actor) AddWorkers(spec subjects.WorkersSpec) (subjects.Workers, error) {
	name := i.Spec.Name + "/" + spec.Name
	pool, err := workers.NewPool(i.Kernel, spec, workers.Source{Handler: name, Get: i.Get})
	if err != nil {
		return nil, err
	}
	w := &workQueue{s: i.s, n: len(i.s.queues), pool: pool, workers: make([]workerState, spec.Count), threads: make([]int, spec.Count)}
	for n := range w.threads {
		w.threads[n] = n
	}
	i.s.queues = append(i.s.queues, w)
	pool.Use(w)
	if i.s.side.Interleaved() {
		pool.EndTogether(w.endTogether)
	}
	i.s.side.NewQueue(gates.WorkersSpec{Count: spec.Count, Base: spec.Base, Max: spec.Max, Retries: spec.Retries, Crash: spec.Crash})
	i.s.touch()
	if err := i.addHandler(subjects.HandlerSpec{Name: spec.Name, Resync: spec.Resync}, pool); err != nil {
		return nil, err
	}
	return pool, nil
}

// deliver notes what has happened to the queue.
func (w *workQueue) deliver(e *gates.Event) {
	switch e.What {
	case gates.Ready:
		w.ready = append(w.ready, e.Key)
	case gates.Length:
		w.length = int(e.N)
	case gates.Drained:
		w.draining = false
	case gates.Worker:
		w.workers[e.Sub] = workerState{
			idle: e.Flag, key: e.Key, ended: e.N&gates.Ended != 0,
			last: workers.Disposition{Retry: time.Duration(e.ID), GivenUp: e.N&gates.GivenUp != 0}, turn: e.N >> gates.TurnShift,
		}
	}
}

// Add implements workers.Queue.
func (w *workQueue) Add(key string) {
	w.s.side.AddKey(w.n, key)
	if len(w.waiting) > 0 {
		w.quiesce() // one of them may get it
		return
	}
	w.noteReady()
}

// noteReady passes on the keys that have become ready, and notes who has got them already.
func (w *workQueue) noteReady() {
	for _, key := range w.ready {
		w.pool.NoteReady(key)
	}
	w.noteWoken()
	w.ready = w.ready[:0]
}

// noteWoken notes whose Get has returned: those that have waited longest. In client-go it may be others, since it also wakes a worker when nothing
// is left to do, for those who wait for that; and when several keys become ready at one instant, as retries do, it is for Go's scheduler to say which
// worker gets which. All of them are alike, so who is who is decided here.
func (w *workQueue) noteWoken() {
	var threads, others []int
	for _, n := range w.waiting {
		if k := w.of(n); k.key != "" || k.ended {
			threads = append(threads, w.threads[n])
		} else {
			others = append(others, w.threads[n])
		}
	}
	if len(threads) == 0 {
		return
	}
	rank := func(thread int) int { return slices.Index(w.ready, w.workers[thread].key) }
	slices.SortStableFunc(threads, func(a, b int) int { return rank(a) - rank(b) })
	for n, thread := range append(threads, others...) {
		w.threads[w.waiting[n]] = thread
	}
	w.woken = append(w.woken, w.waiting[:len(threads)]...)
	w.waiting = w.waiting[len(threads):]
}

// of returns what is known of a worker.
func (w *workQueue) of(worker int) *workerState { return &w.workers[w.threads[worker]] }

// Len implements workers.Queue.
func (w *workQueue) Len() int { return w.length }

// Idle implements workers.Queue.
func (w *workQueue) Idle(worker int) bool { return w.of(worker).idle }

// Begin implements workers.Queue.
func (w *workQueue) Begin(worker int) (key string, ok bool) {
	w.s.side.Admit(w.n, w.threads[worker])
	w.quiesce()
	k := w.of(worker)
	return k.key, !k.ended
}

// Wait implements workers.Queue.
func (w *workQueue) Wait(worker int) {
	w.s.side.Admit(w.n, w.threads[worker])
	w.quiesce()
	w.waiting = append(w.waiting, worker)
}

// Woken implements workers.Queue.
func (w *workQueue) Woken() (worker int, key string, ok, any bool) {
	if len(w.woken) == 0 {
		return 0, "", false, false
	}
	worker = w.woken[0]
	w.woken = w.woken[1:]
	k := w.of(worker)
	return worker, k.key, !k.ended, true
}

var outcomes = [...]gates.Outcome{workers.OK: gates.OK, workers.Failed: gates.Failed, workers.Panicked: gates.Panicked}

// End implements workers.Queue.
func (w *workQueue) End(worker int, _ string, o workers.Outcome) workers.Disposition {
	w.s.side.Finish(w.n, w.threads[worker], outcomes[o])
	w.quiesce()
	return w.of(worker).last
}

// endTogether makes the reconciles of several workers return in one step, in which their goroutines are interleaved. They are put into the order
// in which they have asked the limiter, whose answers may depend on it.
func (w *workQueue) endTogether(ends []workers.End) {
	for _, e := range ends {
		w.s.side.Finish(w.n, w.threads[e.Worker], outcomes[e.Outcome])
	}
	w.quiesce()
	for n := range ends {
		ends[n].Disposition = w.of(ends[n].Worker).last
	}
	slices.SortStableFunc(ends, func(a, b workers.End) int { return cmp.Compare(w.of(a.Worker).turn, w.of(b.Worker).turn) })
}

// ShutDown implements workers.Queue.
func (w *workQueue) ShutDown() {
	w.s.side.ShutDown(w.n)
	w.quiesce()
}

// ShutDownWithDrain implements workers.Queue. Client-go's blocks until the queue has drained.
func (w *workQueue) ShutDownWithDrain() {
	w.draining = true
	w.s.side.ShutDownWithDrain(w.n)
	w.quiesce()
}

// Draining implements workers.Queue.
func (w *workQueue) Draining() bool { return w.draining }

func (w *workQueue) quiesce() {
	w.s.quiesce()
	w.noteReady()
}

// collect notes, while the bubble is quiescent, what the passing of time has done.
func (w *workQueue) collect() {
	w.noteReady()
	if w.s.passed {
		w.pool.OfferSince(w.s.stamp)
		return
	}
	w.pool.Offer()
}
