package store

import (
	"fmt"
	"sort"
)

// history is a resource's log in the order of revisions. Positions are absolute: trimming the head does not move them.
type history struct {
	ring       []*Version // its length is a power of two; the version at position n is at n&(len-1)
	base, next int64      // positions of the first version, and of the next one to be added
}

func (h *history) end() int64 { return h.next }

func (h *history) at(pos int64) *Version {
	if pos < h.base || pos >= h.next {
		h.panicOutside(pos)
	}
	return h.ring[pos&int64(len(h.ring)-1)]
}

func (h *history) panicOutside(pos int64) {
	panic(fmt.Sprintf("fakeapiserver: log position %d is out of range [%d, %d)", pos, h.base, h.next))
}

func (h *history) add(v *Version) {
	if h.next-h.base == int64(len(h.ring)) {
		h.resize(max(16, 2*len(h.ring)))
	}
	h.ring[h.next&int64(len(h.ring)-1)] = v
	h.next++
}

func (h *history) resize(n int) {
	ring := make([]*Version, n)
	for pos := h.base; pos < h.next; pos++ {
		ring[pos&int64(n-1)] = h.at(pos)
	}
	h.ring = ring
}

// after returns the position of the first version newer than rev.
func (h *history) after(rev int64) int64 {
	if h.base == h.next || h.at(h.next-1).rev <= rev {
		return h.next
	}
	return h.base + int64(sort.Search(int(h.next-h.base), func(i int) bool { return h.at(h.base+int64(i)).rev > rev }))
}

// dropHead drops the versions before position to.
func (h *history) dropHead(to int64) {
	for ; h.base < to; h.base++ {
		h.ring[h.base&int64(len(h.ring)-1)] = nil
	}
	if n := len(h.ring); n > 1024 && h.next-h.base < int64(n/8) {
		h.resize(n / 4) // a backlog that was once long must not pin memory forever
	}
}
