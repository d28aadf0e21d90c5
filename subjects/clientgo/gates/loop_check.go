//go:build !no_loop_check

package gates

import (
	"context"
	"runtime"
	"strings"
	"sync"
)

// inside returns the context that an informer runs with.
func (g *loopGate) inside() context.Context { return contextGate{g.Context, g} }

// contextGate is the context that an informer runs with. Its Done is a gate for the controller's loop, which calls it before it takes
// anything from the queue; other callers are not blocked.
type contextGate struct {
	context.Context
	loop *loopGate
}

// Done implements context.Context.
func (c contextGate) Done() <-chan struct{} {
	if calledByLoop() {
		c.loop.wait()
	}
	return c.Context.Done()
}

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
	is := strings.Contains(frame.Function, loopName) // a program with a mutant of it has copies, with longer names
	loopCallers.Store(pc[0], is)
	return is
}
