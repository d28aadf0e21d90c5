package mutants

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// flaws are the possible defects of a fifo.
type flaws struct {
	noTombstones        bool
	tombstonesByStore   bool
	tombstonesTwice     bool
	replaceSkipsDeleted bool
	deleteByStore       bool
	mergeDeletedAdded   bool
	dropThirdUpdate     bool
	resyncAll           bool
	newestFirst         bool
	syncedAtEnqueue     bool
	popKeeps            bool
}

// fifo is a DeltaFIFO (I40 to I51), written as simply as possible so that defects are easy to add.
type fifo struct {
	flaws
	known   *informer.Indexer
	observe informer.EnqueueFunc

	order     []string
	deltas    map[string]cache.Deltas
	populated bool
	initial   int // entries of the first Replace that have not been popped
	closed    bool
	locked    bool
}

var _ informer.Queue = (*fifo)(nil)

func newFIFO(f flaws, known *informer.Indexer, observe informer.EnqueueFunc) *fifo {
	return &fifo{flaws: f, known: known, observe: observe, deltas: map[string]cache.Deltas{}}
}

func (q *fifo) push(t cache.DeltaType, key string, obj any) {
	waiting, queued := q.deltas[key]
	if q.dropThirdUpdate && t == cache.Updated && len(waiting) >= 2 {
		return
	}
	q.observe(t, key, obj)
	if !queued {
		q.order = append(q.order, key)
	}
	if n := len(waiting); n > 0 {
		last := &waiting[n-1]
		switch {
		case t == cache.Deleted && last.Type == cache.Deleted:
			if _, unknown := last.Object.(cache.DeletedFinalStateUnknown); unknown {
				last.Object = obj
			}
			return
		case q.mergeDeletedAdded && t == cache.Added && last.Type == cache.Deleted:
			*last = cache.Delta{Type: cache.Updated, Object: obj}
			return
		}
	}
	if n := len(waiting); q.newestFirst && t == cache.Updated && n > 0 && waiting[n-1].Type != cache.Deleted {
		waiting[n-1].Object, obj = obj, waiting[n-1].Object
	}
	q.deltas[key] = append(waiting, cache.Delta{Type: t, Object: obj})
}

func (q *fifo) event(t cache.DeltaType, obj any) error {
	key, err := informer.MetaNamespaceKey(obj)
	if err != nil {
		return err
	}
	q.populated = true
	if t == cache.Deleted && !q.knows(key) {
		return nil
	}
	q.push(t, key, obj)
	return nil
}

func (q *fifo) knows(key string) bool {
	_, queued := q.deltas[key]
	_, stored, _ := q.known.GetByKey(key)
	return stored || queued && !q.deleteByStore
}

// Add implements informer.QueueWriter.
func (q *fifo) Add(obj any) error { return q.event(cache.Added, obj) }

// Update implements informer.QueueWriter.
func (q *fifo) Update(obj any) error { return q.event(cache.Updated, obj) }

// Delete implements informer.QueueWriter.
func (q *fifo) Delete(obj any) error { return q.event(cache.Deleted, obj) }

// Replace implements informer.QueueWriter.
func (q *fifo) Replace(list []any, _ string) error {
	listed := map[string]bool{}
	for _, obj := range list {
		key, err := informer.MetaNamespaceKey(obj)
		if err != nil {
			return err
		}
		listed[key] = true
		if waiting := q.deltas[key]; q.replaceSkipsDeleted && len(waiting) > 0 && waiting[len(waiting)-1].Type == cache.Deleted {
			continue
		}
		q.push(cache.Replaced, key, obj)
	}
	deleted := 0
	if !q.noTombstones {
		deleted = q.tombstones(listed)
	}
	if !q.populated {
		q.populated = true
		q.initial = len(listed) + deleted
	}
	return nil
}

// tombstones queues the deletions of keys that are known and not listed: first the queued ones, then those only in the store.
func (q *fifo) tombstones(listed map[string]bool) (deleted int) {
	bury := func(key string, obj any) {
		deleted++
		gone := cache.DeletedFinalStateUnknown{Key: key, Obj: obj}
		q.push(cache.Deleted, key, gone)
		if q.tombstonesTwice {
			q.push(cache.Deleted, key, gone)
		}
	}
	for _, key := range slices.Clone(q.order) {
		waiting := q.deltas[key]
		obj := waiting[len(waiting)-1].Object
		if d, unknown := obj.(cache.DeletedFinalStateUnknown); unknown {
			obj = d.Obj
		}
		if _, stored, _ := q.known.GetByKey(key); !listed[key] && (stored || !q.tombstonesByStore) {
			bury(key, obj)
		}
	}
	for _, key := range q.known.ListKeys() {
		if _, queued := q.deltas[key]; !queued && !listed[key] {
			obj, _, _ := q.known.GetByKey(key)
			bury(key, obj)
		}
	}
	return deleted
}

// Resync implements informer.QueueWriter.
func (q *fifo) Resync() error {
	for _, key := range q.known.ListKeys() {
		if _, queued := q.deltas[key]; queued && !q.resyncAll {
			continue
		}
		obj, _, _ := q.known.GetByKey(key)
		q.push(cache.Sync, key, obj)
	}
	return nil
}

// Pop implements informer.Queue.
func (q *fifo) Pop(p *informer.Popped) bool {
	if len(q.order) == 0 {
		return false
	}
	key := q.order[0]
	q.order = q.order[1:]
	p.Key, p.Deltas, p.Keys = key, q.deltas[key], nil
	p.IsInInitialList = !q.HasSynced()
	delete(q.deltas, key)
	if last := p.Deltas[len(p.Deltas)-1]; q.popKeeps && q.HasSynced() && last.Type != cache.Deleted {
		q.order, q.deltas[key] = append(q.order, key), cache.Deltas{last}
	}
	q.initial = max(0, q.initial-1)
	q.locked = true
	return true
}

// HasSynced implements informer.Queue.
func (q *fifo) HasSynced() bool { return q.populated && (q.initial == 0 || q.syncedAtEnqueue) }

// Done implements informer.Queue.
func (q *fifo) Done() { q.locked = false }

// Locked implements informer.Queue.
func (q *fifo) Locked() bool { return q.locked }

// Len implements informer.Queue.
func (q *fifo) Len() int { return len(q.order) }

// Close implements informer.Queue.
func (q *fifo) Close() { q.closed = true }

// IsClosed implements informer.Queue.
func (q *fifo) IsClosed() bool { return q.closed }

// Bookmark implements informer.QueueWriter.
func (q *fifo) Bookmark(string) error { return nil }

// Transformer implements informer.QueueWriter.
func (q *fifo) Transformer() cache.TransformFunc { return nil }
