package workqueue

// Order decides which of the ready items is handed out next. It has the method set of client-go's workqueue.Queue. It holds
// only items that are ready and not being processed.
type Order[T comparable] interface {
	// Touch is called when a ready item is added again; a priority order may move it.
	Touch(item T)
	// Push makes an item ready.
	Push(item T)
	// Len returns the number of ready items.
	Len() int
	// Pop removes and returns the next item. It is called only when Len is not 0.
	Pop() (item T)
}

// AddResult is the outcome of an Add.
type AddResult uint8

const (
	// AddIgnored: the queue is shutting down (I95).
	AddIgnored AddResult = iota
	// AddMerged: the item was already waiting to be processed (I94).
	AddMerged
	// AddDeferred: the item is being processed; Done will make it ready again (I94).
	AddDeferred
	// AddReady: the item is ready to be taken.
	AddReady
	// AddDelayed: the item waits until it is due (I97).
	AddDelayed
)

// String says it in a word.
func (r AddResult) String() string {
	return [...]string{"ignored", "merged", "deferred", "ready", "delayed"}[r]
}

const (
	stateDirty      uint8 = 1 << iota // is to be processed
	stateProcessing                   // has been handed out
)

// entry is the queue's record of one item. It exists while the item is dirty, processing, or in the ready ring.
type entry[T comparable] struct {
	item  T
	ready int32 // occurrences in the ready ring: 1, unless Done was called for an item never taken
	state uint8
}

// Queue is the plain work queue: items in order of arrival, each at most once, none handed out again before its Done (I94).
//
// One map from item to entry serves both of client-go's sets, and the ready ring holds entry numbers, so that a cycle of
// Add, TryGet and Done looks the item up twice and hashes it three times.
type Queue[T comparable] struct {
	order Order[T] // nil: first in, first out

	ring    Ring[int32]
	index   map[T]int32
	entries []entry[T]
	free    []int32

	processing   int
	shuttingDown bool
	draining     bool
}

// NewQueue returns an empty queue. A nil order is first in, first out.
func NewQueue[T comparable](order Order[T]) *Queue[T] {
	return &Queue[T]{order: order, index: map[T]int32{}}
}

// Add marks an item for processing.
func (q *Queue[T]) Add(item T) AddResult {
	if q.shuttingDown {
		return AddIgnored
	}
	i, known := q.index[item]
	if !known {
		i = q.newEntry(item)
	}
	e := &q.entries[i]
	if e.state&stateDirty != 0 {
		if e.state&stateProcessing == 0 && q.order != nil {
			q.order.Touch(item)
		}
		return AddMerged
	}
	e.state |= stateDirty
	if e.state&stateProcessing != 0 {
		return AddDeferred
	}
	q.push(i)
	return AddReady
}

// TryGet hands out the next ready item. If none is ready, ok is false and shutdown reports whether the queue is shutting
// down; such a queue still hands out the items it holds (I95).
func (q *Queue[T]) TryGet() (item T, ok, shutdown bool) {
	if q.Len() == 0 {
		return item, false, q.shuttingDown
	}
	var e *entry[T]
	if q.order == nil {
		e = &q.entries[q.ring.Pop()]
		e.ready--
	} else {
		e = q.entryOf(q.order.Pop())
	}
	if e.state&stateProcessing == 0 {
		q.processing++
	}
	e.state = stateProcessing
	return e.item, true, false
}

// Done ends the processing of an item. It reports whether the item is ready again because it was added meanwhile, which
// also applies after a shutdown (I95). As in client-go, Done of a ready item that was never taken queues it once more.
func (q *Queue[T]) Done(item T) (readyAgain bool) {
	i, known := q.index[item]
	if !known {
		return false
	}
	e := &q.entries[i]
	if e.state&stateProcessing != 0 {
		e.state &^= stateProcessing
		q.processing--
		q.draining = q.draining && q.processing != 0
	}
	if e.state&stateDirty != 0 {
		q.push(i)
		return true
	}
	if e.ready == 0 {
		q.freeEntry(i)
	}
	return false
}

// Len returns the number of ready items, not counting those being processed.
func (q *Queue[T]) Len() int {
	if q.order != nil {
		return q.order.Len()
	}
	return q.ring.Len()
}

// Processing returns the number of items handed out and not yet Done.
func (q *Queue[T]) Processing() int { return q.processing }

// ShutDown makes the queue ignore further adds, and ends a drain (I95).
func (q *Queue[T]) ShutDown() { q.shuttingDown, q.draining = true, false }

// ShutDownWithDrain is ShutDown for a caller that then waits until Draining is false.
func (q *Queue[T]) ShutDownWithDrain() { q.shuttingDown, q.draining = true, q.processing != 0 }

// Draining reports whether a drain still has to wait. It waits until no item is being processed, however many are ready; an
// item taken after that does not restart it (I96).
func (q *Queue[T]) Draining() bool { return q.draining }

// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
func (q *Queue[T]) ShuttingDown() bool { return q.shuttingDown }

func (q *Queue[T]) push(i int32) {
	e := &q.entries[i]
	if q.order != nil {
		q.order.Push(e.item)
		return
	}
	e.ready++
	q.ring.Push(i)
}

// entryOf returns the entry of an item from a custom order. An order may return an item that was never pushed; it is then
// processed like any other.
func (q *Queue[T]) entryOf(item T) *entry[T] {
	i, known := q.index[item]
	if !known {
		i = q.newEntry(item)
	}
	return &q.entries[i]
}

func (q *Queue[T]) newEntry(item T) int32 {
	var i int32
	if n := len(q.free); n != 0 {
		i = q.free[n-1]
		q.free = q.free[:n-1]
		q.entries[i].item = item
	} else {
		i = int32(len(q.entries))
		q.entries = append(q.entries, entry[T]{item: item})
	}
	q.index[item] = i
	return i
}

func (q *Queue[T]) freeEntry(i int32) {
	delete(q.index, q.entries[i].item)
	q.entries[i] = entry[T]{} // so that the item can be collected
	q.free = append(q.free, i)
}
