package simtest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// life is one life of a process: from its start to its crash. Clients of no process live as long as the run; their number is 0.
type life struct {
	number int64
	ctx    context.Context
	cancel context.CancelCauseFunc

	goroutine atomic.Pointer[string] // that of the process's function, as bubble.ThisGoroutine names it; nil before it runs
	cut       atomic.Bool            // it has been cut off, and its context lasts
}

// err returns why requests are refused, or nil while the life lasts.
func (l *life) err() error {
	switch {
	case l.cut.Load():
		return errCrashed
	case l.ctx.Err() == nil:
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

// errGoexit is the error of a process that did not return.
var errGoexit = errors.New("it has called runtime.Goexit, as t.FailNow does")

// protected calls a function and says how it ended: with an error, with a panic, which would end the whole test, or with runtime.Goexit, which
// still ends the goroutine.
func (w *world) protected(f func() error, ended func(err error, panicked string)) {
	err, panicked := errGoexit, ""
	defer func() {
		if err == errGoexit {
			if v := recover(); v != nil && !w.assertionFailed(v) {
				err, panicked = nil, fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}
		ended(err, panicked)
	}()
	err = f()
}
