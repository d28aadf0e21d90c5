package informer

import "time"

// internalErrorResetPeriod is the pause after which internal errors count as a new series.
const internalErrorResetPeriod = time.Minute

// retryDeadline allows retries for a while after the first error of a series (I34). The zero value allows none.
type retryDeadline struct {
	max         time.Duration
	first, last time.Time
}

func (r *retryDeadline) onError(now time.Time) {
	if now.Sub(r.last) >= internalErrorResetPeriod {
		r.first = time.Time{}
	}
	if r.first.IsZero() {
		r.first = now
	}
	r.last = now
}

func (r *retryDeadline) mayRetry(now time.Time) bool {
	if r.max <= 0 {
		return false
	}
	if now.Sub(r.first) <= r.max {
		return true
	}
	r.first, r.last = time.Time{}, time.Time{}
	return false
}
