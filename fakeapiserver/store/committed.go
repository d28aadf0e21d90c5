package store

import "k8s.io/apimachinery/pkg/runtime"

// Committed describes a write.
type Committed struct {
	Revision int64
	Key      string         // "namespace/name", or "name"
	Display  string         // "<plural> <key>"
	Object   runtime.Object // the new state; for a deletion, the last state with the deletion's resourceVersion
	Old      runtime.Object // the state before; nil for a creation
	Deleted  bool
}
