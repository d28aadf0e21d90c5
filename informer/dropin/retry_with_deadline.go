package dropin

import (
	"time"

	"k8s.io/utils/clock"
)

// NewRetryWithDeadline allows retries for maxRetryDuration after the first error of a series that isRetryable. An error that
// comes minResetPeriod or more after the one before begins a new series.
func NewRetryWithDeadline(maxRetryDuration, minResetPeriod time.Duration, isRetryable func(error) bool, clock clock.Clock) RetryWithDeadline {
	return &retryWithDeadline{max: maxRetryDuration, reset: minResetPeriod, isRetryable: isRetryable, clock: clock}
}

type retryWithDeadline struct {
	max, reset  time.Duration
	isRetryable func(error) bool
	clock       clock.Clock
	first, last time.Time // errors of the series; zero: there is none
}

// After notes an error.
func (r *retryWithDeadline) After(err error) {
	if !r.isRetryable(err) {
		return
	}
	now := r.clock.Now()
	if r.first.IsZero() || now.Sub(r.last) >= r.reset {
		r.first = now
	}
	r.last = now
}

// ShouldRetry says whether there is still time. If there is not, the series is over.
func (r *retryWithDeadline) ShouldRetry() bool {
	if r.max <= 0 {
		return false
	}
	if r.clock.Now().Sub(r.first) <= r.max {
		return true
	}
	r.first, r.last = time.Time{}, time.Time{}
	return false
}
