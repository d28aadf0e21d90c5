package workqueue

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// RateLimiter decides how long an item has to wait before a retry. Unlike client-go's it is passed the time.
// Implementations are not safe for concurrent use.
type RateLimiter[T comparable] interface {
	// When counts a retry of the item and returns how long it has to wait, from now.
	When(now time.Time, item T) time.Duration
	// Forget resets the item's retries after it succeeded or was given up.
	Forget(item T)
	// NumRequeues returns the number of retries since the item was last forgotten.
	NumRequeues(item T) int
}

// The default limiter's numbers (I99).
const (
	DefaultBaseDelay   = 5 * time.Millisecond
	DefaultMaxDelay    = 1000 * time.Second
	DefaultBucketQPS   = 10
	DefaultBucketBurst = 100
)

// DefaultControllerRateLimiter returns a limiter whose delay is the larger of 5ms·2ⁿ per item, at most 1000s, and that of a
// bucket of 100 for all items, refilled at 10 per second (I99).
func DefaultControllerRateLimiter[T comparable]() RateLimiter[T] {
	return MaxOf[T]{
		NewItemExponentialFailure[T](DefaultBaseDelay, DefaultMaxDelay),
		&Bucket[T]{Limiter: rate.NewLimiter(DefaultBucketQPS, DefaultBucketBurst)},
	}
}

// ItemExponentialFailure doubles an item's delay with each retry.
type ItemExponentialFailure[T comparable] struct {
	failures  map[T]int
	baseDelay time.Duration
	maxDelay  time.Duration
}

// NewItemExponentialFailure returns a limiter whose delay for an item's retry n (from 0) is baseDelay·2ⁿ, at most maxDelay.
func NewItemExponentialFailure[T comparable](baseDelay, maxDelay time.Duration) *ItemExponentialFailure[T] {
	return &ItemExponentialFailure[T]{failures: map[T]int{}, baseDelay: baseDelay, maxDelay: maxDelay}
}

// When implements RateLimiter.
func (r *ItemExponentialFailure[T]) When(_ time.Time, item T) time.Duration {
	n := r.failures[item]
	r.failures[item] = n + 1
	// In floating point, because the product overflows an int64 after some 60 retries.
	delay := float64(r.baseDelay.Nanoseconds()) * math.Pow(2, float64(n))
	if delay > math.MaxInt64 {
		return r.maxDelay
	}
	return min(time.Duration(delay), r.maxDelay)
}

// Forget implements RateLimiter.
func (r *ItemExponentialFailure[T]) Forget(item T) { delete(r.failures, item) }

// NumRequeues implements RateLimiter.
func (r *ItemExponentialFailure[T]) NumRequeues(item T) int { return r.failures[item] }

// ItemFastSlow gives an item a short delay for its first retries and a long one afterwards.
type ItemFastSlow[T comparable] struct {
	failures        map[T]int
	fastDelay       time.Duration
	slowDelay       time.Duration
	maxFastAttempts int
}

// NewItemFastSlow returns a limiter whose delay is fastDelay for an item's first maxFastAttempts retries, then slowDelay.
func NewItemFastSlow[T comparable](fastDelay, slowDelay time.Duration, maxFastAttempts int) *ItemFastSlow[T] {
	return &ItemFastSlow[T]{
		failures: map[T]int{}, fastDelay: fastDelay, slowDelay: slowDelay, maxFastAttempts: maxFastAttempts,
	}
}

// When implements RateLimiter.
func (r *ItemFastSlow[T]) When(_ time.Time, item T) time.Duration {
	n := r.failures[item] + 1
	r.failures[item] = n
	if n <= r.maxFastAttempts {
		return r.fastDelay
	}
	return r.slowDelay
}

// Forget implements RateLimiter.
func (r *ItemFastSlow[T]) Forget(item T) { delete(r.failures, item) }

// NumRequeues implements RateLimiter.
func (r *ItemFastSlow[T]) NumRequeues(item T) int { return r.failures[item] }

// Bucket limits all items together with a token bucket; it keeps no state per item.
type Bucket[T comparable] struct {
	*rate.Limiter
}

// When implements RateLimiter. A bucket that can never hold a token (burst 0) returns rate.InfDuration.
func (r *Bucket[T]) When(now time.Time, _ T) time.Duration {
	return r.ReserveN(now, 1).DelayFrom(now)
}

// Forget implements RateLimiter and does nothing.
func (r *Bucket[T]) Forget(T) {}

// NumRequeues implements RateLimiter and returns 0.
func (r *Bucket[T]) NumRequeues(T) int { return 0 }

// MaxOf combines limiters: its delay is the longest of theirs.
type MaxOf[T comparable] []RateLimiter[T]

// When implements RateLimiter.
func (r MaxOf[T]) When(now time.Time, item T) time.Duration {
	var longest time.Duration
	for _, limiter := range r {
		longest = max(longest, limiter.When(now, item))
	}
	return longest
}

// Forget implements RateLimiter.
func (r MaxOf[T]) Forget(item T) {
	for _, limiter := range r {
		limiter.Forget(item)
	}
}

// NumRequeues implements RateLimiter: it returns the largest count of any limiter.
func (r MaxOf[T]) NumRequeues(item T) int {
	var most int
	for _, limiter := range r {
		most = max(most, limiter.NumRequeues(item))
	}
	return most
}

// WithMaxWait caps the delays of another limiter.
type WithMaxWait[T comparable] struct {
	Limiter  RateLimiter[T]
	MaxDelay time.Duration
}

// When implements RateLimiter.
func (r WithMaxWait[T]) When(now time.Time, item T) time.Duration {
	return min(r.Limiter.When(now, item), r.MaxDelay)
}

// Forget implements RateLimiter.
func (r WithMaxWait[T]) Forget(item T) { r.Limiter.Forget(item) }

// NumRequeues implements RateLimiter.
func (r WithMaxWait[T]) NumRequeues(item T) int { return r.Limiter.NumRequeues(item) }
