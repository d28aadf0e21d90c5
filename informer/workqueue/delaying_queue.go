package workqueue

import "time"

// DelayingQueue is a Queue to which items can be added after a delay. The caller passes in the time and asks for the next
// deadline (I97).
type DelayingQueue[T comparable] struct {
	*Queue[T]
	waiting *Waiting[T]
}

// NewDelayingQueue returns an empty queue. A nil order is first in, first out.
func NewDelayingQueue[T comparable](order Order[T]) *DelayingQueue[T] {
	return &DelayingQueue[T]{Queue: NewQueue(order), waiting: NewWaiting[T]()}
}

// AddAfter adds the item after delay, or at once if delay is not positive. An item that is already waiting keeps the
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

// Advance adds the items that are due, earliest first, and returns how many became ready.
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

// NextDeadline returns when the next item is due; ok is false if none is waiting.
func (q *DelayingQueue[T]) NextDeadline() (deadline time.Time, ok bool) {
	return q.waiting.NextDeadline()
}

// Waiting returns the number of items that are not yet due.
func (q *DelayingQueue[T]) Waiting() int { return q.waiting.Len() }

// ShutDown is Queue.ShutDown; waiting items are lost (I97).
func (q *DelayingQueue[T]) ShutDown() {
	q.Queue.ShutDown()
	q.waiting.Clear()
}

// ShutDownWithDrain is Queue.ShutDownWithDrain; waiting items are lost (I97).
func (q *DelayingQueue[T]) ShutDownWithDrain() {
	q.Queue.ShutDownWithDrain()
	q.waiting.Clear()
}
