package dropin

import (
	"sync"
)

// fifoBase is the common part of the queues: a lock, a condition for waiters in Pop, the population count that determines
// when the queue has synced, and the channel that signals it.
type fifoBase struct {
	mu     sync.Mutex
	cond   sync.Cond
	name   string
	closed bool

	synced     chan struct{}
	syncClosed bool
}

func (f *fifoBase) init(name string) {
	f.name = name
	f.cond.L = &f.mu
	f.synced = make(chan struct{})
}

// Name returns the queue's name for messages.
func (f *fifoBase) Name() string { return f.name }

// Done returns a channel that is closed when the queue has synced.
func (f *fifoBase) Done() <-chan struct{} { return f.synced }

// HasSynced reports whether everything from the first Replace was popped, or an Add, Update or Delete came first (I40,
// I41).
func (f *fifoBase) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.syncClosed
}

// Close makes Pop return once the queue is empty (I42).
func (f *fifoBase) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}

// IsClosed reports whether Close was called.
func (f *fifoBase) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// sync closes the channel if the queue has synced. It needs the lock.
func (f *fifoBase) sync(synced bool) {
	if synced && !f.syncClosed {
		f.syncClosed = true
		close(f.synced)
	}
}

// wait returns nil once length is not 0, or ErrFIFOClosed if the queue is empty and closed. It needs the lock.
func (f *fifoBase) wait(length func() int) error {
	for length() == 0 {
		if f.closed {
			return ErrFIFOClosed
		}
		f.cond.Wait()
	}
	return nil
}

// population counts the entries of the first Replace down to zero (I40, I41).
type population struct {
	populated bool
	remaining int
}

func (p *population) begin(n int) {
	if !p.populated {
		p.populated, p.remaining = true, n
	}
}

func (p *population) taken(n int) { p.remaining = max(0, p.remaining-n) }

func (p *population) synced() bool { return p.populated && p.remaining == 0 }
