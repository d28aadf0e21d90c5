package types

import "fmt"

// Undecodable is the error of a stored object that cannot be had in another version, because its conversion webhook fails. A real server converts
// while it reads its store, and says so.
type Undecodable struct {
	Revision string // the object's
	Err      error
}

// Error implements error.
func (e *Undecodable) Error() string {
	return fmt.Sprintf("object not decodable revision=%s: %v", e.Revision, e.Err)
}

// Unwrap returns why it cannot be converted.
func (e *Undecodable) Unwrap() error { return e.Err }
