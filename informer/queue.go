package informer

import "k8s.io/client-go/tools/cache"

// QueueWriter is the destination of a Reflector: a queue, or a test double that misbehaves on purpose.
type QueueWriter interface {
	// Add, Update and Delete enqueue one watch event's object. An error means nothing was enqueued.
	Add(obj any) error
	Update(obj any) error
	Delete(obj any) error
	// Replace takes the result of a list at resourceVersion. The queue takes ownership of list.
	Replace(list []any, resourceVersion string) error
	// Resync enqueues every known object again.
	Resync() error
	// Bookmark takes the resourceVersion of a BOOKMARK event (I28). Queues without bookmark deltas ignore it.
	Bookmark(resourceVersion string) error
	// Transformer returns the function that the queue applies to objects, or nil. The watch-list applies it too (I15).
	Transformer() cache.TransformFunc
}

// KeyedWriter is a QueueWriter that accepts the key of a watch event's object from a caller that has it, so that it is
// neither computed again nor stored twice.
type KeyedWriter interface {
	// WriteKeyed is Add, Update or Delete, depending on whether t is Added, Updated or Deleted. key must be
	// MetaNamespaceKey of obj; a queue with its own key function ignores it.
	WriteKeyed(t cache.DeltaType, key string, obj any) error
}

// Queue stands between a Reflector and a Controller: a DeltaFIFO, a RealFIFO, or a test double.
type Queue interface {
	QueueWriter
	// Pop removes the next entry and stores it in p. It returns false, and leaves p unchanged, if there is none. The
	// contents of p are valid until the next Pop.
	Pop(p *Popped) bool
	// Done tells the queue that the last popped entry has been processed (I55). Each Pop is followed by one Done.
	Done()
	// Locked reports whether writers have to wait: client-go's queues hold their lock while an entry is processed (I51),
	// except an atomic one that unlocks (I60). The queue does not enforce this; the caller that steps the stack must.
	Locked() bool
	// HasSynced reports whether everything from the first Replace was popped (DeltaFIFO, I51) or processed (RealFIFO, I55).
	HasSynced() bool
	// Len returns the number of entries: keys in a DeltaFIFO, deltas in a RealFIFO.
	Len() int
	// Close closes the queue. Its entries can still be popped, and writes are not refused (I42).
	Close()
	// IsClosed reports whether Close was called. client-go's Pop returns ErrFIFOClosed once a closed queue is empty.
	IsClosed() bool
}

// Popped is the result of one Pop: the deltas of one object, one delta that concerns many (ReplacedAll, SyncAll, Bookmark),
// or a batch.
type Popped struct {
	// Key is the object's key. It is "" for ReplacedAll, SyncAll, Bookmark and for a batch.
	Key string
	// Deltas are oldest first. The slice belongs to the queue.
	Deltas cache.Deltas
	// Keys holds the keys of a batch's Deltas, one each and all different; nil if this is not a batch. The slice belongs to
	// the queue.
	Keys []string
	// IsInInitialList is the argument for OnAdd: the queue had not synced when this was popped (I41).
	IsInInitialList bool
}

// EnqueueFunc observes a queue: one call per delta, after the transformer, with the object's key ("" for deltas that
// concern many). A Deleted that DeltaFIFO then merges into the one before it (I45) is reported too.
type EnqueueFunc func(t cache.DeltaType, key string, obj any)

// population counts the entries of the first Replace down to zero (I40, I41).
type population struct {
	populated bool
	remaining int
	synced    bool
}

// touch is called by Add, Update and Delete: before any Replace they make the queue count as synced (I40).
func (p *population) touch() {
	p.populated = true
	p.check()
}

// begin is called by every Replace; the first sets the count.
func (p *population) begin(n int) {
	if p.populated {
		return
	}
	p.populated = true
	p.remaining = n
	p.check()
}

func (p *population) taken(n int) {
	if p.remaining > 0 {
		p.remaining -= n
		p.check()
	}
}

// check latches: once synced, a queue stays synced.
func (p *population) check() {
	if p.populated && p.remaining == 0 {
		p.synced = true
	}
}
