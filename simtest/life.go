package simtest

import (
	"context"
	"fmt"
	"runtime/debug"
)

// life is one life of a process: from its start to its crash. Clients of no process live as long as the run; their number is 0.
type life struct {
	number int64
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// err returns why requests are refused, or nil while the life lasts.
func (l *life) err() error {
	if l.ctx.Err() == nil {
		return nil
	}
	return context.Cause(l.ctx)
}

// lifeOf returns the life that a client created now belongs to.
func (w *world) lifeOf(name string) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.processes[name]; p != nil && p.life != nil {
		return p.life
	}
	return &life{ctx: w.ctx, cancel: func(error) {}}
}

// protected calls a function; it returns a panic, which would end the whole test, as text.
func protected(f func() error) (err error, panicked string) {
	defer func() {
		if v := recover(); v != nil {
			panicked = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
	}()
	return f(), ""
}
