package store

import (
	"k8s.io/apimachinery/pkg/watch"
)

// Memo caches what a layer above derives from one committed version of an object, such as its encoded bytes: versions never
// change, so the cache is never stale. The Store does not look inside; it drops the memo with the version, which bounds the
// memory.
type Memo struct {
	// Event is the type of the version's event in a watch without selectors.
	Event watch.EventType
	// Value belongs to the layer above.
	Value any
}
