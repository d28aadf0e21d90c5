package clientgo

import (
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/subjects/clientgo/gates"
)

// queueView is what is known of the queue inside a running informer.
type queueView struct {
	gates.QueueInfo
	length int
	// keys returns the keys of the entries from..to of a DeltaFIFO.
	keys func(from, to int) []string
}

// maxBatch is the largest number of deltas that a RealFIFO returns at once (I61).
const maxBatch = 1000

// backlog tracks the length of an informer's queue, and which parts of it have no order because client-go iterated over a map.
type backlog struct {
	queue  *queueView
	length int
	parts  []part // in the order of the queue; they do not overlap
	// latest are the revisions of the objects that the informer has been told of, in the queue or taken from it.
	latest map[string]int64
	// unordered are the versions of all lists without an order; true for those that such a list had first.
	unordered map[version]bool

	// Of the current pop.
	listed  bool // it took from a list without an order
	cut     bool // the last batch ended inside a part
	spilled bool // some batch has ended inside a part, or may have
}

// version is a state of an object.
type version struct {
	key string
	rv  int64
}

// part is the range [from, to) of the queue's entries, counted from the head.
type part struct {
	from, to int
	replace  bool // one entry that is a whole list
	listed   bool // objects of a list, not only tombstones or a resync
}

// grown returns how many entries were added.
func (b *backlog) grown() int { return b.queue.length - b.length }

// follow updates the length after entries with an order were added.
func (b *backlog) follow() { b.length = b.queue.length }

// came notes a watch event.
func (b *backlog) came(e *fakeapiserver.Event) {
	switch e.Type {
	case watch.Added, watch.Modified:
		if b.latest == nil {
			b.latest = map[string]int64{}
		}
		b.latest[e.Key] = e.Rev
	case watch.Deleted:
		delete(b.latest, e.Key)
	}
}

// replaced notes that a list was added to the queue.
func (b *backlog) replaced(l *replaced) {
	if l.unordered && b.unordered == nil {
		b.unordered = map[version]bool{}
	}
	if l.unordered {
		for key, rv := range l.revisions { // order: a map is filled
			v := version{key, rv}
			b.unordered[v] = b.unordered[v] || b.latest[key] != rv
		}
	}
	b.latest = l.revisions
	from, to := b.length, b.queue.length
	switch {
	case b.queue.Atomic:
		b.add(part{from: from, to: to, replace: true, listed: l.unordered})
	case b.queue.Delta:
		// The objects of the list come first, in its order if it has one, then the tombstones.
		in := make(map[string]bool, len(l.keys))
		for _, key := range l.keys {
			in[key] = true
		}
		tombstones := from
		for _, key := range b.queue.keys(from, to) {
			if !in[key] {
				break
			}
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

// resynced notes that a resync added the store's objects to the queue.
func (b *backlog) resynced() {
	b.add(part{from: b.length, to: b.queue.length})
	b.length = b.queue.length
}

// partial notes what there is of a list that the transform refused: tombstones of what it lacks, in any order, and the objects before the
// one for which it failed.
func (b *backlog) partial() {
	b.add(part{from: b.length, to: b.queue.length})
	b.length = b.queue.length
}

// add adds a part, unless it has an order, as a single entry that is not a list has.
func (b *backlog) add(p part) {
	if p.to-p.from > 1 || b.queue.Atomic && p.to > p.from {
		b.parts = append(b.parts, p)
	}
}

// unorderedAhead reports whether the next pop may take from a part without an order.
func (b *backlog) unorderedAhead() bool {
	if len(b.parts) == 0 {
		return false
	}
	first := b.parts[0].from
	if b.queue.Delta || b.queue.Atomic {
		return first == 0 // one at a time, or: what stands for many is not batched
	}
	return first < maxBatch
}

// replaceAhead reports whether the next pop takes a whole list.
func (b *backlog) replaceAhead() bool {
	return len(b.parts) > 0 && b.parts[0].from == 0 && b.parts[0].replace
}

// begin begins a pop. A batch ends before a key that it already contains, so among the objects of a list without an order it may
// end anywhere.
func (b *backlog) begin() {
	b.listed = false
	b.spilled = !b.queue.Delta && !b.queue.Atomic && slices.ContainsFunc(b.parts, func(p part) bool { return p.listed })
}

// popped notes what the loop has taken, and reports whether it has taken anything.
func (b *backlog) popped() bool {
	now := b.queue.length
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

// inside reports whether the loop must take more for the pop to be the same in every run. If a batch ended inside a part, which
// keys it shares with the entries that follow, and so where the next batch ends, depends on the order of the part. Only the end of
// the queue does not.
func (b *backlog) inside() bool {
	if b.queue.Delta {
		return b.cut
	}
	return b.spilled && b.length > 0
}

// order sorts the notifications of the last pop.
func (b *backlog) order(ns []notification) {
	if b.queue.Delta {
		byKey(ns)
		return
	}
	if b.listed {
		byRun(ns, b.unordered)
	} else {
		byRun(ns, nil)
	}
}
