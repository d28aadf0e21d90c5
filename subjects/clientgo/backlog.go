package clientgo

import "slices"

// maxBatch is how many deltas a RealFIFO gives out at once, at most (I61).
const maxBatch = 1000

// backlog follows the length of an informer's queue, and which parts of it have no order because client-go walked a map.
type backlog struct {
	queue  *queueView
	length int
	parts  []part // in the order of the queue; they do not overlap

	// Of the pop under way.
	listed  bool // it took of a list without an order
	cut     bool // what was taken last ended inside of a part
	spilled bool // a batch has ended inside of a part, or may have
}

// part is a stretch of the queue, from the from-th entry up to the to-th, counted from the head.
type part struct {
	from, to int
	replace  bool // one entry that is a whole list
	listed   bool // objects of a list, not only tombstones or a resync
}

// grown is by how much the queue is longer than it was.
func (b *backlog) grown() int { return b.queue.len() - b.length }

// follow takes over the queue's length, when what was added has an order.
func (b *backlog) follow() { b.length = b.queue.len() }

// replaced says that a list was put into the queue.
func (b *backlog) replaced(l *replaced) {
	from, to := b.length, b.queue.len()
	switch {
	case b.queue.atomic:
		b.add(part{from: from, to: to, replace: true, listed: l.unordered})
	case b.queue.delta:
		// The objects of the list come first, in its order if it has one, then the tombstones.
		in := make(map[string]bool, len(l.keys))
		for _, key := range l.keys {
			in[key] = true
		}
		tombstones := from
		for tombstones < to && in[b.queue.key(tombstones)] {
			tombstones++
		}
		b.addListed(l, from, tombstones)
		b.add(part{from: tombstones, to: to})
	default:
		// Tombstones come first.
		objects := max(to-len(l.keys), from)
		b.add(part{from: from, to: objects})
		b.addListed(l, objects, to)
	}
	b.length = to
}

func (b *backlog) addListed(l *replaced, from, to int) {
	if l.unordered {
		b.add(part{from: from, to: to, listed: true})
	}
}

// resynced says that the store was put into the queue again.
func (b *backlog) resynced() {
	b.add(part{from: b.length, to: b.queue.len()})
	b.length = b.queue.len()
}

// add adds a part, unless it has an order: a single entry that is no list has one.
func (b *backlog) add(p part) {
	if p.to-p.from > 1 || b.queue.atomic && p.to > p.from {
		b.parts = append(b.parts, p)
	}
}

// unorderedAhead tells whether the next pop may take from a part without an order.
func (b *backlog) unorderedAhead() bool {
	if len(b.parts) == 0 {
		return false
	}
	first := b.parts[0].from
	if b.queue.delta || b.queue.atomic {
		return first == 0 // one at a time, or: what stands for many is not batched
	}
	return first < maxBatch
}

// replaceAhead tells whether the next pop takes a whole list.
func (b *backlog) replaceAhead() bool {
	return len(b.parts) > 0 && b.parts[0].from == 0 && b.parts[0].replace
}

// begin begins a pop. A batch ends before a key that it has already, so where the objects of a list have no order it may end
// anywhere among them.
func (b *backlog) begin() {
	b.listed = false
	b.spilled = !b.queue.delta && !b.queue.atomic && slices.ContainsFunc(b.parts, func(p part) bool { return p.listed })
}

// popped takes over what the loop has taken; false if that was nothing.
func (b *backlog) popped() bool {
	now := b.queue.len()
	n := b.length - now
	b.length, b.cut = now, false
	for k := range b.parts {
		p := &b.parts[k]
		b.cut = b.cut || p.from < n && p.to > n
		b.listed = b.listed || p.from < n && p.listed
		p.from, p.to = max(p.from-n, 0), p.to-n
	}
	b.spilled = b.spilled || b.cut
	b.parts = slices.DeleteFunc(b.parts, func(p part) bool { return p.to <= 0 })
	return n > 0
}

// inside tells whether the loop must take more for the pop to be the same in every run. Where a batch ended inside of a part,
// what it has in common with the entries that follow, and so where the next one ends, depends on the order of the part: only
// the end of the queue does not.
func (b *backlog) inside() bool {
	if b.queue.delta {
		return b.cut
	}
	return b.spilled && b.length > 0
}

// order puts what a handler heard of the last pop in order.
func (b *backlog) order(ns []notification) {
	if b.queue.delta {
		byKey(ns)
		return
	}
	byRun(ns, b.listed)
}
