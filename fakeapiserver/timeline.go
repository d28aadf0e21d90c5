package fakeapiserver

import (
	"strings"
	"unsafe"

	"github.com/tidwall/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/internal/keytable"
)

// timeline is everything known of one resource along one history: its keys in order, each with the chain of its versions,
// and the log. The Store has one per resource; watch caches are views of it. Restoring the Store to an older revision starts
// a new timeline, and a replica that has not noticed keeps the old one.
type timeline struct {
	plural  string
	entries keytable.Table[entry]
	order   *btree.BTreeG[*entry]
	deleted *btree.BTreeG[*entry] // those of them that only history keeps
	log     history
	scratch []byte
	free    *version // versions to use again, linked by prev
	freed   int      // how many
	memos   bool     // versions get one
}

// minFree is how many versions may wait to be used again, if the log is not longer.
const minFree = 1024

func newTimeline(plural string) *timeline {
	return &timeline{plural: plural, order: newOrder(), deleted: newOrder()}
}

// Keys are ordered by the bytes of "namespace/name" (S6).
func newOrder() *btree.BTreeG[*entry] {
	return btree.NewBTreeGOptions(func(a, b *entry) bool { return a.key < b.key }, btree.Options{NoLocks: true})
}

// find looks a key up without building a string for it.
func (t *timeline) find(namespace, name string) *entry {
	b := append(t.scratch[:0], namespace...)
	if namespace != "" {
		b = append(b, '/')
	}
	b = append(b, name...)
	t.scratch = b
	return t.entries.Get(unsafe.String(unsafe.SliceData(b), len(b)))
}

// add makes an entry for a key that has none.
func (t *timeline) add(key string) *entry {
	display := t.plural + " " + key
	e := &entry{display: display, key: display[len(t.plural)+1:]}
	t.entries.Put(e.key, e)
	t.order.Set(e)
	return e
}

func (t *timeline) drop(e *entry) {
	t.entries.Delete(e.key)
	t.order.Delete(e)
	t.deleted.Delete(e)
}

// append puts a version on top of a key and at the end of the log.
func (t *timeline) append(e *entry, rev, createRev int64, obj runtime.Object, deleted bool) *version {
	v := t.free
	if v != nil {
		t.free = v.prev
		t.freed--
	} else {
		v = new(version)
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
		v.memo = &Memo{Event: v.event()}
	}
	e.newest = v
	t.log.add(v)
	return v
}

// walk visits the versions that existed at rev in the order of keys, from the first key ≥ from, those of one namespace if
// namespace is not empty, until visit returns false.
func (t *timeline) walk(rev int64, namespace, from string, visit func(*version) bool) {
	prefix := ""
	if namespace != "" {
		prefix = namespace + "/"
		from = max(from, prefix)
	}
	t.order.Ascend(&entry{key: from}, func(e *entry) bool {
		if !strings.HasPrefix(e.key, prefix) {
			return false
		}
		if v := e.at(rev); v != nil {
			return visit(v)
		}
		return true
	})
}

// recycle keeps a version that nothing refers to any more, for the next commit.
func (t *timeline) recycle(v *version) {
	if t.freed >= max(minFree, len(t.log.ring)) {
		return
	}
	v.obj, v.entry, v.memo, v.prev = nil, nil, nil, t.free
	t.free = v
	t.freed++
}

// trim forgets what no read at floor or later needs: the versions that were replaced at floor or before, and the log up to
// floor.
func (t *timeline) trim(floor int64) {
	pos := t.log.base
	for ; pos < t.log.end(); pos++ {
		v := t.log.at(pos)
		if v.rev > floor {
			break
		}
		if old := v.prev; old != nil {
			// The log has passed it already: it is older than v.
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

// fork copies the timeline as it was between two revisions: the state at low, and the versions after it up to high.
// Objects are shared. Positions in the log mean the same in both.
func (t *timeline) fork(low, high int64) *timeline {
	f := newTimeline(t.plural)
	f.memos = t.memos
	copyEntry := func(e *entry) *entry {
		c := f.entries.Get(e.key)
		if c == nil {
			c = &entry{display: e.display, key: e.key}
			f.entries.Put(c.key, c)
			f.order.Set(c)
		}
		return c
	}
	t.walk(low, "", "", func(v *version) bool {
		c := copyEntry(v.entry)
		c.newest = &version{rev: v.rev, createRev: v.createRev, obj: v.obj, memo: v.memo, entry: c}
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

// key is the name of an object among those of its resource.
func (t *timeline) key(m metav1.Object) string {
	if ns := m.GetNamespace(); ns != "" {
		return ns + "/" + m.GetName()
	}
	return m.GetName()
}
