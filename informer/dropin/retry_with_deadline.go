package dropin

import (
	"time"

	"k8s.io/utils/clock"
)

// NewRetryWithDeadline returns a RetryWithDeadline that allows retries for maxRetryDuration after the first error of a
// series for which isRetryable is true. An error minResetPeriod or more after the previous one begins a new series.
func NewRetryWithDeadline(maxRetryDuration, minResetPeriod time.Duration, isRetryable func(error) bool, clock clock.Clock) RetryWithDeadline {
	return &retryWithDeadline{max: maxRetryDuration, reset: minResetPeriod, isRetryable: isRetryable, clock: clock}
}

type retryWithDeadline struct {
	max, reset  time.Duration
	isRetryable func(error) bool
	clock       clock.Clock
	first, last time.Time // errors of the series; zero: none
}

// After records an error.
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

// ShouldRetry reports whether the deadline has not passed. If it has, the series ends.
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
