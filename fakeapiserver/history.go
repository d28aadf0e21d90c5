package fakeapiserver

import (
	"sort"

	"k8s.io/apimachinery/pkg/runtime"
)

// version is one committed state of one key. Versions are written once, by the commit, and never changed afterwards, but
// for prev, which physical trimming cuts.
type version struct {
	rev       int64
	createRev int64
	obj       runtime.Object
	prev      *version // the key's state before; nil at the first, or where history was trimmed
	entry     *entry
	deleted   bool // obj is the last state, stamped with the deletion's revision (S18)
}

// entry is a key: its name and its newest version.
type entry struct {
	display string // "<plural> <key>", what records call it
	key     string // "namespace/name" or "name": the tail of display, sharing its bytes
	newest  *version
}

// at is the key's state at a revision; nil if it did not exist then.
func (e *entry) at(rev int64) *version {
	v := e.newest
	for v != nil && v.rev > rev {
		v = v.prev
	}
	if v == nil || v.deleted {
		return nil
	}
	return v
}

// before is the state that v replaced, nil if v created the key.
func (v *version) before() *version {
	if v.prev == nil || v.prev.deleted {
		return nil
	}
	return v.prev
}

// history is a resource's log in the order of revisions. Positions are absolute: trimming the head does not move them.
type history struct {
	base  int64 // position of items[0]
	items []*version
}

func (h *history) end() int64 { return h.base + int64(len(h.items)) }

func (h *history) at(pos int64) *version { return h.items[pos-h.base] }

func (h *history) add(v *version) { h.items = append(h.items, v) }

// after is the position of the first version that is newer than rev.
func (h *history) after(rev int64) int64 {
	n := len(h.items)
	if n == 0 || h.items[n-1].rev <= rev {
		return h.end()
	}
	return h.base + int64(sort.Search(n, func(i int) bool { return h.items[i].rev > rev }))
}

// dropHead forgets the first n versions.
func (h *history) dropHead(n int) {
	clear(h.items[:n]) // the array lives on; what it points to need not
	h.items = h.items[n:]
	h.base += int64(n)
}
