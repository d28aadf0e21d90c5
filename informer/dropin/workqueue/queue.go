package workqueue

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer/workqueue"
)

// unfinishedWorkPeriod is how often a queue with metrics reports the work in progress.
const unfinishedWorkPeriod = 500 * time.Millisecond

// DefaultQueue returns a Queue in order of arrival.
func DefaultQueue[T comparable]() Queue[T] { return new(workqueue.Ring[T]) }

// Type is an untyped queue.
//
// Deprecated: use Typed.
type Type = Typed[any]

// Typed is the plain queue (I94, I95, I96). Create it with NewTyped or NewTypedWithConfig.
type Typed[t comparable] struct {
	mu sync.Mutex
	// readyCond wakes callers waiting in Get, drainCond those in ShutDownWithDrain.
	readyCond sync.Cond
	drainCond sync.Cond
	queue     *workqueue.Queue[t]
	metrics   *queueMetrics[t] // nil without a name or a provider

	clock    clock.WithTicker
	stop     chan struct{}
	stopOnce sync.Once
	wg       sync.WaitGroup // of the metrics goroutine, if there is one
}

// New returns a queue without metrics.
//
// Deprecated: use NewTyped.
func New() *Type { return NewTyped[any]() }

// NewNamed returns a queue whose metrics bear the name.
//
// Deprecated: use NewTypedWithConfig.
func NewNamed(name string) *Type { return NewTypedWithConfig(QueueConfig{Name: name}) }

// NewWithConfig returns a queue.
//
// Deprecated: use NewTypedWithConfig.
func NewWithConfig(config QueueConfig) *Type { return NewTypedWithConfig(config) }

// NewTyped returns a queue without metrics.
func NewTyped[T comparable]() *Typed[T] { return NewTypedWithConfig(TypedQueueConfig[T]{}) }

// NewTypedWithConfig returns a queue. A queue with a name reports metrics to the config's provider, or to the one set with
// SetProvider. It then runs a goroutine, which ShutDown and ShutDownWithDrain end and wait for.
func NewTypedWithConfig[T comparable](config TypedQueueConfig[T]) *Typed[T] {
	return newTyped(config, unfinishedWorkPeriod)
}

func newTyped[T comparable](config TypedQueueConfig[T], metricsPeriod time.Duration) *Typed[T] {
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	q := &Typed[T]{
		queue:   workqueue.NewQueue[T](config.Queue),
		metrics: newQueueMetrics[T](config.MetricsProvider, config.Name, config.Clock),
		clock:   config.Clock,
		stop:    make(chan struct{}),
	}
	q.readyCond.L, q.drainCond.L = &q.mu, &q.mu
	if q.metrics != nil {
		q.wg.Go(func() { q.reportUnfinishedWork(metricsPeriod) })
	}
	return q
}

// Add marks an item for processing. It is a no-op once the queue is shutting down (I94, I95).
func (q *Typed[T]) Add(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch q.queue.Add(item) {
	case workqueue.AddReady:
		q.metrics.add(item)
		q.readyCond.Signal()
	case workqueue.AddDeferred:
		q.metrics.add(item)
	}
}

// Len returns the number of ready items. It is for information only: it may be outdated by the time the caller reads it.
func (q *Typed[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue.Len()
}

// Get waits for an item. The caller processes it and then calls Done with it. If shutdown is true, there is none and never
// will be (I95).
func (q *Typed[T]) Get() (item T, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		item, ok, shutdown := q.queue.TryGet()
		if ok {
			q.metrics.get(item)
			return item, false
		}
		if shutdown {
			return item, true
		}
		q.readyCond.Wait()
	}
}

// Done ends the processing of an item; if it was added meanwhile it is ready again (I94).
func (q *Typed[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.metrics.done(item)
	if q.queue.Done(item) {
		q.readyCond.Signal()
	}
	if q.queue.ShuttingDown() && !q.queue.Draining() {
		q.drainCond.Broadcast()
	}
}

// ShutDown makes the queue ignore further adds. It still hands out the items it holds. A waiting ShutDownWithDrain returns
// (I95).
func (q *Typed[T]) ShutDown() {
	q.shutDown(q.queue.ShutDown)
	q.wg.Wait()
}

// ShutDownWithDrain is ShutDown that waits until no item is being processed (I96). If Done is never called for an item, it
// waits until ShutDown is called.
func (q *Typed[T]) ShutDownWithDrain() {
	q.shutDown(q.queue.ShutDownWithDrain)
	q.mu.Lock()
	for q.queue.Draining() {
		q.drainCond.Wait()
	}
	q.mu.Unlock()
	q.wg.Wait()
}

func (q *Typed[T]) shutDown(transition func()) {
	q.mu.Lock()
	transition()
	q.readyCond.Broadcast()
	q.drainCond.Broadcast()
	q.mu.Unlock()
	q.stopOnce.Do(func() { close(q.stop) })
}

// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
func (q *Typed[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.queue.ShuttingDown()
}

func (q *Typed[T]) reportUnfinishedWork(period time.Duration) {
	ticker := q.clock.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-q.stop:
			return
		case <-ticker.C():
			q.mu.Lock()
			if !q.queue.ShuttingDown() {
				q.metrics.reportUnfinishedWork()
			}
			q.mu.Unlock()
		}
	}
}
