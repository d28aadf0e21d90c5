package informer

import (
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// DeltaFIFOOptions configures a DeltaFIFO. The zero value has no known objects.
type DeltaFIFOOptions struct {
	// KeyFunc returns an object's key. nil means MetaNamespaceKey.
	KeyFunc cache.KeyFunc
	// KnownObjects is the store that the queue's consumer fills, usually the Indexer. nil means none: Delete, Replace and
	// Resync then consider the queue alone.
	KnownObjects cache.KeyListerGetter
	// EmitSyncOnReplace makes Replace emit Sync instead of Replaced, the default of client-go's older constructor.
	EmitSyncOnReplace bool
	// Transformer is applied to every object except tombstones and resyncs (I43). nil means none.
	Transformer cache.TransformFunc
	// OnEnqueue observes enqueued deltas. nil costs nothing.
	OnEnqueue EnqueueFunc
}

// DeltaFIFO queues keys in the order in which they were first enqueued, each with its object's deltas since it was last
// popped (I40 to I51). It is not safe for concurrent use.
//
// Replace and Resync walk the queue in queue order and the known objects in ascending key order. client-go follows map
// order there, so it may choose this order too.
type DeltaFIFO struct {
	keyFunc     cache.KeyFunc
	plainKeys   bool // keyFunc is MetaNamespaceKey
	known       cache.KeyListerGetter
	onReplace   cache.DeltaType
	transformer cache.TransformFunc
	onEnqueue   EnqueueFunc

	pop      population
	closed   bool
	entries  []fifoEntry       // ring, a power of two long; entry n is at n&(len-1)
	head     uint64            // number of the oldest entry
	tail     uint64            // number of the next entry
	numbers  map[string]uint64 // key to entry number; nil while the queue is short enough to scan
	replaces uint32            // number of Replace calls, for fifoEntry.listedBy
	popped   cache.Deltas      // lent out by the last Pop
	locked   bool              // while a popped entry is processed
}

// fifoEntry is one queued key. Most have one delta, so the first needs no slice.
type fifoEntry struct {
	key      string
	first    cache.Delta
	rest     []cache.Delta
	listedBy uint32 // the last Replace that listed the key
}

func (e *fifoEntry) newest() *cache.Delta {
	if n := len(e.rest); n > 0 {
		return &e.rest[n-1]
	}
	return &e.first
}

const (
	// maxScan is the number of entries up to which keys are found by scanning. A queue that is drained as fast as it is
	// filled, the usual case, then never touches a map.
	maxScan = 8
	// maxIdleEntries bounds the entries that a drained ring keeps.
	maxIdleEntries = 1024
)

// NewDeltaFIFO returns an empty queue.
func NewDeltaFIFO(o DeltaFIFOOptions) *DeltaFIFO {
	f := &DeltaFIFO{
		keyFunc:     o.KeyFunc,
		known:       o.KnownObjects,
		onReplace:   cache.Replaced,
		transformer: o.Transformer,
		onEnqueue:   o.OnEnqueue,
	}
	if f.keyFunc == nil {
		f.keyFunc, f.plainKeys = MetaNamespaceKey, true
	}
	if o.EmitSyncOnReplace {
		f.onReplace = cache.Sync
	}
	f.entries = make([]fifoEntry, 2*maxScan)
	return f
}

var (
	_ Queue       = &DeltaFIFO{}
	_ KeyedWriter = &DeltaFIFO{}
)

// KeyOf returns the key of an object, a tombstone, or Deltas.
func (f *DeltaFIFO) KeyOf(obj any) (string, error) { return queueKey(f.keyFunc, obj) }

// Add enqueues an Added delta.
func (f *DeltaFIFO) Add(obj any) error { return f.write(cache.Added, obj) }

// Update enqueues an Updated delta.
func (f *DeltaFIFO) Update(obj any) error { return f.write(cache.Updated, obj) }

// WriteKeyed implements KeyedWriter.
func (f *DeltaFIFO) WriteKeyed(t cache.DeltaType, key string, obj any) error {
	switch {
	case !f.plainKeys && t == cache.Deleted:
		return f.Delete(obj)
	case !f.plainKeys:
		return f.write(t, obj)
	case t == cache.Deleted:
		return f.deleteKey(key, obj)
	}
	f.pop.touch()
	_, err := f.transformAndEnqueue(t, key, obj)
	return err
}

func (f *DeltaFIFO) write(t cache.DeltaType, obj any) error {
	f.pop.touch()
	key, err := f.KeyOf(obj)
	if err != nil {
		return err
	}
	_, err = f.transformAndEnqueue(t, key, obj)
	return err
}

// Delete enqueues a Deleted delta, unless neither the queue nor the known objects have the key (I46).
func (f *DeltaFIFO) Delete(obj any) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return err
	}
	return f.deleteKey(key, obj)
}

func (f *DeltaFIFO) deleteKey(key string, obj any) error {
	f.pop.touch()
	if f.find(key) == nil && !f.knows(key) {
		return nil
	}
	_, err := f.transformAndEnqueue(cache.Deleted, key, obj)
	return err
}

// knows treats a failed known-objects lookup as "it may exist": a superfluous Deleted is harmless, a missing one leaves a
// ghost.
func (f *DeltaFIFO) knows(key string) bool {
	if f.known == nil {
		return false
	}
	_, exists, err := f.known.GetByKey(key)
	return exists || err != nil
}

// transformAndEnqueue enqueues objects that come from outside. Tombstones have already been transformed (I43).
func (f *DeltaFIFO) transformAndEnqueue(t cache.DeltaType, key string, obj any) (*fifoEntry, error) {
	if f.transformer != nil {
		if _, tombstone := obj.(cache.DeletedFinalStateUnknown); !tombstone {
			var err error
			if obj, err = f.transformer(obj); err != nil {
				return nil, err
			}
		}
	}
	return f.enqueue(t, key, obj), nil
}

func (f *DeltaFIFO) enqueue(t cache.DeltaType, key string, obj any) *fifoEntry {
	if f.onEnqueue != nil {
		f.onEnqueue(t, key, obj)
	}
	if e := f.find(key); e != nil {
		e.push(t, obj)
		return e
	}
	if f.tail-f.head == uint64(len(f.entries)) {
		f.grow()
	}
	e := f.entry(f.tail)
	e.key = key
	e.first = cache.Delta{Type: t, Object: obj}
	f.tail++
	if f.numbers != nil {
		f.numbers[key] = f.tail - 1
	} else if f.Len() > maxScan {
		f.number()
	}
	return e
}

// find returns the entry of a queued key, or nil.
func (f *DeltaFIFO) find(key string) *fifoEntry {
	if f.numbers != nil {
		if n, queued := f.numbers[key]; queued {
			return f.entry(n)
		}
		return nil
	}
	for n := f.head; n < f.tail; n++ {
		if e := f.entry(n); e.key == key {
			return e
		}
	}
	return nil
}

// number builds the map of entry numbers.
func (f *DeltaFIFO) number() {
	f.numbers = make(map[string]uint64, 4*maxScan)
	for n := f.head; n < f.tail; n++ {
		f.numbers[f.entry(n).key] = n
	}
}

// push appends a delta. Two adjacent deletions merge into the older, which has the final state, unless that is a tombstone
// (I45).
func (e *fifoEntry) push(t cache.DeltaType, obj any) {
	if t == cache.Deleted {
		if last := e.newest(); last.Type == cache.Deleted {
			if _, tombstone := last.Object.(cache.DeletedFinalStateUnknown); tombstone {
				last.Object = obj
			}
			return
		}
	}
	e.rest = append(e.rest, cache.Delta{Type: t, Object: obj})
}

func (f *DeltaFIFO) entry(n uint64) *fifoEntry { return &f.entries[n&uint64(len(f.entries)-1)] }

func (f *DeltaFIFO) grow() {
	old := f.entries
	f.entries = make([]fifoEntry, 2*len(old))
	for n := f.head; n < f.tail; n++ {
		*f.entry(n) = old[n&uint64(len(old)-1)]
	}
}

// Pop removes the oldest key with all its deltas. A queue counts as synced before the last entry of the first Replace is
// processed (I51).
func (f *DeltaFIFO) Pop(p *Popped) bool {
	if f.head == f.tail {
		return false
	}
	e := f.entry(f.head)
	lent := len(f.popped)
	f.popped = append(f.popped[:0], e.first)
	if len(e.rest) > 0 {
		f.popped = append(f.popped, e.rest...)
		clear(e.rest)
	}
	if n := len(f.popped); n < lent {
		clear(f.popped[n:lent])
	}
	p.Key, p.Deltas, p.Keys = e.key, f.popped, nil
	p.IsInInitialList = !f.pop.synced
	f.locked = true
	if f.numbers != nil {
		delete(f.numbers, e.key)
	}
	*e = fifoEntry{rest: e.rest[:0]}
	f.head++
	f.pop.taken(1)
	if f.head == f.tail {
		f.drained()
	}
	return true
}

func (f *DeltaFIFO) drained() {
	f.numbers = nil
	if len(f.entries) > maxIdleEntries {
		f.entries = make([]fifoEntry, 2*maxScan)
	}
}

// Done readmits writers. The count of the initial population has already dropped at Pop.
func (f *DeltaFIFO) Done() { f.locked = false }

// Locked reports whether writers have to wait for Done, as they do after every Pop (I51).
func (f *DeltaFIFO) Locked() bool { return f.locked }

// Replace enqueues Replaced (or Sync) for every object of list, then a Deleted with a DeletedFinalStateUnknown for every
// key that the queue or the known objects have and the list does not (I47, I48). On an error, deltas already enqueued stay.
func (f *DeltaFIFO) Replace(list []any, _ string) error {
	f.replaces++
	listed := 0
	for _, obj := range list {
		key, err := f.KeyOf(obj)
		if err != nil {
			return err
		}
		e, err := f.transformAndEnqueue(f.onReplace, key, obj)
		if err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
		if e.listedBy != f.replaces {
			e.listedBy = f.replaces
			listed++
		}
	}
	deleted := f.deleteUnlistedQueued() + f.deleteUnlistedKnown()
	f.pop.begin(listed + deleted) // I49
	return nil
}

// deleteUnlistedQueued covers the queued keys, some of which only the queue knows (k115658).
func (f *DeltaFIFO) deleteUnlistedQueued() (deleted int) {
	for n := f.head; n < f.tail; n++ {
		e := f.entry(n)
		if e.listedBy == f.replaces {
			continue
		}
		obj := e.newest().Object
		if t, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone {
			obj = t.Obj
		}
		f.enqueue(cache.Deleted, e.key, cache.DeletedFinalStateUnknown{Key: e.key, Obj: obj})
		deleted++
	}
	return deleted
}

// deleteUnlistedKnown covers the keys that only the known objects have. All others are already queued: the listed ones were
// just enqueued.
func (f *DeltaFIFO) deleteUnlistedKnown() (deleted int) {
	if f.known == nil {
		return 0
	}
	for _, key := range sortedKeys(f.known) {
		if f.find(key) != nil {
			continue
		}
		obj, _, err := f.known.GetByKey(key)
		if err != nil {
			obj = nil
		}
		f.enqueue(cache.Deleted, key, cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
		deleted++
	}
	return deleted
}

// sortedKeys returns the keys in ascending order. Our Indexer already lists them so; other stores follow map order.
func sortedKeys(known cache.KeyLister) []string {
	keys := known.ListKeys()
	if !slices.IsSorted(keys) {
		slices.Sort(keys)
	}
	return keys
}

// Resync enqueues a Sync for every known object that is not queued (I50).
func (f *DeltaFIFO) Resync() error {
	if f.known == nil {
		return nil
	}
	for _, key := range sortedKeys(f.known) {
		if f.find(key) != nil {
			continue
		}
		if obj, exists, err := f.known.GetByKey(key); err == nil && exists {
			f.enqueue(cache.Sync, key, obj)
		}
	}
	return nil
}

// Bookmark does nothing: a DeltaFIFO is not ordered by resourceVersion, so a bookmark has no place in it.
func (f *DeltaFIFO) Bookmark(string) error { return nil }

// Transformer returns the function applied to objects, or nil.
func (f *DeltaFIFO) Transformer() cache.TransformFunc { return f.transformer }

// HasSynced reports whether everything from the first Replace was popped, or an Add, Update or Delete came first.
func (f *DeltaFIFO) HasSynced() bool { return f.pop.synced }

// Len returns the number of queued keys.
func (f *DeltaFIFO) Len() int { return int(f.tail - f.head) }

// Close marks the queue as closed (I42).
func (f *DeltaFIFO) Close() { f.closed = true }

// IsClosed reports whether Close was called.
func (f *DeltaFIFO) IsClosed() bool { return f.closed }
