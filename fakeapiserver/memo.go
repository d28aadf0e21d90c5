package fakeapiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
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

// KeepMemos gives each version that is committed from now on a Memo. Without it Pages and Events have none.
func (s *Store) KeepMemos() {
	s.memos = true
	for _, t := range s.timelines {
		t.memos = true
	}
}

// MemoOf is the memo of an object that is the newest of its key; nil if it is not, or memos are not kept.
func (s *Store) MemoOf(id ResourceID, namespace, name string, obj runtime.Object) *Memo {
	t, err := s.timeline(id)
	if err != nil {
		return nil
	}
	e := t.find(namespace, name)
	if !e.exists() || dataOf(e.newest.obj) != dataOf(obj) {
		return nil
	}
	return e.newest.memo
}
