package store

import (
	"k8s.io/apimachinery/pkg/watch"
)

// Memo is a place beside one committed version of an object for what a layer above makes of it and many requests ask for, as its
// encoded bytes: the version never changes, so neither does what follows from it. The Store never looks inside; it forgets the
// memo with the version, which is what bounds the memory.
type Memo struct {
	// Event is what the version is to a watcher without selectors.
	Event watch.EventType
	// Value belongs to the layer above.
	Value any
}
