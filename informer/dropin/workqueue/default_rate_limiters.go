package workqueue

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/informersim/informersim/informer/workqueue"
)

// The untyped limiters, kept because client-go keeps them.
type (
	// BucketRateLimiter is an untyped TypedBucketRateLimiter.
	//
	// Deprecated: use TypedBucketRateLimiter.
	BucketRateLimiter = TypedBucketRateLimiter[any]
	// ItemExponentialFailureRateLimiter is an untyped TypedItemExponentialFailureRateLimiter.
	//
	// Deprecated: use TypedItemExponentialFailureRateLimiter.
	ItemExponentialFailureRateLimiter = TypedItemExponentialFailureRateLimiter[any]
	// ItemFastSlowRateLimiter is an untyped TypedItemFastSlowRateLimiter.
	//
	// Deprecated: use TypedItemFastSlowRateLimiter.
	ItemFastSlowRateLimiter = TypedItemFastSlowRateLimiter[any]
	// MaxOfRateLimiter is an untyped TypedMaxOfRateLimiter.
	//
	// Deprecated: use TypedMaxOfRateLimiter.
	MaxOfRateLimiter = TypedMaxOfRateLimiter[any]
	// WithMaxWaitRateLimiter is an untyped TypedWithMaxWaitRateLimiter.
	//
	// Deprecated: use TypedWithMaxWaitRateLimiter.
	WithMaxWaitRateLimiter = TypedWithMaxWaitRateLimiter[any]
)

// DefaultControllerRateLimiter is the untyped DefaultTypedControllerRateLimiter.
//
// Deprecated: use DefaultTypedControllerRateLimiter.
func DefaultControllerRateLimiter() RateLimiter { return DefaultTypedControllerRateLimiter[any]() }

// DefaultTypedControllerRateLimiter returns a limiter whose delay is the larger of 5ms·2ⁿ per item, at most 1000s, and that
// of a bucket of 100 for all items, refilled at 10 per second (I99).
func DefaultTypedControllerRateLimiter[T comparable]() TypedRateLimiter[T] {
	return NewTypedMaxOfRateLimiter(
		NewTypedItemExponentialFailureRateLimiter[T](workqueue.DefaultBaseDelay, workqueue.DefaultMaxDelay),
		&TypedBucketRateLimiter[T]{Limiter: rate.NewLimiter(workqueue.DefaultBucketQPS, workqueue.DefaultBucketBurst)},
	)
}

// DefaultItemBasedRateLimiter is the untyped DefaultTypedItemBasedRateLimiter.
//
// Deprecated: use DefaultTypedItemBasedRateLimiter.
func DefaultItemBasedRateLimiter() RateLimiter { return DefaultTypedItemBasedRateLimiter[any]() }

// DefaultTypedItemBasedRateLimiter returns a limiter whose delay is 1ms·2ⁿ per item, at most 1000s.
func DefaultTypedItemBasedRateLimiter[T comparable]() TypedRateLimiter[T] {
	return NewTypedItemExponentialFailureRateLimiter[T](time.Millisecond, workqueue.DefaultMaxDelay)
}

// TypedBucketRateLimiter limits all items together with a token bucket.
type TypedBucketRateLimiter[T comparable] struct {
	*rate.Limiter
}

// When reserves a token and returns the time until it is available.
func (r *TypedBucketRateLimiter[T]) When(item T) time.Duration {
	bucket := workqueue.Bucket[T]{Limiter: r.Limiter}
	return bucket.When(time.Now(), item)
}

// NumRequeues returns 0: a bucket does not track items.
func (r *TypedBucketRateLimiter[T]) NumRequeues(item T) int { return 0 }

// Forget does nothing.
func (r *TypedBucketRateLimiter[T]) Forget(item T) {}

// TypedItemExponentialFailureRateLimiter doubles an item's delay with each retry.
type TypedItemExponentialFailureRateLimiter[T comparable] struct {
	mu      sync.Mutex
	limiter *workqueue.ItemExponentialFailure[T]
}

// NewItemExponentialFailureRateLimiter is the untyped NewTypedItemExponentialFailureRateLimiter.
//
// Deprecated: use NewTypedItemExponentialFailureRateLimiter.
func NewItemExponentialFailureRateLimiter(baseDelay time.Duration, maxDelay time.Duration) RateLimiter {
	return NewTypedItemExponentialFailureRateLimiter[any](baseDelay, maxDelay)
}

// NewTypedItemExponentialFailureRateLimiter returns a limiter whose delay for an item's retry n (from 0) is baseDelay·2ⁿ,
// at most maxDelay.
func NewTypedItemExponentialFailureRateLimiter[T comparable](baseDelay time.Duration, maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedItemExponentialFailureRateLimiter[T]{limiter: workqueue.NewItemExponentialFailure[T](baseDelay, maxDelay)}
}

// When counts a retry and returns its delay.
func (r *TypedItemExponentialFailureRateLimiter[T]) When(item T) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limiter.When(time.Time{}, item)
}

// NumRequeues returns the number of retries since the item was last forgotten.
func (r *TypedItemExponentialFailureRateLimiter[T]) NumRequeues(item T) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limiter.NumRequeues(item)
}

// Forget resets the item's retries.
func (r *TypedItemExponentialFailureRateLimiter[T]) Forget(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limiter.Forget(item)
}

// TypedItemFastSlowRateLimiter gives an item a short delay for its first retries and a long one afterwards.
type TypedItemFastSlowRateLimiter[T comparable] struct {
	mu      sync.Mutex
	limiter *workqueue.ItemFastSlow[T]
}

// NewItemFastSlowRateLimiter is the untyped NewTypedItemFastSlowRateLimiter.
//
// Deprecated: use NewTypedItemFastSlowRateLimiter.
func NewItemFastSlowRateLimiter(fastDelay, slowDelay time.Duration, maxFastAttempts int) RateLimiter {
	return NewTypedItemFastSlowRateLimiter[any](fastDelay, slowDelay, maxFastAttempts)
}

// NewTypedItemFastSlowRateLimiter returns a limiter whose delay is fastDelay for an item's first maxFastAttempts retries,
// then slowDelay.
func NewTypedItemFastSlowRateLimiter[T comparable](fastDelay, slowDelay time.Duration, maxFastAttempts int) TypedRateLimiter[T] {
	return &TypedItemFastSlowRateLimiter[T]{limiter: workqueue.NewItemFastSlow[T](fastDelay, slowDelay, maxFastAttempts)}
}

// When counts a retry and returns its delay.
func (r *TypedItemFastSlowRateLimiter[T]) When(item T) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limiter.When(time.Time{}, item)
}

// NumRequeues returns the number of retries since the item was last forgotten.
func (r *TypedItemFastSlowRateLimiter[T]) NumRequeues(item T) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.limiter.NumRequeues(item)
}

// Forget resets the item's retries.
func (r *TypedItemFastSlowRateLimiter[T]) Forget(item T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limiter.Forget(item)
}

// TypedMaxOfRateLimiter combines limiters: its delay is the longest of theirs.
type TypedMaxOfRateLimiter[T comparable] struct {
	limiters []TypedRateLimiter[T]
}

// NewMaxOfRateLimiter is the untyped NewTypedMaxOfRateLimiter.
//
// Deprecated: use NewTypedMaxOfRateLimiter.
func NewMaxOfRateLimiter(limiters ...TypedRateLimiter[any]) RateLimiter {
	return NewTypedMaxOfRateLimiter(limiters...)
}

// NewTypedMaxOfRateLimiter returns a limiter of several. If one is a bucket, the burst can be exceeded: an item that
// another limiter delays longer has already taken its token.
func NewTypedMaxOfRateLimiter[T comparable](limiters ...TypedRateLimiter[T]) TypedRateLimiter[T] {
	return &TypedMaxOfRateLimiter[T]{limiters: limiters}
}

// When returns the longest delay of the limiters, each of which counts the retry.
func (r *TypedMaxOfRateLimiter[T]) When(item T) time.Duration {
	var longest time.Duration
	for _, limiter := range r.limiters {
		longest = max(longest, limiter.When(item))
	}
	return longest
}

// NumRequeues returns the largest count of any limiter.
func (r *TypedMaxOfRateLimiter[T]) NumRequeues(item T) int {
	var most int
	for _, limiter := range r.limiters {
		most = max(most, limiter.NumRequeues(item))
	}
	return most
}

// Forget makes every limiter forget the item.
func (r *TypedMaxOfRateLimiter[T]) Forget(item T) {
	for _, limiter := range r.limiters {
		limiter.Forget(item)
	}
}

// TypedWithMaxWaitRateLimiter caps the delays of another limiter.
type TypedWithMaxWaitRateLimiter[T comparable] struct {
	limiter  TypedRateLimiter[T]
	maxDelay time.Duration
}

// NewWithMaxWaitRateLimiter is the untyped NewTypedWithMaxWaitRateLimiter.
//
// Deprecated: use NewTypedWithMaxWaitRateLimiter.
func NewWithMaxWaitRateLimiter(limiter RateLimiter, maxDelay time.Duration) RateLimiter {
	return NewTypedWithMaxWaitRateLimiter(TypedRateLimiter[any](limiter), maxDelay)
}

// NewTypedWithMaxWaitRateLimiter returns a limiter that caps the delays of limiter at maxDelay.
func NewTypedWithMaxWaitRateLimiter[T comparable](limiter TypedRateLimiter[T], maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedWithMaxWaitRateLimiter[T]{limiter: limiter, maxDelay: maxDelay}
}

// When returns the limiter's delay, at most the maximum.
func (w TypedWithMaxWaitRateLimiter[T]) When(item T) time.Duration {
	return min(w.limiter.When(item), w.maxDelay)
}

// Forget makes the limiter forget the item.
func (w TypedWithMaxWaitRateLimiter[T]) Forget(item T) { w.limiter.Forget(item) }

// NumRequeues returns the limiter's count.
func (w TypedWithMaxWaitRateLimiter[T]) NumRequeues(item T) int { return w.limiter.NumRequeues(item) }
