package clientgo

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// crashPause is how long client-go rests before it calls a handler again that has panicked.
const crashPause = time.Second

// intended is what a handler or a reconcile panics with when the scenario says so.
type intended struct{ key string }

// trouble is what goes wrong in the calls of a handler. A call that blocks in client-go takes its time there, and panics
// there. One that was let through to the inbox has returned in client-go, so its slowness and the rest after its panic are
// imitated.
type trouble struct {
	conduct *subjects.Conduct
	call    *call // a slow one that is under way; nil for none

	crashed   bool          // the last call has panicked
	imitated  bool          // the rest is imitated
	restUntil time.Duration // its end; 0 if it has not begun
	lost      bool          // an imitated panic has lost a part of the initial list: the handler never syncs
	behind    bool          // a part without an order was taken from the queue while client-go rested
}

// call is one call of a handler.
type call struct {
	n       notification
	verdict subjects.Verdict
	blocks  bool // in client-go
	timer   clock.Timer
	due     bool // that it returns is offered
	choice  sim.Choice
}

// begin begins a slow call.
func (h *handler) begin(c *call) {
	h.call = c
	k := h.i.kernel
	c.timer = k.Clock().AfterFunc(c.verdict.Takes, func() {
		c.due, c.choice = true, k.Offer(h.id, kindReturn, 0)
	})
}

// abandon ends a slow call of a handler that is gone.
func (h *handler) abandon() {
	if h.call == nil {
		return
	}
	h.call.timer.Stop()
	if h.call.due {
		h.i.kernel.Withdraw(h.call.choice)
	}
	h.call = nil
	h.telling = false
}

// crash notes that a call panics.
func (h *handler) crash(c *call) {
	h.crashed, h.i.crashed = true, true
	h.i.noteCrashPause()
	h.imitated, h.restUntil = !c.blocks, 0
	if !c.blocks {
		h.lost = h.lost || initial(c.n)
		return
	}
	b := h.i.s.gate
	b.mu.Lock()
	h.resting = true
	b.mu.Unlock()
}

// noteCrashPause has time stop where a handler that has panicked may not be busy any more.
func (i *actor) noteCrashPause() {
	i.poppedAt = i.kernel.Elapsed()
	i.kernel.Clock().AfterFunc(crashPause, func() {})
}

// rests tells whether a handler for which something waits rests after a panic.
func (h *handler) rests() bool {
	switch {
	case !h.crashed:
		return false
	case !h.imitated: // it was called again
		h.crashed = false
		return false
	}
	k := h.i.kernel
	if h.restUntil == 0 {
		h.restUntil = k.Elapsed() + crashPause
		k.Clock().AfterFunc(crashPause, h.i.s.gate.touch) // so that it is offered
	}
	if k.Elapsed() < h.restUntil {
		return true
	}
	h.crashed = false
	return false
}

// caughtUp puts what came when the handler's rest was over in order: runs of all that could be of a part without one, for
// where that began and ended is not known.
func (h *handler) caughtUp() {
	b := h.i.s.gate
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.behind && !h.resting {
		byRun(h.inbox, true)
		h.behind, h.through = false, 0
	}
}

// Trouble implements subjects.Informer.
func (i *actor) Trouble(name string, t subjects.Trouble) error {
	h, err := i.handler(name)
	if err != nil {
		return err
	}
	h.conduct.Set(t)
	return nil
}

// Mend implements subjects.Informer.
func (i *actor) Mend() {
	for _, h := range i.handlers {
		h.conduct.Mend()
	}
}
