package informer

import "k8s.io/client-go/tools/cache"

// QueueWriter is what a Reflector writes to: a queue, or a test double that misbehaves on purpose.
type QueueWriter interface {
	// Add, Update and Delete enqueue one watch event's object. An error means nothing was enqueued.
	Add(obj any) error
	Update(obj any) error
	Delete(obj any) error
	// Replace takes the result of a list at resourceVersion. The queue owns list from here on.
	Replace(list []any, resourceVersion string) error
	// Resync enqueues what is known once more.
	Resync() error
	// Bookmark takes the resourceVersion of a BOOKMARK event (I28). Queues without bookmark deltas ignore it.
	Bookmark(resourceVersion string) error
	// Transformer is what the queue applies to objects, or nil. The watch-list applies it too (I15).
	Transformer() cache.TransformFunc
}

// KeyedWriter is a QueueWriter that takes the key of a watch event's object from somebody who has it, so that it is neither
// computed again nor stored twice.
type KeyedWriter interface {
	// WriteKeyed is Add, Update or Delete, as t is Added, Updated or Deleted. key is what MetaNamespaceKey gives for obj; a
	// queue with a key function of its own goes by that.
	WriteKeyed(t cache.DeltaType, key string, obj any) error
}

// Queue is what stands between a Reflector and a Controller: DeltaFIFO, RealFIFO, or a test double.
type Queue interface {
	QueueWriter
	// Pop takes the next entry out and puts it in p. It returns false, and leaves p alone, if there is none. What p then
	// holds is valid until the next Pop.
	Pop(p *Popped) bool
	// Done tells the queue that the last popped entry has been processed (I55). Each Pop is followed by one Done.
	Done()
	// Locked says whether writers have to wait: client-go's queues hold their lock while an entry is processed (I51), but for
	// an atomic one that unlocks (I60). Nothing is enforced here; whoever steps the stack keeps to it.
	Locked() bool
	// HasSynced says whether everything of the first Replace was popped (DeltaFIFO, I51) or processed (RealFIFO, I55).
	HasSynced() bool
	// Len is the number of entries: keys in a DeltaFIFO, deltas in a RealFIFO.
	Len() int
	// Close ends the queue's life. What it holds can still be popped, and writers are not refused (I42).
	Close()
	// IsClosed says whether Close was called. A closed queue of length 0 is where client-go's Pop returns ErrFIFOClosed.
	IsClosed() bool
}

// Popped is what one Pop yields: the deltas of one object, one delta that concerns many (ReplacedAll, SyncAll, Bookmark),
// or a batch.
type Popped struct {
	// Key is the object's key. It is "" for ReplacedAll, SyncAll, Bookmark and for a batch.
	Key string
	// Deltas are oldest first. The slice belongs to the queue.
	Deltas cache.Deltas
	// Keys are, in a batch, the keys of Deltas, one each and all different. nil says that this is not a batch. The slice
	// belongs to the queue.
	Keys []string
	// IsInInitialList is what OnAdd will be told: the queue had not synced when this was popped (I41).
	IsInInitialList bool
}

// EnqueueFunc observes what a queue enqueues: one call per delta, after the transformer, with the object's key ("" for
// deltas that concern many). A Deleted that DeltaFIFO then merges into the one before it (I45) is reported too.
type EnqueueFunc func(t cache.DeltaType, key string, obj any)

// population counts the entries of the first Replace down to zero (I40, I41).
type population struct {
	populated bool
	remaining int
	synced    bool
}

// touched is called by Add, Update and Delete: before any Replace they make the queue count as synced (I40).
func (p *population) touched() {
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
