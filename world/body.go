package world

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

var kindBody = sim.RegisterKind("body", sim.ClassScript) // what the body asks for is carried out

// body is the test's body: a goroutine in the test's process that asks for things, and waits for each. It is also the actor "body", so that
// what is done for it happens in a step.
type body struct {
	w  *world
	id sim.ActorID

	asked    *ask
	begun    bool // asked is being carried out
	finished bool
	escaped  *escape
}

// escape says how a body ended without returning.
type escape struct {
	goexit  bool
	unwinds bool   // it panicked with a value by which another testing library ends a test
	skips   bool   // it skipped the test
	text    string // what it panicked with, and its stack
}

// ask is something that the body asked for and waits for.
type ask struct {
	do    func()        // run in a step of its own; may be nil
	limit time.Duration // how much time may pass before it is done
	until func() bool   // asked between steps whether it is done; nil if do is all
	reply func(*wire.Packet)
	done  bool // do has returned
}

// Name implements sim.Actor.
func (*body) Name() string { return "body" }

// Apply implements sim.Actor.
func (b *body) Apply(sim.Choice) {
	b.asked.do()
	b.asked.done = true
}

// again has the ask's function run in another step.
func (b *body) again() {
	b.asked.done = false
	b.w.kernel.Offer(b.id, kindBody, 0)
}

// answer lets the body go on until it waits again.
func (b *body) answer() {
	var reply wire.Packet
	if b.asked.reply != nil {
		b.asked.reply(&reply)
	}
	b.asked, b.begun = nil, false
	b.w.remote.do(wire.DoReply).Field(&reply)
	b.w.remote.rest()
}

// play runs the body and steps the kernel until the body ends, a property is broken, or nothing more can happen.
func (w *world) play() {
	k := w.kernel
	w.addDefinitions()
	w.addNamespaces()
	w.addNodes()
	w.manager.start()
	w.remote.do(wire.DoBody)
	w.remote.rest()
	idle := time.Duration(-1) // since when the body has waited for something else than Env
	for w.monitor.Violation() == nil && k.Err() == nil {
		switch a := w.body.asked; {
		case w.body.finished:
			if w.body.escaped == nil {
				w.remote.endings()
				w.behaved.watch() // what is judged at the end is judged after that
				w.monitor.End()
			}
			return
		case a != nil:
			idle = -1
			if !w.body.begun {
				w.begin(a)
			}
			if (a.do == nil || a.done) && (a.until == nil || a.until()) {
				k.Clock().Freeze()
				w.body.answer()
				continue
			}
		case idle < 0:
			idle = k.Elapsed()
			k.Clock().Unfreeze()
		case k.Elapsed()-idle > w.o.BodyTimeout:
			w.fail("BodyReturns", fmt.Sprintf("the test's body has waited for %v of virtual time: %s", w.o.BodyTimeout, w.remote.bodyAt()))
			return
		case k.Elapsed()-idle > w.o.BodyTimeout/bodyPatience:
			// Some schedules let much time pass before an answer comes, and client-go may ask ten times. A body's client is to be answered before the body is told that it waits for ever.
			if k.Clock().Freeze(); w.quiet() {
				k.Clock().Unfreeze()
			}
		}
		w.step()
	}
}

// bodyPatience is after what part of the time that the body may wait no more time passes as long as anything else can happen.
const bodyPatience = 8

// begin starts carrying out an ask.
func (w *world) begin(a *ask) {
	w.body.begun = true
	w.kernel.Clock().LimitTo(a.limit)
	if a.do != nil {
		w.kernel.Offer(w.body.id, kindBody, 0)
	}
}

// nameLivelock is the name of the property that a run ends.
const nameLivelock = "NoLivelock"

// step makes a step.
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
	if w.monitor.Violation() == nil && k.Steps() >= w.maxSteps {
		w.fail(nameLivelock, fmt.Sprintf("the run has not ended after %d steps", k.Steps()))
	}
}

// quiet reports whether nothing can happen until time passes.
func (w *world) quiet() bool {
	w.gate.offer()
	return w.kernel.Quiet()
}
