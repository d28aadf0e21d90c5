package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// maxBatch is the maximum number of deltas in a batch (I61).
const maxBatch = 1000

// RealFIFOOptions configures a RealFIFO. Exactly one of Atomic and KnownObjects must be set (I56, I57).
type RealFIFOOptions struct {
	// KeyFunc returns an object's key. nil means MetaNamespaceKey.
	KeyFunc cache.KeyFunc
	// KnownObjects is the store that the queue's consumer fills: Replace and Resync are computed against it.
	KnownObjects cache.KeyListerGetter
	// Atomic makes Replace and Resync one delta each, resolved when it is processed (I57, I59).
	Atomic bool
	// EmitBookmarks makes Bookmark enqueue a delta. It needs Atomic.
	EmitBookmarks bool
	// Batch lets Pop return many deltas at once where possible (I61), as client-go's informers do.
	Batch bool
	// UnlockWhileProcessing allows writes between Pop and Done while the queue is short (I60). It needs Atomic.
	UnlockWhileProcessing bool
	// Transformer is applied to every object except tombstones and resyncs (I43). nil means none.
	Transformer cache.TransformFunc
	// OnEnqueue observes enqueued deltas. nil costs nothing.
	OnEnqueue EnqueueFunc
}

// RealFIFO queues every event separately in order of arrival, across keys (I52 to I61). It is not safe for concurrent use.
//
// Its count of the initial population drops at Done, after processing (I55). It walks known objects in ascending key order,
// where client-go follows map order.
type RealFIFO struct {
	keyFunc       cache.KeyFunc
	plainKeys     bool // keyFunc is MetaNamespaceKey
	known         cache.KeyListerGetter
	atomic        bool
	emitBookmarks bool
	batching      bool
	unlocks       bool
	transformer   cache.TransformFunc
	onEnqueue     EnqueueFunc

	pop     population
	closed  bool
	entries []realEntry // ring, a power of two long; entry n is at n&(len-1)
	head    uint64
	tail    uint64
	popped  cache.Deltas // lent out by the last Pop
	keys    []string
	inBatch map[string]struct{} // scratch of popBatch
	undone  int                 // deltas popped and not Done
	locked  bool                // while a popped entry is processed
}

type realEntry struct {
	key   string
	delta cache.Delta
}

// NewRealFIFO returns an empty queue. It panics if the options contradict each other, as client-go's does (I56, I57).
func NewRealFIFO(o RealFIFOOptions) *RealFIFO {
	switch {
	case o.Atomic && o.KnownObjects != nil:
		panic("coding error: RealFIFOOptions.KnownObjects must be nil when Atomic is set: an atomic queue does not read the store")
	case !o.Atomic && o.KnownObjects == nil:
		panic("coding error: RealFIFOOptions.KnownObjects must be set when Atomic is not: Replace is computed against it")
	case !o.Atomic && o.EmitBookmarks:
		panic("coding error: RealFIFOOptions.EmitBookmarks needs Atomic: otherwise a bookmark may overtake the events it covers")
	case !o.Atomic && o.UnlockWhileProcessing:
		panic("coding error: RealFIFOOptions.UnlockWhileProcessing needs Atomic: otherwise a Replace reads a half-written store")
	}
	f := &RealFIFO{
		keyFunc:       o.KeyFunc,
		known:         o.KnownObjects,
		atomic:        o.Atomic,
		emitBookmarks: o.EmitBookmarks,
		batching:      o.Batch,
		unlocks:       o.UnlockWhileProcessing,
		transformer:   o.Transformer,
		onEnqueue:     o.OnEnqueue,
		entries:       make([]realEntry, 2*maxScan),
	}
	if f.keyFunc == nil {
		f.keyFunc, f.plainKeys = MetaNamespaceKey, true
	}
	return f
}

var (
	_ Queue       = &RealFIFO{}
	_ KeyedWriter = &RealFIFO{}
)

// KeyOf returns the key of an object, a tombstone, a Delta or Deltas.
func (f *RealFIFO) KeyOf(obj any) (string, error) { return queueKey(f.keyFunc, obj) }

// Add enqueues an Added delta.
func (f *RealFIFO) Add(obj any) error { return f.write(cache.Added, obj) }

// Update enqueues an Updated delta.
func (f *RealFIFO) Update(obj any) error { return f.write(cache.Updated, obj) }

// Delete enqueues a Deleted delta, whether or not the key is known (I53).
func (f *RealFIFO) Delete(obj any) error { return f.write(cache.Deleted, obj) }

// WriteKeyed implements KeyedWriter. With a transformer the key is computed anyway, since it may have changed.
func (f *RealFIFO) WriteKeyed(t cache.DeltaType, key string, obj any) error {
	if !f.plainKeys || f.transformer != nil {
		return f.write(t, obj)
	}
	f.pop.touch()
	f.enqueue(t, key, obj)
	return nil
}

func (f *RealFIFO) write(t cache.DeltaType, obj any) error {
	f.pop.touch()
	return f.transformAndEnqueue(t, obj)
}

// transformAndEnqueue enqueues objects that come from outside, under the key of the transformed object, which the consumer
// stores.
func (f *RealFIFO) transformAndEnqueue(t cache.DeltaType, obj any) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return err
	}
	if f.transformer != nil {
		if _, tombstone := obj.(cache.DeletedFinalStateUnknown); !tombstone {
			if obj, err = f.transformer(obj); err != nil {
				return err
			}
			// A transformer that removes the key is detected when the delta is processed, as in client-go.
			if transformed, err := f.KeyOf(obj); err == nil {
				key = transformed
			}
		}
	}
	f.enqueue(t, key, obj)
	return nil
}

func (f *RealFIFO) enqueue(t cache.DeltaType, key string, obj any) {
	if f.onEnqueue != nil {
		f.onEnqueue(t, key, obj)
	}
	if f.tail-f.head == uint64(len(f.entries)) {
		f.grow()
	}
	e := f.entry(f.tail)
	e.key = key
	e.delta = cache.Delta{Type: t, Object: obj}
	f.tail++
}

func (f *RealFIFO) entry(n uint64) *realEntry { return &f.entries[n&uint64(len(f.entries)-1)] }

func (f *RealFIFO) grow() {
	old := f.entries
	f.entries = make([]realEntry, 2*len(old))
	for n := f.head; n < f.tail; n++ {
		*f.entry(n) = old[n&uint64(len(old)-1)]
	}
}

// Replace enqueues one ReplacedAll if the queue is atomic (I57). Otherwise it enqueues tombstones for the keys that the
// queue or the known objects have and the list does not, and then the list as Replaced (I54). The first Replace sets the
// count of the initial population to the length of the queue (I55). On an error, deltas already enqueued stay.
func (f *RealFIFO) Replace(list []any, resourceVersion string) error {
	var err error
	if f.atomic {
		err = f.replaceAll(list, resourceVersion)
	} else {
		err = f.reconcile(list)
	}
	if err != nil {
		return err
	}
	f.pop.begin(f.Len())
	return nil
}

func (f *RealFIFO) replaceAll(list []any, resourceVersion string) error {
	if f.transformer != nil {
		transformed := make([]any, len(list))
		for i, obj := range list {
			var err error
			if transformed[i], err = f.transformer(obj); err != nil {
				return err
			}
		}
		list = transformed
	}
	f.enqueue(cache.ReplacedAll, "", cache.ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: list})
	return nil
}

func (f *RealFIFO) reconcile(list []any) error {
	listed := make(map[string]struct{}, len(list))
	for _, obj := range list {
		key, err := f.KeyOf(obj)
		if err != nil {
			return err
		}
		listed[key] = struct{}{}
	}
	queued, last := f.queuedKeys()
	for _, key := range queued {
		if _, ok := listed[key]; ok || last[key].Type == cache.Deleted {
			continue
		}
		f.enqueueTombstone(key, last[key].Object)
	}
	for _, key := range sortedKeys(f.known) {
		if _, ok := listed[key]; ok {
			continue
		}
		if _, ok := last[key]; ok {
			continue
		}
		obj, _, err := f.known.GetByKey(key)
		if err != nil {
			obj = nil
		}
		f.enqueueTombstone(key, obj)
	}
	for _, obj := range list {
		if err := f.transformAndEnqueue(cache.Replaced, obj); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	return nil
}

func (f *RealFIFO) enqueueTombstone(key string, obj any) {
	f.enqueue(cache.Deleted, key, cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
}

// queuedKeys returns the queued keys in the order of their first delta, and the last delta of each.
func (f *RealFIFO) queuedKeys() (keys []string, last map[string]cache.Delta) {
	last = make(map[string]cache.Delta, f.Len())
	for n := f.head; n < f.tail; n++ {
		e := f.entry(n)
		if _, seen := last[e.key]; !seen {
			keys = append(keys, e.key)
		}
		last[e.key] = e.delta
	}
	return keys, last
}

// Resync enqueues one SyncAll if the queue is atomic (I57), otherwise a Sync for every known object that is not queued.
func (f *RealFIFO) Resync() error {
	if f.atomic {
		f.enqueue(cache.SyncAll, "", cache.SyncAllInfo{})
		return nil
	}
	queued := make(map[string]struct{}, f.Len())
	for n := f.head; n < f.tail; n++ {
		queued[f.entry(n).key] = struct{}{}
	}
	for _, key := range sortedKeys(f.known) {
		if _, ok := queued[key]; ok {
			continue
		}
		if obj, exists, err := f.known.GetByKey(key); err == nil && exists {
			f.enqueue(cache.Sync, key, obj)
		}
	}
	return nil
}

// Bookmark enqueues a Bookmark delta if the queue emits them (I57).
func (f *RealFIFO) Bookmark(resourceVersion string) error {
	if f.emitBookmarks {
		f.enqueue(cache.Bookmark, "", cache.BookmarkInfo{ResourceVersion: resourceVersion})
	}
	return nil
}

// Pop removes the oldest delta, or a batch if Batch is set. It does not count as processed until Done; the next Pop implies
// Done for the previous one.
func (f *RealFIFO) Pop(p *Popped) bool {
	if f.head == f.tail {
		return false
	}
	f.Done()
	clear(f.popped)
	clear(f.keys)
	f.popped, f.keys = f.popped[:0], f.keys[:0]
	p.IsInInitialList = !f.pop.synced
	if f.batching {
		f.popBatch()
	} else {
		f.take()
	}
	f.undone = len(f.popped)
	f.locked = !f.unlocks || f.Len() >= 2*maxBatch
	p.Deltas, p.Key, p.Keys = f.popped, "", nil
	if len(f.popped) == 1 {
		p.Key = f.keys[0]
	} else {
		p.Keys = f.keys
	}
	if f.head == f.tail && len(f.entries) > maxIdleEntries {
		f.entries = make([]realEntry, 2*maxScan)
	}
	return true
}

func (f *RealFIFO) take() {
	e := f.entry(f.head)
	f.popped = append(f.popped, e.delta)
	f.keys = append(f.keys, e.key)
	*e = realEntry{}
	f.head++
}

// popBatch takes deltas up to one that cannot be batched, a key already in the batch, the end of the initial population, or
// the limit (I61). A delta that cannot be batched goes alone.
func (f *RealFIFO) popBatch() {
	limit := min(f.Len(), maxBatch)
	if f.pop.remaining > 0 {
		limit = min(limit, f.pop.remaining)
	}
	f.take()
	if limit == 1 || !batchable(f.popped[0].Type) {
		return
	}
	if f.inBatch == nil {
		f.inBatch = make(map[string]struct{}, 16)
	}
	f.inBatch[f.keys[0]] = struct{}{}
	for len(f.popped) < limit {
		e := f.entry(f.head)
		if _, dup := f.inBatch[e.key]; dup || !batchable(e.delta.Type) {
			break
		}
		f.inBatch[e.key] = struct{}{}
		f.take()
	}
	clear(f.inBatch)
}

// Done lowers the count of the initial population (I55).
func (f *RealFIFO) Done() {
	f.locked = false
	if f.undone > 0 {
		f.pop.taken(f.undone)
		f.undone = 0
	}
}

// Locked reports whether writers have to wait for Done: an entry is being processed, and the queue either does not unlock
// meanwhile or is too long to grow (I60).
func (f *RealFIFO) Locked() bool { return f.locked }

// Transformer returns the function applied to objects, or nil.
func (f *RealFIFO) Transformer() cache.TransformFunc { return f.transformer }

// HasSynced reports whether everything from the first Replace was processed, or an Add, Update or Delete came first. After
// an empty Replace a plain queue has synced at once, an atomic one when its one delta is processed (I58).
func (f *RealFIFO) HasSynced() bool { return f.pop.synced }

// Len returns the number of queued deltas.
func (f *RealFIFO) Len() int { return int(f.tail - f.head) }

// Close marks the queue as closed (I42).
func (f *RealFIFO) Close() { f.closed = true }

// IsClosed reports whether Close was called.
func (f *RealFIFO) IsClosed() bool { return f.closed }
