package store

import "k8s.io/apimachinery/pkg/runtime"

// Journal is told of every change before the Store makes it. If it returns an error, a *RefusedError, the Store stays as it is.
type Journal interface {
	// Write announces that a key gets a new state, nil if it is deleted, at a revision.
	Write(id ResourceID, key string, rev int64, obj runtime.Object) error
	// Restore announces that the Store goes back to its state at rev, and is at revision now from then on.
	Restore(rev, now int64) error
}

// SetJournal has a journal be told of every change from now on.
func (s *Store) SetJournal(j Journal) { s.journal = j }

// RefusedError is the error of a change that the journal cannot take. Nothing has changed, and a later attempt may succeed.
type RefusedError struct {
	Full bool // there is no room for it
	Err  error
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }
