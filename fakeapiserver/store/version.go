package store

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Version is one committed state of one key. Versions are written once, by the commit, and never changed afterwards, but
// for prev, which physical trimming cuts. What trimming leaves behind is used again: nobody may keep a version beyond the
// time at which a replica applies something.
type Version struct {
	rev       int64
	createRev int64
	obj       runtime.Object
	prev      *Version // the key's state before; nil at the first, or where history was trimmed
	entry     *Entry
	memo      *Memo // nil unless memos are kept; it may outlive the version
	deleted   bool  // obj is the last state, stamped with the deletion's revision (S18)
}

// Revision is that of the commit.
func (v *Version) Revision() int64 { return v.rev }

// Object is the state, which is shared and immutable; of a deletion the last one, with the deletion's resourceVersion.
func (v *Version) Object() runtime.Object { return v.obj }

// Memo is the version's memo; nil if the Store keeps none.
func (v *Version) Memo() *Memo { return v.memo }

// Entry is the key whose state this is.
func (v *Version) Entry() *Entry { return v.entry }

// Deleted tells whether the commit deleted the key.
func (v *Version) Deleted() bool { return v.deleted }

// Before is the state that v replaced, nil if v created the key.
func (v *Version) Before() *Version {
	if v.prev == nil || v.prev.deleted {
		return nil
	}
	return v.prev
}

// Event is what the version is to a watcher without selectors.
func (v *Version) Event() watch.EventType {
	switch {
	case v.deleted:
		return watch.Deleted
	case v.createRev == v.rev:
		return watch.Added
	}
	return watch.Modified
}

// Committed tells what the version did.
func (v *Version) Committed() Committed {
	c := Committed{Revision: v.rev, Key: v.entry.key, Display: v.entry.display, Object: v.obj, Deleted: v.deleted}
	if old := v.Before(); old != nil {
		c.Old = old.obj
	}
	return c
}
