package properties

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// NothingAfterRemove checks that a handler that was removed is left alone (I81).
//
// One call is exempt. client-go's processorListener.run takes the next notification and then rests, if the call before it
// panicked (I85); a removal meanwhile does not take that notification back. RemoveEventHandler is documented as asynchronous, so
// this is upstream's behaviour.
var NothingAfterRemove = Property{
	Name:      "NothingAfterRemove",
	Statement: "a handler that was removed is notified of nothing more",
	Kinds:     []sim.Kind{subjects.KindNotify, subjects.KindPanic, subjects.KindHandler},
	New: func() Checker {
		p := &nothingAfterRemove{}
		return Checker{Record: p.record}
	},
}

// nothingAfterRemove knows when each handler was removed.
type nothingAfterRemove struct{ handlers byActor[removedHandler] }

type removedHandler struct {
	removed reports.Evidence // none while it is registered
	// crashed means that the last call panicked, and that the call which may have been taken before the removal has not come.
	crashed  bool
	panicked time.Duration
}

func (p *nothingAfterRemove) record(w World, r *sim.Record) *reports.Violation {
	h := p.handlers.get(r.Actor)
	switch {
	case r.Kind == subjects.KindPanic:
		h.crashed, h.panicked = true, r.At
		return nil
	case r.Kind == subjects.KindHandler && r.Detail == "removed":
		h.removed = reports.Because(r, "the handler was removed")
		return nil
	case r.Kind == subjects.KindHandler: // a handler of that name begins anew
		*h = removedHandler{}
		return nil
	}
	taken := h.mayHaveTaken(r.At)
	h.crashed = false
	if h.removed.Text == "" || taken {
		return nil
	}
	return &reports.Violation{
		Key:     r.Key,
		Message: fmt.Sprintf("handler %s was removed, and was then notified of %s", w.Kernel().ActorName(r.Actor), r.Key),
		Because: []reports.Evidence{h.removed, reports.Because(r, "but it was notified: %s", scenarios.NotificationText(r))},
	}
}

// mayHaveTaken reports whether a call that is made now may be of a notification that was taken before the removal, but after a panic.
func (h *removedHandler) mayHaveTaken(now time.Duration) bool {
	taken := now - subjects.CrashBackoff
	return h.crashed && h.panicked <= taken && taken <= h.removed.At
}
