package deltaring

import "k8s.io/client-go/tools/cache"

// Ring is a FIFO that grows by doubling and frees a long buffer when it drains. The zero value is empty.
type Ring struct {
	entries []entry // a power of two long; entry n is at n&(len-1)
	head    uint64
	tail    uint64
}

type entry struct {
	key   string
	delta cache.Delta
}

const (
	lengthMin     = 16
	maxIdleLength = 1024 // a longer ring is freed when it drains
)

// Len returns the number of deltas.
func (r *Ring) Len() int { return int(r.tail - r.head) }

// Push appends a delta.
func (r *Ring) Push(key string, delta cache.Delta) {
	if r.Len() == len(r.entries) {
		r.grow()
	}
	*r.at(r.tail) = entry{key: key, delta: delta}
	r.tail++
}

// Front returns the oldest delta, which is valid until the ring changes. The ring must not be empty.
func (r *Ring) Front() (key string, delta *cache.Delta) {
	e := r.at(r.head)
	return e.key, &e.delta
}

// PopFront removes the oldest delta. The ring must not be empty.
func (r *Ring) PopFront() {
	*r.at(r.head) = entry{}
	r.head++
	if r.head == r.tail && len(r.entries) > maxIdleLength {
		*r = Ring{}
	}
}

// LastByKey returns the keys in the order of their first delta, and the last delta of each.
func (r *Ring) LastByKey() (keys []string, last map[string]cache.Delta) {
	last = make(map[string]cache.Delta, r.Len())
	for n := r.head; n < r.tail; n++ {
		e := r.at(n)
		if _, seen := last[e.key]; !seen {
			keys = append(keys, e.key)
		}
		last[e.key] = e.delta
	}
	return keys, last
}

func (r *Ring) at(n uint64) *entry { return &r.entries[n&uint64(len(r.entries)-1)] }

func (r *Ring) grow() {
	grown := Ring{entries: make([]entry, max(lengthMin, 2*len(r.entries)))}
	for ; r.head < r.tail; r.head++ {
		*grown.at(grown.tail) = *r.at(r.head)
		grown.tail++
	}
	*r = grown
}
