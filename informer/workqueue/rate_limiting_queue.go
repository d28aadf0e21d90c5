package workqueue

import "time"

// RateLimitingQueue is a DelayingQueue whose retry delays come from a RateLimiter.
type RateLimitingQueue[T comparable] struct {
	*DelayingQueue[T]
	limiter RateLimiter[T]
}

// NewRateLimitingQueue returns an empty queue. A nil order is first in, first out; a nil limiter selects the default (I99).
func NewRateLimitingQueue[T comparable](order Order[T], limiter RateLimiter[T]) *RateLimitingQueue[T] {
	if limiter == nil {
		limiter = DefaultControllerRateLimiter[T]()
	}
	return &RateLimitingQueue[T]{DelayingQueue: NewDelayingQueue(order), limiter: limiter}
}

// AddRateLimited adds the item after the limiter's delay, and returns that delay. As in client-go, the limiter counts the
// retry even if the queue is shutting down.
func (q *RateLimitingQueue[T]) AddRateLimited(now time.Time, item T) time.Duration {
	delay := q.limiter.When(now, item)
	q.AddAfter(now, item, delay)
	return delay
}

// Forget makes the limiter forget the item's retries. The caller must still call Done.
func (q *RateLimitingQueue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues returns the number of retries since the item was last forgotten.
func (q *RateLimitingQueue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }
