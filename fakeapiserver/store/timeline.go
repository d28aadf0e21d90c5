package store

import (
	"strings"
	"unsafe"

	"github.com/tidwall/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/internal/keytable"
)

// Timeline is one history of one resource: its keys in order, each with the chain of its versions, and the log. The Store has
// one per resource; watch caches are views of it. Restoring the Store to an older revision starts a new timeline, and a
// replica that has not noticed keeps the old one.
type Timeline struct {
	plural  string
	entries keytable.Table[Entry]
	order   *btree.BTreeG[*Entry]
	deleted *btree.BTreeG[*Entry] // those of them that exist only in history
	log     history
	scratch []byte
	free    *Version // versions for reuse, linked by prev
	freed   int      // how many
	memos   bool     // new versions get a memo
}

// minFreeListCap is the capacity of the free list while the log is shorter than that.
const minFreeListCap = 1024

func newTimeline(plural string) *Timeline {
	return &Timeline{plural: plural, order: newOrder(), deleted: newOrder()}
}

// Keys are ordered by the bytes of "namespace/name" (S6).
func newOrder() *btree.BTreeG[*Entry] {
	return btree.NewBTreeGOptions(func(a, b *Entry) bool { return a.key < b.key }, btree.Options{NoLocks: true})
}

// find looks a key up without allocating a string for it.
func (t *Timeline) find(namespace, name string) *Entry {
	b := append(t.scratch[:0], namespace...)
	if namespace != "" {
		b = append(b, '/')
	}
	b = append(b, name...)
	t.scratch = b
	return t.entries.Get(unsafe.String(unsafe.SliceData(b), len(b)))
}

// add makes an entry for a key that has none. display is "<plural> <key>".
func (t *Timeline) add(display string) *Entry {
	e := &Entry{display: display, key: display[len(t.plural)+1:]}
	t.entries.Put(e.key, e)
	t.order.Set(e)
	return e
}

func (t *Timeline) drop(e *Entry) {
	t.entries.Delete(e.key)
	t.order.Delete(e)
	t.deleted.Delete(e)
}

// append adds a version as the newest of its key and at the end of the log.
func (t *Timeline) append(e *Entry, rev, createRev int64, obj runtime.Object, deleted bool) *Version {
	v := t.free
	if v != nil {
		t.free = v.prev
		t.freed--
	} else {
		v = new(Version)
	}
	v.rev, v.createRev, v.obj, v.deleted = rev, createRev, obj, deleted
	v.prev, v.entry = e.newest, e
	if was := e.newest != nil && e.newest.deleted; was != deleted {
		if deleted {
			t.deleted.Set(e)
		} else {
			t.deleted.Delete(e)
		}
	}
	if t.memos {
		v.memo = &Memo{Event: v.Event()}
	}
	e.newest = v
	t.log.add(v)
	return v
}

// Walk visits the versions that existed at rev in the order of keys, from the first key ≥ from, those of one namespace if
// namespace is not empty, until visit returns false.
func (t *Timeline) Walk(rev int64, namespace, from string, visit func(*Version) bool) {
	prefix := ""
	if namespace != "" {
		prefix = namespace + "/"
		from = max(from, prefix)
	}
	each := func(e *Entry) bool {
		if !strings.HasPrefix(e.key, prefix) {
			return false
		}
		if v := e.at(rev); v != nil {
			return visit(v)
		}
		return true
	}
	if from == "" {
		t.order.Scan(each)
	} else {
		t.order.Ascend(&Entry{key: from}, each)
	}
}

// recycle puts an unreferenced version on the free list.
func (t *Timeline) recycle(v *Version) {
	if t.freed >= max(minFreeListCap, len(t.log.ring)) {
		return
	}
	v.obj, v.entry, v.memo, v.prev = nil, nil, nil, t.free
	t.free = v
	t.freed++
}

// Trim drops what no read at floor or later needs: versions replaced at floor or before, and the log up to floor.
func (t *Timeline) Trim(floor int64) {
	pos := t.log.base
	for ; pos < t.log.end(); pos++ {
		v := t.log.at(pos)
		if v.rev > floor {
			break
		}
		if old := v.prev; old != nil {
			// It is older than v, so the log has dropped it already.
			v.prev = nil
			t.recycle(old)
		}
		if v.deleted && v.entry.newest == v {
			t.drop(v.entry)
			t.recycle(v)
		}
	}
	t.log.dropHead(pos)
}

// Fork copies the timeline between two revisions: the state at low, and the versions after it up to high. Objects are shared.
// Log positions mean the same in both.
func (t *Timeline) Fork(low, high int64) *Timeline {
	f := newTimeline(t.plural)
	f.memos = t.memos
	copyEntry := func(e *Entry) *Entry {
		c := f.entries.Get(e.key)
		if c == nil {
			c = &Entry{display: e.display, key: e.key}
			f.entries.Put(c.key, c)
			f.order.Set(c)
		}
		return c
	}
	t.Walk(low, "", "", func(v *Version) bool {
		c := copyEntry(v.entry)
		c.newest = &Version{rev: v.rev, createRev: v.createRev, obj: v.obj, memo: v.memo, entry: c}
		return true
	})
	first := t.log.after(low)
	f.log.base, f.log.next = first, first
	for pos := first; pos < t.log.end(); pos++ {
		v := t.log.at(pos)
		if v.rev > high {
			break
		}
		f.append(copyEntry(v.entry), v.rev, v.createRev, v.obj, v.deleted).memo = v.memo
	}
	return f
}

// Adopt adds a version of another timeline as the newest of its key.
func (t *Timeline) Adopt(v *Version) {
	e := t.entries.Get(v.entry.key)
	if e == nil {
		e = t.add(v.entry.display)
	}
	t.append(e, v.rev, v.createRev, v.obj, v.deleted).memo = v.memo
}

// Len returns the number of keys, including those of deleted objects while their history is retained.
func (t *Timeline) Len() int { return t.entries.Len() }

// Retained returns the number of writes whose history is in memory. Compaction lowers it.
func (t *Timeline) Retained() int64 { return t.log.end() - t.log.base }

// KeepsMemos reports whether new versions get a Memo.
func (t *Timeline) KeepsMemos() bool { return t.memos }

// End returns the position in the log after the newest version.
func (t *Timeline) End() int64 { return t.log.end() }

// At returns the version at a position of the log. The position must be before End and not trimmed.
func (t *Timeline) At(pos int64) *Version { return t.log.at(pos) }

// After returns the position of the first version newer than a revision.
func (t *Timeline) After(rev int64) int64 { return t.log.after(rev) }

// displayOf is the name of an object in records: "<plural> <key>".
func (t *Timeline) displayOf(m metav1.Object) string {
	if ns := m.GetNamespace(); ns != "" {
		return t.plural + " " + ns + "/" + m.GetName()
	}
	return t.plural + " " + m.GetName()
}
