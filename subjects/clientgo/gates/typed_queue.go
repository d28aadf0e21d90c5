//go:build !no_typed_queues

package gates

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

type keyQueue = workqueue.TypedRateLimitingInterface[string]

// build makes client-go's queue, with hooks for what is observed.
func (w *workQueue) build() {
	w.limiter = &limiter{TypedRateLimiter: limiterOf(w.spec), answers: answers{g: w.g, last: map[string]delay{}}}
	ready := &readyOrder{w: w, Queue: workqueue.DefaultQueue[string]()}
	plain := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: ready})
	w.q = workqueue.NewTypedRateLimitingQueueWithConfig(w.limiter, workqueue.TypedRateLimitingQueueConfig[string]{
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Queue: plain}),
	})
}

func limiterOf(spec WorkersSpec) workqueue.TypedRateLimiter[string] {
	if spec.Base == 0 && spec.Max == 0 {
		return workqueue.DefaultTypedControllerRateLimiter[string]()
	}
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](spec.Base, spec.Max)
}

func (w *workQueue) get() (key string, shutdown bool) { return w.q.Get() }

// readyOrder is client-go's order of arrival; it notes each key that becomes ready.
type readyOrder struct {
	w *workQueue
	workqueue.Queue[string]
}

// Push implements workqueue.Queue.
func (o *readyOrder) Push(key string) {
	o.Queue.Push(key)
	g := o.w.g
	g.mu.Lock()
	o.w.ready = append(o.w.ready, key)
	g.mu.Unlock()
	g.b.Note()
}

// newlyReady returns the keys that have become ready since it was called last. It is called with mu held.
func (w *workQueue) newlyReady() []string {
	ready := w.ready
	w.ready = nil
	return ready
}

// limiter is client-go's limiter; it remembers its last answers for the records of reconciles.
type limiter struct {
	workqueue.TypedRateLimiter[string]
	answers
}

// When implements workqueue.TypedRateLimiter.
func (l *limiter) When(key string) time.Duration {
	return l.note(key, func() time.Duration { return l.TypedRateLimiter.When(key) })
}

// observed is what the queue adds to workQueue.
type observed struct {
	ready []string // noted by goroutines, guarded by the gates' mu
}
