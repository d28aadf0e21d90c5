package gates

import (
	"context"
	"runtime"
	"strings"
	"sync"
)

// loopGate is the context that an informer runs with. Its Done parks the controller's loop, which calls it before it takes
// anything from the queue; other callers are not blocked.
type loopGate struct {
	context.Context
	g      *Gates
	admit  chan struct{} // buffered: the kernel's side never blocks
	parked bool          // guarded by the gates' mu
}

func newLoopGate(ctx context.Context, g *Gates) *loopGate {
	return &loopGate{Context: ctx, g: g, admit: make(chan struct{}, 1)}
}

// Done implements context.Context.
func (g *loopGate) Done() <-chan struct{} {
	done := g.Context.Done()
	if !calledByLoop() {
		return done
	}
	g.set(true)
	g.g.b.Note()
	select {
	case <-g.admit:
	case <-done:
	}
	g.set(false)
	return done
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

// loopName is the suffix of the name of the function that takes from the queue.
const loopName = "tools/cache.(*controller).processLoop"

// loopCallers caches, by program counter, whether a call comes from that function.
var loopCallers sync.Map

// calledByLoop reports whether the caller of its caller is the controller's loop.
func calledByLoop() bool {
	var pc [1]uintptr
	if runtime.Callers(3, pc[:]) == 0 {
		return false
	}
	if is, ok := loopCallers.Load(pc[0]); ok {
		return is.(bool)
	}
	frame, _ := runtime.CallersFrames(pc[:]).Next()
	is := strings.HasSuffix(frame.Function, loopName)
	loopCallers.Store(pc[0], is)
	return is
}
