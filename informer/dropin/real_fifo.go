package dropin

import (
	"fmt"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	utiltrace "k8s.io/utils/trace"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/dropin/internal/deltaring"
)

// maxBatch is the maximum number of deltas in a batch; a queue twice as long keeps writers out while one is processed (I60,
// I61).
const maxBatch = 1000

// RealFIFO is a queue of all events in order of arrival (I52 to I61).
//
// It behaves like informer's RealFIFO; tests compare both with client-go's, operation by operation. It does not wrap that
// one because there the queue either hands out batches or does not, while here each caller chooses, with Pop or PopBatch.
type RealFIFO struct {
	fifoBase
	options    RealFIFOOptions
	queue      deltaring.Ring
	population population
	metrics    *queueMetrics
	logger     klog.Logger

	popped  informer.Popped
	keys    []string // of popped
	inBatch map[string]struct{}
}

var (
	_ QueueWithBatch         = (*RealFIFO)(nil)
	_ TransformingStore      = (*RealFIFO)(nil)
	_ ReflectorBookmarkStore = (*RealFIFO)(nil)
	_ DoneChecker            = (*RealFIFO)(nil)
)

// NewRealFIFO returns an empty queue that computes Replace and Resync against the known objects.
//
// Deprecated: use NewRealFIFOWithOptions.
func NewRealFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter, transformer TransformFunc) *RealFIFO {
	return NewRealFIFOWithOptions(RealFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects, Transformer: transformer})
}

// NewRealFIFOWithOptions returns an empty queue. It panics if the options contradict each other (I56, I57).
func NewRealFIFOWithOptions(opts RealFIFOOptions) *RealFIFO {
	switch {
	case opts.AtomicEvents && opts.KnownObjects != nil:
		panic("coding error: RealFIFOOptions.KnownObjects must be nil when AtomicEvents is true")
	case !opts.AtomicEvents && opts.UnlockWhileProcessing:
		panic("coding error: RealFIFOOptions.UnlockWhileProcessing must be false when AtomicEvents is false")
	case !opts.AtomicEvents && opts.KnownObjects == nil:
		panic("coding error: RealFIFOOptions.KnownObjects must be set when AtomicEvents is false")
	case !opts.AtomicEvents && opts.EmitDeltaTypeBookmark:
		panic("coding error: RealFIFOOptions.EmitDeltaTypeBookmark must be false when AtomicEvents is false")
	}
	if opts.KeyFunction == nil {
		opts.KeyFunction = MetaNamespaceKeyFunc
	}
	name := "RealFIFO"
	if opts.Name != "" {
		name = opts.Name
	}
	if named := opts.Identifier.Name(); named != "" {
		name = named
	}
	f := &RealFIFO{
		options: opts,
		metrics: newQueueMetrics(opts.Identifier, opts.MetricsProvider),
		logger:  loggerNamed(opts.Logger, name),
	}
	f.init(name)
	return f
}

// KeyOf returns the key of an object, a tombstone, a Delta or Deltas.
func (f *RealFIFO) KeyOf(obj any) (string, error) {
	switch d := obj.(type) {
	case Deltas:
		if len(d) == 0 {
			return "", KeyError{Obj: obj, Err: ErrZeroLengthDeltasObject}
		}
		return f.KeyOf(d.Newest().Object)
	case Delta:
		return f.KeyOf(d.Object)
	case DeletedFinalStateUnknown:
		return d.Key, nil
	}
	return f.options.KeyFunction(obj)
}

// HasSyncedChecker returns the queue itself. It is done when the last object of the first Replace has been processed (I55).
func (f *RealFIFO) HasSyncedChecker() DoneChecker { return f }

// Transformer returns the function applied to objects, or nil.
func (f *RealFIFO) Transformer() TransformFunc { return f.options.Transformer }

// Add queues an Added delta.
func (f *RealFIFO) Add(obj any) error { return f.write(Added, obj) }

// Update queues an Updated delta.
func (f *RealFIFO) Update(obj any) error { return f.write(Updated, obj) }

// Delete queues a Deleted delta, whether or not the key is known (I53).
func (f *RealFIFO) Delete(obj any) error { return f.write(Deleted, obj) }

func (f *RealFIFO) write(t DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.population.populated = true
	f.sync(f.population.synced())
	if err := f.push(t, obj, true); err != nil {
		return err
	}
	f.written()
	return nil
}

// push appends a delta. It needs the lock. Tombstones and resyncs have already been transformed (I43).
func (f *RealFIFO) push(t DeltaType, obj any, transform bool) error {
	key, err := f.KeyOf(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	if _, tombstone := obj.(DeletedFinalStateUnknown); transform && f.options.Transformer != nil && !tombstone {
		if obj, err = f.options.Transformer(obj); err != nil {
			return err
		}
		if key, err = f.KeyOf(obj); err != nil {
			return KeyError{Obj: obj, Err: err}
		}
	}
	f.queue.Push(key, Delta{Type: t, Object: obj})
	return nil
}

// written notifies consumers and updates metrics. It needs the lock.
func (f *RealFIFO) written() {
	f.cond.Broadcast()
	f.reportLength()
}

func (f *RealFIFO) reportLength() {
	if f.metrics != nil {
		f.metrics.queued.Set(float64(f.queue.Len()))
	}
}

// Bookmark queues a Bookmark delta if the queue emits them (I57).
func (f *RealFIFO) Bookmark(resourceVersion string) error {
	if !f.options.EmitDeltaTypeBookmark {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue.Push("", Delta{Type: Bookmark, Object: BookmarkInfo{ResourceVersion: resourceVersion}})
	f.written()
	return nil
}

// Replace queues one ReplacedAll if the queue is atomic (I57); otherwise tombstones for what is gone, then the list (I54).
// The first Replace makes the queue's length the initial population (I55).
func (f *RealFIFO) Replace(newItems []any, resourceVersion string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.written()
	var err error
	if f.options.AtomicEvents {
		err = f.pushReplacedAll(newItems, resourceVersion)
	} else {
		err = f.pushReplaced(newItems)
	}
	if err != nil {
		return err
	}
	f.population.begin(f.queue.Len())
	f.sync(f.population.synced())
	return nil
}

func (f *RealFIFO) pushReplacedAll(list []any, resourceVersion string) error {
	if f.options.Transformer != nil {
		transformed := make([]any, len(list))
		for i, obj := range list {
			var err error
			if transformed[i], err = f.options.Transformer(obj); err != nil {
				return err
			}
		}
		list = transformed
	}
	f.queue.Push("", Delta{Type: ReplacedAll, Object: ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: list}})
	return nil
}

func (f *RealFIFO) pushReplaced(list []any) error {
	listed := make(map[string]struct{}, len(list))
	for _, obj := range list {
		key, err := f.KeyOf(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		listed[key] = struct{}{}
	}
	keys, last := f.queue.LastByKey()
	for _, key := range keys {
		if _, stays := listed[key]; !stays && last[key].Type != Deleted {
			f.pushTombstone(key, last[key].Object)
		}
	}
	for _, key := range f.options.KnownObjects.ListKeys() {
		_, stays := listed[key]
		if _, queued := last[key]; stays || queued {
			continue
		}
		obj, _ := f.known(key)
		f.pushTombstone(key, obj)
	}
	for _, obj := range list {
		if err := f.push(Replaced, obj, true); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	return nil
}

func (f *RealFIFO) pushTombstone(key string, obj any) {
	f.queue.Push(key, Delta{Type: Deleted, Object: DeletedFinalStateUnknown{Key: key, Obj: obj}})
}

// known looks up a listed key in the known objects and logs if it is missing.
func (f *RealFIFO) known(key string) (obj any, exists bool) {
	obj, exists, err := f.options.KnownObjects.GetByKey(key)
	if err == nil && exists {
		return obj, true
	}
	utilruntime.HandleErrorWithLogger(f.logger, err, "Key listed by the known objects is not there", "key", key)
	return nil, false
}

// Resync queues one SyncAll if the queue is atomic (I57), otherwise a Sync for each known object that is not queued.
func (f *RealFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.written()
	if f.options.AtomicEvents {
		f.queue.Push("", Delta{Type: SyncAll, Object: SyncAllInfo{}})
		return nil
	}
	_, queued := f.queue.LastByKey()
	for _, key := range f.options.KnownObjects.ListKeys() {
		if _, ok := queued[key]; ok {
			continue
		}
		obj, exists := f.known(key)
		if !exists {
			continue
		}
		if err := f.push(Sync, obj, false); err != nil {
			return fmt.Errorf("couldn't queue object: %w", err)
		}
	}
	return nil
}

// Pop waits for a delta, removes it and processes it. The queue stays locked meanwhile, unless it was configured to unlock
// and is short; then only one goroutine may pop (I60). It returns Deltas with that one delta and the error of process, or
// ErrFIFOClosed.
func (f *RealFIFO) Pop(process PopProcessFunc) (any, error) {
	var deltas Deltas
	err := f.pop(1, func(p *informer.Popped) error {
		deltas = Deltas{p.Deltas[0]}
		return process(deltas, p.IsInInitialList)
	})
	if deltas == nil {
		return nil, err
	}
	return deltas, err
}

// PopBatch is Pop for up to 1000 deltas at once: all batchable, with different keys, and not crossing the end of the
// initial population (I61). processSingle gets a single delta.
func (f *RealFIFO) PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error {
	return f.pop(maxBatch, func(p *informer.Popped) error {
		deltas := append([]Delta(nil), p.Deltas...) // the queue reuses its slice
		if len(deltas) == 1 {
			return processSingle(Deltas(deltas), p.IsInInitialList)
		}
		return processBatch(deltas, p.IsInInitialList)
	})
}

// pop is PopBatch for a consumer that does not retain the deltas after process.
func (f *RealFIFO) pop(limit int, process func(*informer.Popped) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.wait(f.queue.Len); err != nil {
		return err
	}
	f.take(limit)
	taken := len(f.popped.Deltas)
	defer func() { // after processing (I55), even if it panics
		f.population.taken(taken)
		f.sync(f.population.synced())
		clear(f.popped.Deltas)
	}()
	defer f.traceIfDeep(taken)()
	f.reportLength()
	return f.process(process)
}

// take moves the next deltas to f.popped. It needs the lock.
func (f *RealFIFO) take(limit int) {
	p := &f.popped
	p.Deltas, p.Key, p.Keys, p.IsInInitialList = p.Deltas[:0], "", nil, !f.syncClosed
	f.keys = f.keys[:0]
	if f.population.remaining > 0 {
		limit = min(limit, f.population.remaining)
	}
	for n := 0; n < limit && f.queue.Len() > 0; n++ {
		key, delta := f.queue.Front()
		if n > 0 && !f.mayJoin(key, delta.Type) {
			break
		}
		p.Deltas = append(p.Deltas, *delta)
		f.keys = append(f.keys, key)
		f.queue.PopFront()
		if !batchable(p.Deltas[n].Type) {
			break
		}
	}
	clear(f.inBatch)
	if len(f.keys) == 1 {
		p.Key = f.keys[0]
	} else {
		p.Keys = f.keys
	}
}

// mayJoin reports whether a delta may share a batch with those of f.keys, and records its key.
func (f *RealFIFO) mayJoin(key string, t DeltaType) bool {
	if !batchable(t) {
		return false
	}
	if len(f.keys) == 1 {
		if f.inBatch == nil {
			f.inBatch = map[string]struct{}{}
		}
		f.inBatch[f.keys[0]] = struct{}{}
	}
	if _, duplicate := f.inBatch[key]; duplicate {
		return false
	}
	f.inBatch[key] = struct{}{}
	return true
}

func batchable(t DeltaType) bool {
	switch t {
	case Sync, Replaced, Added, Updated, Deleted:
		return true
	}
	return false
}

// process calls process, without the lock if the queue unlocks and is not too long (I60).
func (f *RealFIFO) process(process func(*informer.Popped) error) error {
	if f.options.UnlockWhileProcessing && f.queue.Len() < 2*maxBatch {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	if f.metrics == nil {
		return process(&f.popped)
	}
	start := time.Now()
	err := process(&f.popped)
	f.metrics.latency.Observe(time.Since(start).Seconds())
	return err
}

// traceIfDeep logs slow processing while other entries wait. It returns the function to call after processing.
func (f *RealFIFO) traceIfDeep(taken int) func() {
	depth := f.queue.Len()
	if depth <= traceDepth {
		return nop
	}
	fields := []utiltrace.Field{
		{Key: "ID", Value: f.keys[0]},
		{Key: "Depth", Value: depth},
		{Key: "Reason", Value: "slow event handlers blocking the queue"},
		{Key: "BatchSize", Value: taken},
	}
	if name := f.options.Identifier.Name(); name != "" {
		fields = append(fields, utiltrace.Field{Key: "Name", Value: name})
	}
	if gvr := f.options.Identifier.GroupVersionResource(); !gvr.Empty() {
		fields = append(fields, utiltrace.Field{Key: "Resource", Value: gvr})
	}
	trace := utiltrace.New("RealFIFO Pop Process", fields...)
	return func() { trace.LogIfLong(min(100*time.Millisecond*time.Duration(taken), time.Second)) }
}
