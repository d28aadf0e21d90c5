package fakeapiserver

import (
	"fmt"
	"sort"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// version is one committed state of one key. Versions are written once, by the commit, and never changed afterwards, but
// for prev, which physical trimming cuts. What trimming leaves behind is used again: nobody may keep a version beyond the
// time at which a replica applies something.
type version struct {
	rev       int64
	createRev int64
	obj       runtime.Object
	prev      *version // the key's state before; nil at the first, or where history was trimmed
	entry     *entry
	memo      *Memo // nil unless memos are kept; it may outlive the version
	deleted   bool  // obj is the last state, stamped with the deletion's revision (S18)
}

// entry is a key: its name and its newest version.
type entry struct {
	display string // "<plural> <key>", what records call it
	key     string // "namespace/name" or "name": the tail of display, sharing its bytes
	newest  *version
}

// in tells whether the key lies in a namespace.
func (e *entry) in(namespace string) bool {
	n := len(namespace)
	return len(e.key) > n && e.key[n] == '/' && e.key[:n] == namespace
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

// event is what the version is to a watcher without selectors.
func (v *version) event() watch.EventType {
	switch {
	case v.deleted:
		return watch.Deleted
	case v.createRev == v.rev:
		return watch.Added
	}
	return watch.Modified
}

// history is a resource's log in the order of revisions. Positions are absolute: trimming the head does not move them.
type history struct {
	ring       []*version // a power of two long; the version at position n is at n&(len-1)
	base, next int64      // positions of the first version, and of the next to come
}

func (h *history) end() int64 { return h.next }

func (h *history) at(pos int64) *version {
	if pos < h.base || pos >= h.next {
		h.outside(pos)
	}
	return h.ring[pos&int64(len(h.ring)-1)]
}

func (h *history) outside(pos int64) {
	panic(fmt.Sprintf("fakeapiserver: position %d of a log that has %d to %d", pos, h.base, h.next))
}

func (h *history) add(v *version) {
	if h.next-h.base == int64(len(h.ring)) {
		h.resize(max(16, 2*len(h.ring)))
	}
	h.ring[h.next&int64(len(h.ring)-1)] = v
	h.next++
}

func (h *history) resize(n int) {
	ring := make([]*version, n)
	for pos := h.base; pos < h.next; pos++ {
		ring[pos&int64(n-1)] = h.at(pos)
	}
	h.ring = ring
}

// after is the position of the first version that is newer than rev.
func (h *history) after(rev int64) int64 {
	if h.base == h.next || h.at(h.next-1).rev <= rev {
		return h.next
	}
	return h.base + int64(sort.Search(int(h.next-h.base), func(i int) bool { return h.at(h.base+int64(i)).rev > rev }))
}

// dropHead forgets the versions before position to.
func (h *history) dropHead(to int64) {
	for ; h.base < to; h.base++ {
		h.ring[h.base&int64(len(h.ring)-1)] = nil
	}
	if n := len(h.ring); n > 1024 && h.next-h.base < int64(n/8) {
		h.resize(n / 4) // a backlog that was long once must not pin the memory for ever
	}
}
