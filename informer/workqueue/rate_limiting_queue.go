package workqueue

import "time"

// RateLimitingQueue is a DelayingQueue that asks a RateLimiter how long a retried item has to wait.
type RateLimitingQueue[T comparable] struct {
	*DelayingQueue[T]
	limiter RateLimiter[T]
}

// NewRateLimitingQueue makes an empty queue. A nil order is first in, first out; a nil limiter is the default one (I99).
func NewRateLimitingQueue[T comparable](order Order[T], limiter RateLimiter[T]) *RateLimitingQueue[T] {
	if limiter == nil {
		limiter = DefaultControllerRateLimiter[T]()
	}
	return &RateLimitingQueue[T]{DelayingQueue: NewDelayingQueue(order), limiter: limiter}
}

// AddRateLimited adds the item after the delay that the limiter gives, and returns that delay. The limiter counts the
// retry even if the queue is shutting down, as in client-go.
func (q *RateLimitingQueue[T]) AddRateLimited(now time.Time, item T) time.Duration {
	delay := q.limiter.When(now, item)
	q.AddAfter(now, item, delay)
	return delay
}

// Forget makes the limiter forget the item's retries. The item must still be given to Done.
func (q *RateLimitingQueue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues is how often the item was retried since it was last forgotten.
func (q *RateLimitingQueue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }
