package workqueue

import "time"

// DelayingQueue is a Queue to which items can be added after a delay. The caller tells it the time, and asks it when it
// next wants to be told (I97).
type DelayingQueue[T comparable] struct {
	*Queue[T]
	waiting *Waiting[T]
}

// NewDelayingQueue makes an empty queue. A nil order is first in, first out.
func NewDelayingQueue[T comparable](order Order[T]) *DelayingQueue[T] {
	return &DelayingQueue[T]{Queue: NewQueue(order), waiting: NewWaiting[T]()}
}

// AddAfter adds the item once delay has passed: at once if it is not positive. An item that is waiting already keeps the
// earlier of its times.
func (q *DelayingQueue[T]) AddAfter(now time.Time, item T, delay time.Duration) AddResult {
	if q.ShuttingDown() {
		return AddIgnored
	}
	if delay <= 0 {
		return q.Add(item)
	}
	q.waiting.Add(item, now.Add(delay))
	return AddDelayed
}

// Advance adds the items whose time has come, the earliest first, and returns how many became ready.
func (q *DelayingQueue[T]) Advance(now time.Time) (ready int) {
	for {
		item, due := q.waiting.PopDue(now)
		if !due {
			return ready
		}
		if q.Add(item) == AddReady {
			ready++
		}
	}
}

// NextDeadline is when Advance next has something to add; ok is false if nothing waits.
func (q *DelayingQueue[T]) NextDeadline() (deadline time.Time, ok bool) {
	return q.waiting.NextDeadline()
}

// Waiting is the number of items whose time has not come.
func (q *DelayingQueue[T]) Waiting() int { return q.waiting.Len() }

// ShutDown is Queue.ShutDown; what still waits is lost (I97).
func (q *DelayingQueue[T]) ShutDown() {
	q.Queue.ShutDown()
	q.waiting.Clear()
}

// ShutDownWithDrain is Queue.ShutDownWithDrain; what still waits is lost (I97).
func (q *DelayingQueue[T]) ShutDownWithDrain() {
	q.Queue.ShutDownWithDrain()
	q.waiting.Clear()
}
