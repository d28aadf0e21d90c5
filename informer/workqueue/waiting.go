package workqueue

import "time"

// Waiting holds items until they are due: a binary heap by time that contains each item at most once (I97).
//
// Items due at the same instant leave in the same order as from client-go's heap, which sifts the same way. Times are
// stored as nanoseconds since the first time seen, so that a comparison is one of integers.
type Waiting[T comparable] struct {
	base  time.Time // every at is relative to it
	heap  []waitingNode
	slots []waitingSlot[T]
	free  []int32
	index map[T]int32
}

type waitingNode struct {
	at   time.Duration // when it is due, since base
	slot int32
}

type waitingSlot[T comparable] struct {
	item T
	pos  int32 // of the item's node in the heap
}

// NewWaiting returns an empty Waiting.
func NewWaiting[T comparable]() *Waiting[T] {
	return &Waiting[T]{index: map[T]int32{}}
}

// Len returns the number of items held.
func (w *Waiting[T]) Len() int { return len(w.heap) }

// Add holds the item until readyAt, or until the time it is already held for if that is earlier (I97).
func (w *Waiting[T]) Add(item T, readyAt time.Time) {
	if w.base.IsZero() {
		w.base = readyAt
	}
	at := readyAt.Sub(w.base)
	if i, held := w.index[item]; held {
		pos := int(w.slots[i].pos)
		if at < w.heap[pos].at {
			w.heap[pos].at = at
			w.up(pos)
		}
		return
	}
	i := w.newSlot(item)
	w.heap = append(w.heap, waitingNode{at: at, slot: i})
	w.up(len(w.heap) - 1)
}

// NextDeadline returns the earliest time at which an item is due; ok is false if none is held.
func (w *Waiting[T]) NextDeadline() (deadline time.Time, ok bool) {
	if len(w.heap) == 0 {
		return time.Time{}, false
	}
	return w.base.Add(w.heap[0].at), true
}

// PopDue removes and returns the earliest item, if it is due.
func (w *Waiting[T]) PopDue(now time.Time) (item T, ok bool) {
	if len(w.heap) == 0 || w.heap[0].at > now.Sub(w.base) {
		return item, false
	}
	i := w.heap[0].slot
	last := len(w.heap) - 1
	w.heap[0] = w.heap[last]
	w.heap = w.heap[:last]
	if last > 0 {
		w.down()
	}

	item = w.slots[i].item
	delete(w.index, item)
	w.slots[i] = waitingSlot[T]{} // so that the item can be collected
	w.free = append(w.free, i)
	return item, true
}

// Clear drops every item.
func (w *Waiting[T]) Clear() { *w = Waiting[T]{index: map[T]int32{}} }

func (w *Waiting[T]) newSlot(item T) int32 {
	var i int32
	if n := len(w.free); n != 0 {
		i = w.free[n-1]
		w.free = w.free[:n-1]
		w.slots[i].item = item
	} else {
		i = int32(len(w.slots))
		w.slots = append(w.slots, waitingSlot[T]{item: item})
	}
	w.index[item] = i
	return i
}

// up moves the node at j towards the root, shifting those that are due later.
func (w *Waiting[T]) up(j int) {
	node := w.heap[j]
	for j > 0 {
		parent := (j - 1) / 2
		if node.at >= w.heap[parent].at {
			break
		}
		w.place(j, w.heap[parent])
		j = parent
	}
	w.place(j, node)
}

// down moves the root towards the leaves, shifting those that are due earlier.
func (w *Waiting[T]) down() {
	i, node := 0, w.heap[0]
	for {
		child := 2*i + 1
		if child >= len(w.heap) {
			break
		}
		if right := child + 1; right < len(w.heap) && w.heap[right].at < w.heap[child].at {
			child = right
		}
		if w.heap[child].at >= node.at {
			break
		}
		w.place(i, w.heap[child])
		i = child
	}
	w.place(i, node)
}

func (w *Waiting[T]) place(pos int, node waitingNode) {
	w.heap[pos] = node
	w.slots[node.slot].pos = int32(pos)
}
