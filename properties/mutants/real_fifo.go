package mutants

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// realFlaws are the possible defects of a realFIFO.
type realFlaws struct {
	noTombstones      bool
	tombstonesByStore bool
	deleteByStore     bool
	resyncAll         bool
	newestFirst       bool
	initialLosesRest  bool
	batchLosesUpdates bool
	syncedAtEnqueue   bool
	noSync            bool
	noBookmark        bool
}

func realQueue(kind subjects.Queue, f realFlaws) subjects.Kind {
	return stack.With(realQueueParts(kind, f))
}

func realQueueParts(kind subjects.Queue, f realFlaws) stack.Parts {
	return stack.Parts{Kind: kind, Queue: func(known *informer.Indexer, observe informer.EnqueueFunc) informer.Queue {
		if kind == subjects.QueueAtomic {
			known = nil
		}
		return newRealFIFO(f, known, observe)
	}}
}

// realFIFO is a RealFIFO (I52 to I61), written as simply as possible so that defects are easy to add. Without known objects it is
// an atomic one.
type realFIFO struct {
	realFlaws
	known   *informer.Indexer
	observe informer.EnqueueFunc

	entries   []realEntry
	populated bool
	initial   int // entries of the first Replace that have not been processed
	taken     int // entries that the last Pop took and that have not been processed
	closed    bool
}

type realEntry struct {
	key   string
	delta cache.Delta
}

var _ informer.Queue = (*realFIFO)(nil)

func newRealFIFO(f realFlaws, known *informer.Indexer, observe informer.EnqueueFunc) *realFIFO {
	return &realFIFO{realFlaws: f, known: known, observe: observe}
}

func (q *realFIFO) push(t cache.DeltaType, key string, obj any) {
	q.observe(t, key, obj)
	if q.newestFirst && t == cache.Updated {
		if before := q.waiting(key); before != nil {
			before.Object, obj = obj, before.Object
		}
	}
	q.entries = append(q.entries, realEntry{key, cache.Delta{Type: t, Object: obj}})
}

// waiting returns the last delta of a key; nil if it is a deletion, or if an entry for all keys came after it.
func (q *realFIFO) waiting(key string) *cache.Delta {
	for n := len(q.entries) - 1; n >= 0 && q.entries[n].key != ""; n-- {
		if e := &q.entries[n]; e.key == key {
			if e.delta.Type == cache.Deleted {
				return nil
			}
			return &e.delta
		}
	}
	return nil
}

func (q *realFIFO) event(t cache.DeltaType, obj any) error {
	key, err := informer.MetaNamespaceKey(obj)
	if err != nil {
		return err
	}
	q.populated = true
	if q.deleteByStore && t == cache.Deleted {
		if _, stored, _ := q.known.GetByKey(key); !stored {
			return nil
		}
	}
	q.push(t, key, obj)
	return nil
}

// Add implements informer.QueueWriter.
func (q *realFIFO) Add(obj any) error { return q.event(cache.Added, obj) }

// Update implements informer.QueueWriter.
func (q *realFIFO) Update(obj any) error { return q.event(cache.Updated, obj) }

// Delete implements informer.QueueWriter.
func (q *realFIFO) Delete(obj any) error { return q.event(cache.Deleted, obj) }

// Replace implements informer.QueueWriter.
func (q *realFIFO) Replace(list []any, rv string) error {
	if q.known == nil {
		q.push(cache.ReplacedAll, "", cache.ReplacedAllInfo{ResourceVersion: rv, Objects: list})
	} else if err := q.reconcile(list); err != nil {
		return err
	}
	if !q.populated {
		q.populated, q.initial = true, len(q.entries)
	}
	return nil
}

func (q *realFIFO) reconcile(list []any) error {
	listed := map[string]bool{}
	keys := make([]string, len(list))
	for n, obj := range list {
		key, err := informer.MetaNamespaceKey(obj)
		if err != nil {
			return err
		}
		keys[n], listed[key] = key, true
	}
	if !q.noTombstones {
		q.tombstones(listed)
	}
	for n, obj := range list {
		q.push(cache.Replaced, keys[n], obj)
	}
	return nil
}

// tombstones queues the deletions of keys that are known and not listed: first the queued ones, then those only in the store.
func (q *realFIFO) tombstones(listed map[string]bool) {
	last, order := map[string]cache.Delta{}, []string{}
	for _, e := range q.entries {
		if _, seen := last[e.key]; !seen {
			order = append(order, e.key)
		}
		last[e.key] = e.delta
	}
	for _, key := range order {
		if _, stored, _ := q.known.GetByKey(key); q.tombstonesByStore && !stored {
			continue
		}
		if d := last[key]; !listed[key] && d.Type != cache.Deleted {
			q.push(cache.Deleted, key, cache.DeletedFinalStateUnknown{Key: key, Obj: d.Object})
		}
	}
	for _, key := range q.known.ListKeys() {
		if _, queued := last[key]; !queued && !listed[key] {
			obj, _, _ := q.known.GetByKey(key)
			q.push(cache.Deleted, key, cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
		}
	}
}

// Resync implements informer.QueueWriter.
func (q *realFIFO) Resync() error {
	switch {
	case q.noSync:
		return nil
	case q.known == nil:
		q.push(cache.SyncAll, "", cache.SyncAllInfo{})
		return nil
	}
	queued := map[string]bool{}
	for _, e := range q.entries {
		queued[e.key] = true
	}
	for _, key := range q.known.ListKeys() {
		if !queued[key] || q.resyncAll {
			obj, _, _ := q.known.GetByKey(key)
			q.push(cache.Sync, key, obj)
		}
	}
	return nil
}

// Bookmark implements informer.QueueWriter.
func (q *realFIFO) Bookmark(rv string) error {
	if q.known == nil && !q.noBookmark {
		q.push(cache.Bookmark, "", cache.BookmarkInfo{ResourceVersion: rv})
	}
	return nil
}

// Pop implements informer.Queue.
func (q *realFIFO) Pop(p *informer.Popped) bool {
	if len(q.entries) == 0 {
		return false
	}
	q.Done()
	*p = informer.Popped{IsInInitialList: !q.HasSynced()}
	q.taken = q.batch()
	for _, e := range q.entries[:q.taken] {
		p.Deltas, p.Keys = append(p.Deltas, e.delta), append(p.Keys, e.key)
	}
	q.entries = slices.Delete(q.entries, 0, q.taken)
	switch {
	case q.initialLosesRest && p.IsInInitialList:
		p.Deltas, p.Keys = p.Deltas[:1], p.Keys[:1]
	case q.batchLosesUpdates && !p.IsInInitialList:
		loseUpdates(p)
	}
	if len(p.Deltas) == 1 {
		p.Key, p.Keys = p.Keys[0], nil
	}
	return true
}

// loseUpdates drops all updates from a batch, except the first delta.
func loseUpdates(p *informer.Popped) {
	n := 1
	for i := 1; i < len(p.Deltas); i++ {
		if p.Deltas[i].Type != cache.Updated {
			p.Deltas[n], p.Keys[n] = p.Deltas[i], p.Keys[i]
			n++
		}
	}
	p.Deltas, p.Keys = p.Deltas[:n], p.Keys[:n]
}

// batch returns the number of entries that can be taken at once (I61).
func (q *realFIFO) batch() int {
	limit := min(len(q.entries), 1000)
	if q.initial > 0 {
		limit = min(limit, q.initial)
	}
	seen := map[string]bool{}
	for n, e := range q.entries[:limit] {
		if seen[e.key] || e.key == "" {
			return max(n, 1)
		}
		seen[e.key] = true
	}
	return limit
}

// HasSynced implements informer.Queue.
func (q *realFIFO) HasSynced() bool { return q.populated && (q.initial == 0 || q.syncedAtEnqueue) }

// Done implements informer.Queue.
func (q *realFIFO) Done() {
	q.initial = max(0, q.initial-q.taken)
	q.taken = 0
}

// Locked implements informer.Queue.
func (q *realFIFO) Locked() bool { return q.known != nil && q.taken > 0 }

// Len implements informer.Queue.
func (q *realFIFO) Len() int { return len(q.entries) }

// Close implements informer.Queue.
func (q *realFIFO) Close() { q.closed = true }

// IsClosed implements informer.Queue.
func (q *realFIFO) IsClosed() bool { return q.closed }

// Transformer implements informer.QueueWriter.
func (q *realFIFO) Transformer() cache.TransformFunc { return nil }
