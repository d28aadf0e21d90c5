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
	// crashPause is how long a listener rests after its handler panicked (I85).
	crashPause = time.Second
	// slowCall is how long a call may take, of a handler that has fallen behind, without being logged.
	slowCall = 100 * time.Millisecond
)

// listener is one registered handler: a backlog without limit (I83) and a goroutine that calls the handler with one
// notification after the other (I84). The goroutine takes the whole backlog at a time, so that the informer, which fills it,
// seldom waits for the lock.
type listener struct {
	handler     ResourceEventHandler
	handlerName string
	logger      klog.Logger
	// resync is informer's account of whether the listener is syncing. It needs the processor's lock.
	resync *informer.Listener
	synced *syncTracker

	mu      sync.Mutex
	cond    sync.Cond
	backlog backlog
	waiting bool // the goroutine waits for cond
	closed  bool // nothing will be added
	// removed makes the goroutine drop what it has taken (I81). It is read without the lock, before each call.
	removed atomic.Bool
	// finished is closed when no call is under way and none will be made.
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

// HasSynced says whether the informer has synced and the handler has returned from every add of the initial list (I86).
func (l *listener) HasSynced() bool { return IsDone(l.synced) }

// HasSyncedChecker says the same without being asked.
func (l *listener) HasSyncedChecker() DoneChecker { return l.synced }

// ShutdownChan is closed when the handler will not be called any more. client-go's ShutDownEventHandler looks for it (I82).
func (l *listener) ShutdownChan() <-chan struct{} { return l.finished }

// add puts a notification at the end of the backlog.
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

// close makes the goroutine end after the call under way, if there is one; the backlog is dropped (I81).
func (l *listener) close() {
	l.removed.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.backlog = backlog{}
	l.waiting = false
	l.cond.Signal()
}

// take waits for notifications and hands over all there are, oldest first. It gives back those that were taken before. It
// returns nil when the listener is closed.
func (l *listener) take(used *chunk) *chunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.backlog.giveBack(used)
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
					time.Sleep(crashPause)
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

// call makes one call of the handler. It returns false if the handler panicked and the program is to live on: the item is
// skipped (I85).
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

// syncTracker is done when the informer has synced and every start has its finish (I86).
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

// Name is for messages.
func (t *syncTracker) Name() string { return t.name }

// Done is closed when it is done.
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
