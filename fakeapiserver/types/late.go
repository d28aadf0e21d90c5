package types

import "time"

// Late is the error of an answer that comes only after a while, because somebody who was asked does not answer.
type Late struct {
	After time.Duration
	Err   error
}

// Error implements error.
func (e *Late) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *Late) Unwrap() error { return e.Err }
