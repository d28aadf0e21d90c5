package gates

import "context"

// loopGate is where a controller's loop waits before it takes anything from the queue, and the context of its informer.
type loopGate struct {
	context.Context
	g      *Gates
	admit  chan struct{} // buffered: the kernel's side never blocks
	parked bool          // guarded by the gates' mu
}

// loopName is the end of the name of the function that takes from the queue.
const loopName = "tools/cache.(*controller).processLoop"

func newLoopGate(ctx context.Context, g *Gates) *loopGate {
	return &loopGate{Context: ctx, g: g, admit: make(chan struct{}, 1)}
}

// wait parks the loop until it may run once, or the informer ends.
func (g *loopGate) wait() {
	g.set(true)
	g.g.b.Note()
	select {
	case <-g.admit:
	case <-g.Context.Done():
	}
	g.set(false)
}

func (g *loopGate) set(parked bool) {
	g.g.mu.Lock()
	g.parked = parked
	g.g.mu.Unlock()
}

// waiting reports whether the loop is parked.
func (g *loopGate) waiting() bool {
	g.g.mu.Lock()
	defer g.g.mu.Unlock()
	return g.parked
}

// pass lets the loop run once.
func (g *loopGate) pass() { g.admit <- struct{}{} }
