package dropin

import (
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/informer"
)

const (
	// crashBackoff is the delay before the next call after a handler panics (I85).
	crashBackoff = time.Second
	// slowCall is how long a call of a handler with a backlog may take before it is logged.
	slowCall = 100 * time.Millisecond
)

// listener is one registered handler: an unbounded backlog (I83) and a goroutine that calls the handler with one
// notification after the other (I84). The goroutine takes the whole backlog at once, so that the informer, which fills it,
// rarely waits for the lock.
type listener struct {
	handler     ResourceEventHandler
	handlerName string
	logger      klog.Logger
	// resync is informer's record of whether the listener is syncing. It needs the processor's lock.
	resync *informer.Listener
	synced *syncTracker

	mu      sync.Mutex
	cond    sync.Cond
	backlog backlog
	waiting bool // the goroutine waits for cond
	closed  bool // nothing will be added
	// removed makes the goroutine drop the chunks it has taken (I81). It is read without the lock, before each call.
	removed atomic.Bool
	// finished is closed when no call is in flight and none will follow.
	finished chan struct{}
}

var _ ResourceEventHandlerRegistration = (*listener)(nil)

func newListener(logger klog.Logger, handler ResourceEventHandler, upstream string) *listener {
	l := &listener{
		handler:     handler,
		handlerName: nameForHandler(handler),
		logger:      logger,
		finished:    make(chan struct{}),
	}
	l.cond.L = &l.mu
	l.synced = newSyncTracker(upstream + " + event handler " + l.handlerName)
	return l
}

// HasSynced reports whether the informer has synced and the handler has returned from every add of the initial list (I86).
func (l *listener) HasSynced() bool { return IsDone(l.synced) }

// HasSyncedChecker returns a DoneChecker for HasSynced.
func (l *listener) HasSyncedChecker() DoneChecker { return l.synced }

// ShutdownChan returns a channel that is closed when the handler will not be called again. client-go's ShutDownEventHandler
// looks for this method (I82).
func (l *listener) ShutdownChan() <-chan struct{} { return l.finished }

// add appends a notification to the backlog.
func (l *listener) add(n *informer.Notification) {
	if n.IsInInitialList {
		l.synced.start()
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.backlog.push(n)
	wake := l.waiting
	l.waiting = false
	l.mu.Unlock()
	if wake {
		l.cond.Signal()
	}
}

// close ends the goroutine after the call in flight, if any, and drops the backlog (I81).
func (l *listener) close() {
	l.removed.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.backlog = backlog{}
	l.waiting = false
	l.cond.Signal()
}

// take waits for notifications and returns all of them, oldest first. It releases the chunks taken before. It returns nil
// when the listener is closed.
func (l *listener) take(used *chunk) *chunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.backlog.release(used)
	for l.backlog.first == nil {
		if l.closed {
			return nil
		}
		l.waiting = true
		l.cond.Wait()
	}
	return l.backlog.takeAll()
}

// run calls the handler until the listener is closed.
func (l *listener) run() {
	defer close(l.finished)
	crashed := false
	var taken *chunk
	for {
		if taken = l.take(taken); taken == nil {
			return
		}
		for c := taken; c != nil; c = c.next {
			for i := range c.len {
				if crashed {
					time.Sleep(crashBackoff)
				}
				if l.removed.Load() {
					return
				}
				crashed = !l.call(&c.notifications[i], c.next != nil)
				c.notifications[i] = informer.Notification{} // so that the objects can be collected
			}
			c.len = 0
		}
	}
}

// call calls the handler once. It returns false if the handler panicked and the program survives: the item is skipped
// (I85).
func (l *listener) call(n *informer.Notification, behind bool) (returned bool) {
	defer utilruntime.HandleCrashWithLogger(l.logger)
	if !behind {
		n.Call(l.handler)
	} else {
		start := time.Now()
		n.Call(l.handler)
		if took := time.Since(start); took > slowCall {
			l.logger.Info("Slow event handler with a backlog", "handler", l.handlerName, "took", took, "notification", n.Type.String())
		}
	}
	if n.IsInInitialList {
		l.synced.finish()
	}
	return true
}

// syncTracker is done when the informer has synced and every start is matched by a finish (I86).
type syncTracker struct {
	name     string
	done     chan struct{}
	mu       sync.Mutex
	pending  int
	upstream bool
	closed   bool
}

var _ DoneChecker = (*syncTracker)(nil)

func newSyncTracker(name string) *syncTracker {
	return &syncTracker{name: name, done: make(chan struct{})}
}

// Name returns the tracker's name for messages.
func (t *syncTracker) Name() string { return t.name }

// Done returns a channel that is closed when the tracker is done.
func (t *syncTracker) Done() <-chan struct{} { return t.done }

func (t *syncTracker) start() { t.change(1, false) }

func (t *syncTracker) finish() { t.change(-1, false) }

func (t *syncTracker) upstreamSynced() { t.change(0, true) }

func (t *syncTracker) change(pending int, upstream bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending += pending
	t.upstream = t.upstream || upstream
	if t.upstream && t.pending == 0 && !t.closed {
		t.closed = true
		close(t.done)
	}
}
