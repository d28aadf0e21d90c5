package simtest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

var kindBody = sim.RegisterKind("body", sim.ClassScript) // the body does something that it has asked for

// body is the test's body: a goroutine in the bubble, which asks the kernel's side for what Env's methods do, and waits.
// It is also the actor "body", so that what it does happens in a step.
type body struct {
	w  *world
	id sim.ActorID

	// Guarded by w.mu.
	asked    *ask
	finished bool
	escaped  *escape

	current *ask // the kernel's side is at it
}

// escape is how a body ended other than by returning.
type escape struct {
	value  any // what it panicked with; nil for runtime.Goexit
	goexit bool
	stack  string
}

// ask is something that the body waits for.
type ask struct {
	what  string
	do    func()        // in a step of its own; nil for nothing
	limit time.Duration // how much time may pass until it is done
	until func() bool   // between steps; nil for at once
	reply chan struct{} // closed when it is done
	done  bool          // do has been called
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

// ask has the kernel's side do something and waits for it. It is called on goroutines of the user's. A body whose run is
// over ends here.
func (b *body) ask(a *ask) {
	if b.w.checks.under.Load() {
		panic(fmt.Sprintf("simtest: %s is called by a function of env.Always or env.Sometimes: those look at what is there, between two steps", a.what))
	}
	if b.w.ctx.Err() != nil {
		runtime.Goexit()
	}
	a.reply = make(chan struct{})
	b.w.mu.Lock()
	other := b.asked
	if other == nil {
		b.asked = a
	}
	b.w.mu.Unlock()
	if other != nil {
		panic(fmt.Sprintf("simtest: %s is called while %s is under way: Env's methods are for the body's goroutine; a process has clients (env.RESTConfig)", a.what, other.what))
	}
	b.w.note()
	select {
	case <-a.reply:
	case <-b.w.ctx.Done():
	}
	if b.w.ctx.Err() != nil {
		runtime.Goexit()
	}
}

// hasEscaped tells whether the body ended otherwise than by returning.
func (b *body) hasEscaped() bool {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.escaped != nil
}

// poll is what the body asks for now, and whether it has ended.
func (b *body) poll() (a *ask, finished bool) {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.asked, b.finished
}

func (b *body) answer() {
	b.w.mu.Lock()
	a := b.asked
	b.asked = nil
	b.w.mu.Unlock()
	b.current = nil
	close(a.reply)
	b.w.bubble.Quiesce()
}

// play runs the body and steps the kernel until the body has ended, something is broken, or nothing goes on.
func (w *world) play(f func()) {
	k := w.kernel
	go w.body.run(f)
	w.bubble.Quiesce()
	idle := time.Duration(-1) // since when the body waits for something else
	for w.monitor.Violation() == nil && k.Err() == nil {
		a, finished := w.body.poll()
		switch {
		case finished:
			if !w.body.hasEscaped() {
				w.monitor.End()
			}
			return
		case a != nil:
			idle = -1
			if a != w.body.current {
				w.begin(a)
			}
			if w.done(a) {
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

// begin takes up what the body asks for.
func (w *world) begin(a *ask) {
	w.body.current = a
	w.kernel.Clock().LimitTo(a.limit)
	if a.do != nil {
		w.kernel.Offer(w.body.id, kindBody, 0)
	}
}

func (w *world) done(a *ask) bool {
	return (a.do == nil || a.done) && (a.until == nil || a.until())
}

// step makes a step and looks at what it did.
func (w *world) step() {
	k := w.kernel
	w.gate.offer()
	if !k.Step() {
		if r, is := w.strategy.(*sim.Replay); is && k.Err() == nil && r.Done() {
			k.Fail(&sim.DivergedError{Step: k.Steps() + 1, Why: "the trace is over, and the run goes on"})
		}
		if k.Err() == nil {
			w.fail("NoDeadlock", "nothing can happen any more, but the body waits; this is a bug of informersim")
		}
		return
	}
	w.checks.afterStep()
	if w.monitor.Violation() == nil && k.Steps() >= w.maxSteps {
		w.fail("NoLivelock", fmt.Sprintf("the run has not come to an end after %d steps", k.Steps()))
	}
}

// quiet tells whether nothing can happen without time passing.
func (w *world) quiet() bool {
	w.gate.offer()
	return w.kernel.Quiet()
}

// bodyAt says where the body's goroutine is.
func (w *world) bodyAt() string {
	for _, g := range w.bubble.Goroutines() {
		if strings.Contains(g.Started, "simtest.(*world).play") {
			return fmt.Sprintf("%s in %s", g.State, g.At)
		}
	}
	return "its goroutine is not to be seen"
}
