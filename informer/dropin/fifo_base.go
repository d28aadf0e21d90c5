package dropin

import (
	"sync"
)

// fifoBase is what the queues have in common: a lock, a condition for those who wait in Pop, the population count that says
// when the queue has synced, and the channel that says so without asking.
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

// Name is for messages.
func (f *fifoBase) Name() string { return f.name }

// Done is closed when the queue has synced.
func (f *fifoBase) Done() <-chan struct{} { return f.synced }

// HasSynced says whether everything of the first Replace was popped, or an Add, Update or Delete came before one (I40, I41).
func (f *fifoBase) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.syncClosed
}

// Close ends the wait in Pop once the queue is empty (I42).
func (f *fifoBase) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}

// IsClosed says whether Close was called.
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

// wait returns when length is not 0, or ErrFIFOClosed when it is and the queue is closed. It needs the lock.
func (f *fifoBase) wait(length func() int) error {
	for length() == 0 {
		if f.closed {
			return ErrFIFOClosed
		}
		f.cond.Wait()
	}
	return nil
}

// population counts what the first Replace brought down to zero (I40, I41).
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

func (p *population) gone() bool { return p.populated && p.remaining == 0 }
