package simtest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/simtest/internal/bubble"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// body is the test's body: a goroutine in the bubble that asks the engine for things, and waits for each.
type body struct {
	w *world

	// Guarded by w.mu.
	pending string             // the method of Env's that it waits in, "" for none
	waiting chan *wire.Message // for the reply
	escaped any                // what it panicked with
}

// run is the body's goroutine.
func (b *body) run(f func()) {
	how, text := byte(wire.Exited), ""
	defer func() {
		if how != wire.Returned {
			if v := recover(); v != nil && !b.w.assertionFailed(v) {
				if how = wire.Panicked; !plain(v) {
					how = wire.Unwound
				}
				text = fmt.Sprintf("%v\n%s", v, debug.Stack())
				b.w.mu.Lock()
				b.escaped = v
				b.w.mu.Unlock()
			} else if b.w.skipped() {
				how = wire.Skipped
			}
		}
		if how == wire.Exited {
			b.w.tellWaiting()
		}
		b.w.event(func(p *wire.Packet) { p.Byte(wire.EventBody).Byte(how).Text(text) })
	}()
	f()
	switch {
	case !b.w.failed && races() == b.w.races && b.w.testFailed(): // a race is the bubble's to report, and Failed would take it from there
		how = wire.Exited // t.Errorf lets the body go on; without this, nothing would say which seed it was
	default:
		how = wire.Returned
	}
}

// skipped reports whether the test has been skipped.
func (w *world) skipped() bool {
	if w.skips.Load() {
		return true
	}
	t, is := w.r.t.(interface{ Skipped() bool })
	return is && t.Skipped()
}

// ask has the engine do something and waits for it. It runs on the user's goroutines. A body whose run is over ends here.
func (b *body) ask(name string, kind byte, d time.Duration, words ...string) *wire.Message {
	w := b.w
	if w.checks.under.Load() {
		panic(fmt.Sprintf("simtest: %s was called by a function passed to env.Always or env.Sometimes: those run between two steps and may only read", name))
	}
	if w.ctx.Err() != nil {
		runtime.Goexit()
	}
	c := make(chan *wire.Message, 1)
	w.mu.Lock()
	other := b.pending
	if other == "" {
		b.pending, b.waiting = name, c
	}
	w.mu.Unlock()
	if other != "" {
		panic(fmt.Sprintf("simtest: %s was called during %s: only the body's goroutine may call Env's methods; a process uses clients (env.RESTConfig)", name, other))
	}
	w.event(func(p *wire.Packet) {
		p.Byte(wire.EventAsk).Byte(kind).Duration(d).Num(int64(len(words)))
		for _, word := range words {
			p.Text(word)
		}
	})
	var m *wire.Message
	select {
	case m = <-c:
	case <-w.ctx.Done():
	}
	if w.ctx.Err() != nil {
		runtime.Goexit()
	}
	return m
}

// reply lets the body go on.
func (b *body) reply(m *wire.Message) {
	b.w.mu.Lock()
	c := b.waiting
	b.pending, b.waiting = "", nil
	b.w.mu.Unlock()
	c <- m // it has room
}

// bodyAt says where the body's goroutine is blocked.
func (w *world) bodyAt() string {
	for _, g := range w.bubble.Goroutines() {
		if !strings.Contains(g.Started, "(*world).act") {
			continue
		}
		at, library, _ := g.WaitsInProgram()
		if library.Function == "" || !slices.ContainsFunc(g.Stack, func(f bubble.Frame) bool { return strings.Contains(f.Function, "(*tripper).RoundTrip") }) {
			return fmt.Sprintf("%s in %s", g.State, g.At)
		}
		return fmt.Sprintf("for the answer to a request of its own client, in %s, called by %s. Faults delay and repeat such requests; those of env's methods they spare. Options.VirtualBodyTimeout is how long it may wait", library, at)
	}
	return "its goroutine was not found"
}
