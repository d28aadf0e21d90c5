package dropin

import (
	"time"

	"k8s.io/klog/v2"
	utiltrace "k8s.io/utils/trace"

	"github.com/informersim/informersim/informer"
)

// DeltaFIFO is a queue of keys in the order in which they were first written, each with its object's deltas since it was
// last handed out (I44 to I51). It is informer's DeltaFIFO behind a lock.
type DeltaFIFO struct {
	fifoBase
	queue  *informer.DeltaFIFO
	popped informer.Popped
	logger klog.Logger
}

var (
	_ Queue             = (*DeltaFIFO)(nil)
	_ TransformingStore = (*DeltaFIFO)(nil)
	_ DoneChecker       = (*DeltaFIFO)(nil)
)

// NewDeltaFIFO returns an empty queue whose Replace queues Sync deltas.
//
// Deprecated: use NewDeltaFIFOWithOptions.
func NewDeltaFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter) *DeltaFIFO {
	return NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects})
}

// NewDeltaFIFOWithOptions returns an empty queue.
func NewDeltaFIFOWithOptions(opts DeltaFIFOOptions) *DeltaFIFO {
	if opts.KeyFunction == nil {
		opts.KeyFunction = MetaNamespaceKeyFunc
	}
	if opts.Name == "" {
		opts.Name = "DeltaFIFO"
	}
	f := &DeltaFIFO{
		queue: informer.NewDeltaFIFO(informer.DeltaFIFOOptions{
			KeyFunc:           opts.KeyFunction,
			KnownObjects:      opts.KnownObjects,
			EmitSyncOnReplace: !opts.EmitDeltaTypeReplaced,
			Transformer:       opts.Transformer,
		}),
		logger: loggerNamed(opts.Logger, opts.Name),
	}
	f.init(opts.Name)
	return f
}

func loggerNamed(logger *klog.Logger, name string) klog.Logger {
	if logger == nil {
		return klog.LoggerWithName(klog.Background(), name)
	}
	return klog.LoggerWithName(*logger, name)
}

// KeyOf returns the key of an object, a tombstone, or Deltas.
func (f *DeltaFIFO) KeyOf(obj any) (string, error) { return f.queue.KeyOf(obj) }

// HasSyncedChecker returns the queue itself. It is done before the last object of the first Replace is processed (I51).
func (f *DeltaFIFO) HasSyncedChecker() DoneChecker { return f }

// Transformer returns the function applied to objects, or nil.
func (f *DeltaFIFO) Transformer() TransformFunc { return f.queue.Transformer() }

// Add queues an Added delta.
func (f *DeltaFIFO) Add(obj any) error { return f.write(func() error { return f.queue.Add(obj) }) }

// Update queues an Updated delta.
func (f *DeltaFIFO) Update(obj any) error {
	return f.write(func() error { return f.queue.Update(obj) })
}

// Delete queues a Deleted delta, unless neither the queue nor the known objects have the key (I46).
func (f *DeltaFIFO) Delete(obj any) error {
	return f.write(func() error { return f.queue.Delete(obj) })
}

// Replace queues a delta for each object of list, and a Deleted for each that the queue or the known objects have and the
// list does not (I47).
func (f *DeltaFIFO) Replace(list []any, resourceVersion string) error {
	return f.write(func() error { return f.queue.Replace(list, resourceVersion) })
}

// Resync queues a Sync delta for each known object that is not queued (I50).
func (f *DeltaFIFO) Resync() error { return f.write(f.queue.Resync) }

func (f *DeltaFIFO) write(op func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := op()
	f.sync(f.queue.HasSynced())
	f.cond.Broadcast()
	return err
}

// Pop waits for a key, removes it with its Deltas, and processes them under the queue's lock (I51). It returns the Deltas
// and the error of process, or ErrFIFOClosed.
func (f *DeltaFIFO) Pop(process PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.wait(f.queue.Len); err != nil {
		return nil, err
	}
	defer f.queue.Done() // even if process panics
	f.queue.Pop(&f.popped)
	f.sync(f.queue.HasSynced()) // before processing (I51)
	defer f.traceIfDeep(f.popped.Key)()
	deltas := append(Deltas(nil), f.popped.Deltas...) // the queue reuses its slice
	return deltas, process(deltas, f.popped.IsInInitialList)
}

// popInto is Pop for a consumer that does not retain the deltas after process.
func (f *DeltaFIFO) popInto(process func(*informer.Popped) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.wait(f.queue.Len); err != nil {
		return err
	}
	defer f.queue.Done()
	f.queue.Pop(&f.popped)
	f.sync(f.queue.HasSynced())
	defer f.traceIfDeep(f.popped.Key)()
	return process(&f.popped)
}

// traceIfDeep logs slow processing while other entries wait. It returns the function to call after processing.
func (f *DeltaFIFO) traceIfDeep(key string) func() {
	depth := f.queue.Len()
	if depth <= traceDepth {
		return nop
	}
	trace := utiltrace.New("DeltaFIFO Pop Process",
		utiltrace.Field{Key: "ID", Value: key},
		utiltrace.Field{Key: "Depth", Value: depth},
		utiltrace.Field{Key: "Reason", Value: "slow event handlers blocking the queue"})
	return func() { trace.LogIfLong(100 * time.Millisecond) }
}

// traceDepth is the minimum queue length at which slow processing is logged.
const traceDepth = 10

func nop() {}
