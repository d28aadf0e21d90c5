package dropin

import (
	"github.com/informersim/informersim/informer"
)

// deltaProcessor applies entries of an informer's queue to its store and passes on the notifications. Package informer's
// Controller decides those (I62 to I69); deltaProcessor adds the store's lock.
type deltaProcessor struct {
	single informer.Controller
	batch  informer.Controller // its store's lock is held while it writes

	store      controllerStore
	distribute func(informer.Notification)
	locked     bool
}

func newDeltaProcessor(s *store, distribute func(informer.Notification)) *deltaProcessor {
	p := &deltaProcessor{store: controllerStore{s}, distribute: distribute}
	p.single = informer.Controller{Store: p.store, Distribute: distribute, KeyFunc: s.keyFunc}
	p.batch = informer.Controller{Store: lockedStore{p.store}, Distribute: p.unlockAndDistribute, KeyFunc: s.keyFunc}
	return p
}

// process handles one entry of the queue, or a batch. It makes all writes of a batch under one lock, so that readers see
// all of them or none, and then distributes the notifications (I67).
func (p *deltaProcessor) process(popped *informer.Popped) error {
	if popped.Keys == nil {
		return p.single.HandleDeltas(popped)
	}
	p.store.mu.Lock()
	p.locked = true
	defer p.unlock() // if nothing was distributed, or an index function panicked
	return p.batch.HandleDeltas(popped)
}

// unlockAndDistribute relies on informer's Controller making all writes of a batch before the first notification.
func (p *deltaProcessor) unlockAndDistribute(n informer.Notification) {
	p.unlock()
	p.distribute(n)
}

func (p *deltaProcessor) unlock() {
	if p.locked {
		p.locked = false
		p.store.mu.Unlock()
	}
}

// informerQueue is a queue that an informer creates for itself.
type informerQueue interface {
	Queue
	// popInto waits for an entry, or a batch, and processes it. process must not retain the entry.
	popInto(process func(*informer.Popped) error) error
}

var (
	_ informerQueue = (*DeltaFIFO)(nil)
	_ informerQueue = batchingFIFO{}
)

// batchingFIFO is a RealFIFO for an informer.
type batchingFIFO struct {
	*RealFIFO
	limit int // deltas per batch
}

func (f batchingFIFO) popInto(process func(*informer.Popped) error) error {
	return f.pop(f.limit, process)
}
