package core

import "time"

// Waiting holds items until their time has come: a binary heap by time, with each item in it at most once (I97).
//
// Items due at the same instant leave in the order in which client-go's heap would hand them out: it sifts the same way.
type Waiting[T comparable] struct {
	heap  []waitingNode
	slots []waitingSlot[T]
	free  []int32
	index map[T]int32
}

type waitingNode struct {
	readyAt time.Time
	slot    int32
}

type waitingSlot[T comparable] struct {
	item T
	pos  int32 // of the item's node in the heap
}

// NewWaiting makes an empty Waiting.
func NewWaiting[T comparable]() *Waiting[T] {
	return &Waiting[T]{index: map[T]int32{}}
}

// Len is the number of items held.
func (w *Waiting[T]) Len() int { return len(w.heap) }

// Add holds the item until readyAt, or until the earlier time that it is already held for (I97).
func (w *Waiting[T]) Add(item T, readyAt time.Time) {
	if i, held := w.index[item]; held {
		pos := int(w.slots[i].pos)
		if w.heap[pos].readyAt.After(readyAt) {
			w.heap[pos].readyAt = readyAt
			w.up(pos)
		}
		return
	}
	i := w.newSlot(item)
	w.heap = append(w.heap, waitingNode{readyAt: readyAt, slot: i})
	w.slots[i].pos = int32(len(w.heap) - 1)
	w.up(len(w.heap) - 1)
}

// NextDeadline is the earliest time at which an item is due; ok is false if none is held.
func (w *Waiting[T]) NextDeadline() (deadline time.Time, ok bool) {
	if len(w.heap) == 0 {
		return time.Time{}, false
	}
	return w.heap[0].readyAt, true
}

// PopDue removes and returns the item that is due first, if its time has come.
func (w *Waiting[T]) PopDue(now time.Time) (item T, ok bool) {
	if len(w.heap) == 0 || w.heap[0].readyAt.After(now) {
		return item, false
	}
	i := w.heap[0].slot
	last := len(w.heap) - 1
	w.swap(0, last)
	w.heap = w.heap[:last]
	w.down(0)

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

func (w *Waiting[T]) up(j int) {
	for j > 0 {
		parent := (j - 1) / 2
		if !w.heap[j].readyAt.Before(w.heap[parent].readyAt) {
			return
		}
		w.swap(parent, j)
		j = parent
	}
}

func (w *Waiting[T]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(w.heap) {
			return
		}
		if right := child + 1; right < len(w.heap) && w.heap[right].readyAt.Before(w.heap[child].readyAt) {
			child = right
		}
		if !w.heap[child].readyAt.Before(w.heap[i].readyAt) {
			return
		}
		w.swap(i, child)
		i = child
	}
}

func (w *Waiting[T]) swap(i, j int) {
	w.heap[i], w.heap[j] = w.heap[j], w.heap[i]
	w.slots[w.heap[i].slot].pos = int32(i)
	w.slots[w.heap[j].slot].pos = int32(j)
}
