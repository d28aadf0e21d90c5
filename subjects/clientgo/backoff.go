package clientgo

import (
	"time"

	"github.com/informersim/informersim/subjects"
)

// backoff is the backoff of a handler whose call has panicked. A call that blocks in client-go is slow there, and panics there. One
// that was let through to the inbox has already returned in client-go, so its slowness and the backoff after its panic are
// imitated.
type backoff struct {
	imitated bool          // the backoff is imitated
	until    time.Duration // the end of an imitated one; 0 if it has not begun
	lost     bool          // an imitated panic has lost a part of the initial list: the handler never syncs
	unsorted bool          // a part without an order was taken from the queue while client-go backed off
}

// crash notes that a call panics.
func (h *handler) crash(c *call) {
	h.NotePanic(c.n.key)
	h.imitated, h.until = !c.blocks, 0
	if !c.blocks {
		h.lost = h.lost || initial(c.n)
		return
	}
	h.backsOff = true
}

// inBackoff reports whether a handler with waiting calls is backing off after a panic.
func (h *handler) inBackoff() bool {
	switch {
	case !h.Crashed:
		return false
	case !h.imitated: // it was called again
		h.Crashed = false
		return false
	}
	k := h.Kernel
	if h.until == 0 {
		h.until = k.Elapsed() + subjects.CrashBackoff
		k.Clock().AfterFunc(subjects.CrashBackoff, h.i.s.touch) // so that it is offered
	}
	if k.Elapsed() < h.until {
		return true
	}
	h.Crashed = false
	return false
}

// sortAfterBackoff sorts the notifications that arrived once the handler's backoff was over. Where a part without an order began
// and ended is unknown, so every run of notifications that may belong to one is sorted.
func (h *handler) sortAfterBackoff() {
	if h.unsorted && !h.backsOff {
		byRun(h.inbox, h.i.backlog.unordered)
		h.unsorted = false
		h.i.s.side.Through(h.i.n, h.n, 0)
	}
}
