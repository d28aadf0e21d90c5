package store

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Version is one committed state of one key. It never changes after the commit, except for prev, which trimming cuts. Trimmed
// versions are reused: do not hold one beyond the next event that a replica applies.
type Version struct {
	rev       int64
	createRev int64
	obj       runtime.Object
	prev      *Version // the key's state before; nil for the first, or where history was trimmed
	entry     *Entry
	memo      *Memo // nil without KeepMemos; it may outlive the version
	deleted   bool  // obj is the last state, stamped with the deletion's revision (S18)
}

// Revision returns the revision of the commit.
func (v *Version) Revision() int64 { return v.rev }

// Object returns the state, which is shared and immutable; for a deletion the last one, with the deletion's resourceVersion.
func (v *Version) Object() runtime.Object { return v.obj }

// Memo returns the version's memo; nil without KeepMemos.
func (v *Version) Memo() *Memo { return v.memo }

// Entry returns the version's key.
func (v *Version) Entry() *Entry { return v.entry }

// Deleted reports whether the commit deleted the key.
func (v *Version) Deleted() bool { return v.deleted }

// Before returns the state that v replaced, nil if v created the key.
func (v *Version) Before() *Version {
	if v.prev == nil || v.prev.deleted {
		return nil
	}
	return v.prev
}

// Event returns the type of the version's event in a watch without selectors.
func (v *Version) Event() watch.EventType {
	switch {
	case v.deleted:
		return watch.Deleted
	case v.createRev == v.rev:
		return watch.Added
	}
	return watch.Modified
}

// Committed describes the version's commit.
func (v *Version) Committed() Committed {
	c := Committed{Revision: v.rev, Key: v.entry.key, Display: v.entry.display, Object: v.obj, Deleted: v.deleted}
	if old := v.Before(); old != nil {
		c.Old = old.obj
	}
	return c
}
