package workqueue

import (
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer/workqueue"
)

// heartbeatPeriod bounds how long a due item can be missed if a timer fails (I97).
const heartbeatPeriod = 10 * time.Second

// maxDueBatch bounds how many due items are taken from waiting before workers see the first of them.
const maxDueBatch = 64

// NewDelayingQueue returns a delaying queue without metrics.
//
// Deprecated: use NewTypedDelayingQueue.
func NewDelayingQueue() DelayingInterface { return NewDelayingQueueWithConfig(DelayingQueueConfig{}) }

// NewDelayingQueueWithConfig returns a delaying queue.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithConfig(config DelayingQueueConfig) DelayingInterface {
	return NewTypedDelayingQueueWithConfig(config)
}

// NewDelayingQueueWithCustomQueue returns a delaying queue over the given one.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithCustomQueue(q Interface, name string) DelayingInterface {
	return NewDelayingQueueWithConfig(DelayingQueueConfig{Name: name, Queue: q})
}

// NewNamedDelayingQueue returns a delaying queue whose metrics bear the name.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewNamedDelayingQueue(name string) DelayingInterface {
	return NewDelayingQueueWithConfig(DelayingQueueConfig{Name: name})
}

// NewDelayingQueueWithCustomClock returns a delaying queue that runs on the given clock.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithCustomClock(clock clock.WithTicker, name string) DelayingInterface {
	return NewDelayingQueueWithConfig(DelayingQueueConfig{Name: name, Clock: clock})
}

// TypedNewDelayingQueue is NewTypedDelayingQueue.
//
// Deprecated: use NewTypedDelayingQueue.
func TypedNewDelayingQueue[T comparable]() TypedDelayingInterface[T] {
	return NewTypedDelayingQueue[T]()
}

// NewTypedDelayingQueue returns a delaying queue without metrics.
func NewTypedDelayingQueue[T comparable]() TypedDelayingInterface[T] {
	return NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[T]{})
}

// NewTypedDelayingQueueWithConfig returns a delaying queue. It runs a goroutine, which ShutDown ends; after
// ShutDownWithDrain the goroutine ends when it next wakes, within 10 seconds (I98).
func NewTypedDelayingQueueWithConfig[T comparable](config TypedDelayingQueueConfig[T]) TypedDelayingInterface[T] {
	logger := klog.Background()
	if config.Logger != nil {
		logger = *config.Logger
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	if config.Queue == nil {
		config.Queue = NewTypedWithConfig(TypedQueueConfig[T]{
			Name: config.Name, MetricsProvider: config.MetricsProvider, Clock: config.Clock,
		})
	}
	q := &delayingQueue[T]{
		TypedInterface: config.Queue,
		clock:          config.Clock,
		heartbeat:      config.Clock.NewTicker(heartbeatPeriod),
		retries:        newRetryMetric(config.Name, config.MetricsProvider),
		waiting:        workqueue.NewWaiting[T](),
		wake:           make(chan struct{}, 1),
		stop:           make(chan struct{}),
	}
	go q.run(logger)
	return q
}

// delayingQueue adds delays to any queue. Its goroutine sleeps until the first item is due.
type delayingQueue[T comparable] struct {
	TypedInterface[T]
	clock     clock.WithTicker
	heartbeat clock.Ticker
	retries   CounterMetric // nil: not counted

	mu      sync.Mutex
	waiting *workqueue.Waiting[T]
	stopped bool // the goroutine has ended and takes nothing from waiting any more
	due     []T  // taken from waiting, to be added without the lock

	wake     chan struct{} // an item is due earlier than the goroutine sleeps
	stop     chan struct{}
	stopOnce sync.Once
}

// AddAfter adds the item after the delay, or at once if the delay is not positive (I97). It is a no-op once the queue is
// shutting down.
func (q *delayingQueue[T]) AddAfter(item T, duration time.Duration) {
	if q.ShuttingDown() {
		return
	}
	if q.retries != nil {
		q.retries.Inc()
	}
	if duration <= 0 {
		q.Add(item)
		return
	}
	if q.addWaiting(item, q.clock.Now().Add(duration)) {
		select {
		case q.wake <- struct{}{}:
		default: // it is about to wake anyway
		}
	}
}

// addWaiting adds the item to the waiting ones, and reports whether the caller must wake the goroutine.
func (q *delayingQueue[T]) addWaiting(item T, readyAt time.Time) (earliest bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return false
	}
	before, some := q.waiting.NextDeadline()
	q.waiting.Add(item, readyAt)
	return !some || readyAt.Before(before)
}

// ShutDown shuts the queue down and ends the goroutine; waiting items are lost (I97, I98).
func (q *delayingQueue[T]) ShutDown() {
	q.TypedInterface.ShutDown() // on every call: it may have to end a drain that began since
	q.stopOnce.Do(func() {
		close(q.stop)
		q.heartbeat.Stop()
	})
}

func (q *delayingQueue[T]) run(logger klog.Logger) {
	defer utilruntime.HandleCrashWithLogger(logger)
	defer q.drop()

	alarm := alarm{clock: q.clock}
	defer alarm.stop()
	for !q.ShuttingDown() {
		deadline, now, ok := q.addDue()
		if ok && !deadline.After(now) {
			continue // the batch was full
		}
		alarm.set(deadline, now, ok)
		select {
		case <-q.stop:
			return
		case <-q.heartbeat.C():
		case <-alarm.c:
			alarm.fired()
		case <-q.wake:
		}
	}
}

// addDue adds a batch of the due items, and returns when the next is due; ok is false if none is waiting.
func (q *delayingQueue[T]) addDue() (deadline, now time.Time, ok bool) {
	now = q.clock.Now()
	q.mu.Lock()
	q.due = q.due[:0]
	for len(q.due) < maxDueBatch {
		item, due := q.waiting.PopDue(now)
		if !due {
			break
		}
		q.due = append(q.due, item)
	}
	deadline, ok = q.waiting.NextDeadline()
	q.mu.Unlock()

	// Without the lock: a custom queue's Add may call AddAfter.
	for _, item := range q.due {
		q.Add(item)
	}
	clear(q.due)
	return deadline, now, ok
}

func (q *delayingQueue[T]) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.waiting.Clear()
	q.due = nil
}

// alarm is a timer that is reset only when its deadline changes.
type alarm struct {
	clock    clock.WithTicker
	timer    clock.Timer
	deadline time.Time // for which the timer runs
	c        <-chan time.Time
}

// set makes the alarm fire at the deadline, or never if ok is false.
func (a *alarm) set(deadline, now time.Time, ok bool) {
	if !ok {
		a.stop()
		return
	}
	if a.c != nil && a.deadline.Equal(deadline) {
		return
	}
	a.stop()
	a.timer = a.clock.NewTimer(deadline.Sub(now))
	a.deadline, a.c = deadline, a.timer.C()
}

func (a *alarm) fired() { a.c = nil }

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.timer, a.c = nil, nil
}
