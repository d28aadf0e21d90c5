package workqueue

// Ring is a FIFO buffer that grows by doubling and keeps no reference to popped items, so that they can be collected. The
// zero value is an empty ring.
type Ring[T any] struct {
	buf  []T
	head int
	len  int
}

const minRingCapacity = 8

// Len returns the number of items held.
func (r *Ring[T]) Len() int { return r.len }

// Push appends an item.
func (r *Ring[T]) Push(item T) {
	if r.len == len(r.buf) {
		r.grow()
	}
	// len(buf) is a power of two, which makes the wrap a mask.
	r.buf[(r.head+r.len)&(len(r.buf)-1)] = item
	r.len++
}

// Pop removes and returns the oldest item, or the zero value if there is none.
func (r *Ring[T]) Pop() (item T) {
	if r.len == 0 {
		return item
	}
	var zero T
	item = r.buf[r.head]
	r.buf[r.head] = zero
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.len--
	return item
}

// Touch does nothing: adding an item again does not change the order of arrival.
func (r *Ring[T]) Touch(T) {}

func (r *Ring[T]) grow() {
	grown := make([]T, max(minRingCapacity, 2*len(r.buf)))
	n := copy(grown, r.buf[r.head:])
	copy(grown[n:], r.buf[:r.head])
	r.buf, r.head = grown, 0
}
