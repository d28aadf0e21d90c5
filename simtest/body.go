package simtest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

var kindBody = sim.RegisterKind("body", sim.ClassScript) // a call of the body's is carried out

// body is the test's body: a goroutine in the bubble that has the kernel's side carry out Env's methods, and waits for them.
// It is also the actor "body", so that each call happens in a step.
type body struct {
	w  *world
	id sim.ActorID

	// Guarded by w.mu.
	pending  *call
	finished bool
	escaped  *escape

	current *call // being carried out by the kernel's side
}

// escape says how a body ended without returning.
type escape struct {
	value  any // what it panicked with; nil for runtime.Goexit
	goexit bool
	stack  string
}

// call is a call of a method of Env's, which the body waits for.
type call struct {
	name  string
	do    func()        // run in a step of its own; may be nil
	limit time.Duration // how much time may pass before it is done
	until func() bool   // asked between steps whether it is done; nil if do is all
	reply chan struct{} // closed when it is done
	done  bool          // do has returned
}

// Name implements sim.Actor.
func (*body) Name() string { return "body" }

// Apply implements sim.Actor.
func (b *body) Apply(sim.Choice) {
	b.current.do()
	b.current.done = true
}

// run is the body's goroutine.
func (b *body) run(f func()) {
	returned := false
	defer func() {
		var e *escape
		if !returned {
			if v := recover(); v != nil {
				e = &escape{value: v, stack: string(debug.Stack())}
			} else {
				e = &escape{goexit: true}
			}
		}
		b.w.mu.Lock()
		b.finished, b.escaped = true, e
		b.w.mu.Unlock()
		b.w.note()
	}()
	f()
	returned = true
}

// call has the kernel's side carry out c and waits for it. It runs on the user's goroutines. A body whose run is over ends
// here.
func (b *body) call(c *call) {
	if b.w.checks.under.Load() {
		panic(fmt.Sprintf("simtest: %s was called by a function passed to env.Always or env.Sometimes: those run between two steps and may only read", c.name))
	}
	if b.w.ctx.Err() != nil {
		runtime.Goexit()
	}
	c.reply = make(chan struct{})
	b.w.mu.Lock()
	other := b.pending
	if other == nil {
		b.pending = c
	}
	b.w.mu.Unlock()
	if other != nil {
		panic(fmt.Sprintf("simtest: %s was called during %s: only the body's goroutine may call Env's methods; a process uses clients (env.RESTConfig)", c.name, other.name))
	}
	b.w.note()
	select {
	case <-c.reply:
	case <-b.w.ctx.Done():
	}
	if b.w.ctx.Err() != nil {
		runtime.Goexit()
	}
}

// hasEscaped reports whether the body ended without returning.
func (b *body) hasEscaped() bool {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.escaped != nil
}

// poll returns the body's pending call, if any, and whether the body has ended.
func (b *body) poll() (c *call, finished bool) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.pending, b.finished
}

func (b *body) answer() {
	b.w.mu.Lock()
	c := b.pending
	b.pending = nil
	b.w.mu.Unlock()
	b.current = nil
	close(c.reply)
	b.w.bubble.Quiesce()
}

// play runs the body and steps the kernel until the body ends, a property is broken, or nothing more can happen.
func (w *world) play(f func()) {
	k := w.kernel
	go w.body.run(f)
	w.bubble.Quiesce()
	idle := time.Duration(-1) // since when the body has waited for something else than Env
	for w.monitor.Violation() == nil && k.Err() == nil {
		c, finished := w.body.poll()
		switch {
		case finished:
			if !w.body.hasEscaped() {
				w.monitor.End()
			}
			return
		case c != nil:
			idle = -1
			if c != w.body.current {
				w.begin(c)
			}
			if w.done(c) {
				k.Clock().Freeze()
				w.body.answer()
				continue
			}
		case idle < 0:
			idle = k.Elapsed()
			k.Clock().Unfreeze()
		case k.Elapsed()-idle > w.o.VirtualBodyTimeout:
			w.fail("BodyReturns", fmt.Sprintf("the test's body has waited for %v of virtual time: %s", w.o.VirtualBodyTimeout, w.bodyAt()))
			return
		}
		w.step()
	}
}

// begin starts carrying out a call.
func (w *world) begin(c *call) {
	w.body.current = c
	w.kernel.Clock().LimitTo(c.limit)
	if c.do != nil {
		w.kernel.Offer(w.body.id, kindBody, 0)
	}
}

func (w *world) done(c *call) bool {
	return (c.do == nil || c.done) && (c.until == nil || c.until())
}

// step makes a step and runs the body's checks.
func (w *world) step() {
	k := w.kernel
	w.gate.offer()
	if !k.Step() {
		if r, is := w.strategy.(*sim.Replay); is && k.Err() == nil && r.Done() {
			k.Fail(&sim.DivergedError{Step: k.Steps() + 1, Why: "the trace has ended, but the run continues"})
		}
		if k.Err() == nil {
			w.fail("NoDeadlock", "nothing more can happen, but the body is still waiting; this is a bug in informersim")
		}
		return
	}
	w.checks.afterStep()
	if w.monitor.Violation() == nil && k.Steps() >= w.maxSteps {
		w.fail("NoLivelock", fmt.Sprintf("the run has not ended after %d steps", k.Steps()))
	}
}

// quiet reports whether nothing can happen until time passes.
func (w *world) quiet() bool {
	w.gate.offer()
	return w.kernel.Quiet()
}

// bodyAt says where the body's goroutine is blocked.
func (w *world) bodyAt() string {
	for _, g := range w.bubble.Goroutines() {
		if strings.Contains(g.Started, "simtest.(*world).play") {
			return fmt.Sprintf("%s in %s", g.State, g.At)
		}
	}
	return "its goroutine was not found"
}
