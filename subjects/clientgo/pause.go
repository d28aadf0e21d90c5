package clientgo

import (
	"time"

	"github.com/informersim/informersim/subjects"
)

// intended is what a handler or a reconcile panics with when the scenario says so.
type intended struct{ key string }

// pause is the pause of a handler whose call has panicked. A call that blocks in client-go takes its time there, and panics
// there. One that was let through to the inbox has returned in client-go, so its slowness and the pause after its panic are
// imitated.
type pause struct {
	imitated bool          // the pause is imitated
	until    time.Duration // the end of an imitated one; 0 if it has not begun
	lost     bool          // an imitated panic has lost a part of the initial list: the handler never syncs
	behind   bool          // a part without an order was taken from the queue while client-go paused
}

// crash notes that a call panics.
func (h *handler) crash(c *call) {
	h.NotePanic(c.n.key)
	h.imitated, h.until = !c.blocks, 0
	if !c.blocks {
		h.lost = h.lost || initial(c.n)
		return
	}
	b := h.i.s.gate
	b.mu.Lock()
	h.pausing = true
	b.mu.Unlock()
}

// pauses tells whether a handler for which something waits pauses after a panic.
func (h *handler) pauses() bool {
	switch {
	case !h.Crashed:
		return false
	case !h.imitated: // it was called again
		h.Crashed = false
		return false
	}
	k := h.Kernel
	if h.until == 0 {
		h.until = k.Elapsed() + subjects.CrashPause
		k.Clock().AfterFunc(subjects.CrashPause, h.i.s.gate.touch) // so that it is offered
	}
	if k.Elapsed() < h.until {
		return true
	}
	h.Crashed = false
	return false
}

// caughtUp puts what came when the handler's pause was over in order: runs of all that could be of a part without one, for
// where that began and ended is not known.
func (h *handler) caughtUp() {
	b := h.i.s.gate
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.behind && !h.pausing {
		byRun(h.inbox, true)
		h.behind, h.through = false, 0
	}
}
