package stack

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/informers"
)

// nullHandler stands in for a user's handler: notifications are recorded instead.
var nullHandler = cache.ResourceEventHandlerFuncs{}

// handler is one listener as an actor: each call is a choice.
type handler struct {
	informers.Handler
	informer *actor
	listener *informer.Listener
	call     *subjects.CallPlan // the slow call in flight; nil for none
	timerSet bool               // the timer of its backoff after a panic is set
	ended    bool               // its informer was stopped
}

// Pending implements informers.EngineHandler.
func (h *handler) Pending() bool { return h.call != nil || h.listener.Len() > 0 }

// Offer implements informers.EngineHandler.
func (h *handler) Offer() {
	want := h.call == nil && h.listener.Len() > 0
	if want && h.Crashed {
		want = !h.backsOff()
	}
	h.OfferHandle(want && !h.Held && !h.ended)
}

// backsOff reports whether the handler is backing off after a panic (I85).
func (h *handler) backsOff() bool {
	until, backsOff := h.listener.CrashBackoff(h.informer.now())
	switch {
	case !backsOff:
		h.Crashed = false
	case !h.timerSet:
		h.timerSet = true
		h.Kernel.Clock().AfterFunc(until.Sub(h.informer.now()), func() {
			h.timerSet = false
			h.Offer()
		})
	}
	return backsOff
}

// Remove implements informers.EngineHandler.
func (h *handler) Remove() error {
	remove := func() {
		h.informer.inf.Processor.RemoveListener(h.listener)
		h.call = nil
		h.Abandon()
		h.Held = false
		h.Offer() // of nothing, as long as the processor drops what waits
	}
	if change := h.informer.stack.parts.Removed; change != nil {
		change(remove)
		return nil
	}
	remove()
	return nil
}

// drop ends the handler and drops its waiting calls.
func (h *handler) drop() {
	h.ended = true
	h.OfferHandle(false)
	h.call = nil
	h.Abandon()
}

// Apply implements sim.Actor: it begins a call, or ends a slow one.
func (h *handler) Apply(c sim.Choice) {
	if c.Kind == informers.KindReturn {
		h.ReturnPicked()
		p := *h.call
		h.call = nil
		h.finish(p)
		return
	}
	h.HandlePicked()
	n := h.listener.Begin()
	if n == nil {
		h.Offer()
		return
	}
	h.record(n)
	p := h.BeginCall(n.Key)
	if p.Takes == 0 {
		h.finish(p)
		return
	}
	slow := p // p itself stays off the heap
	h.call = &slow
	h.ReturnAfter(p.Takes)
	h.checkSynced() // not before the call returns
}

// finish ends the call in flight.
func (h *handler) finish(p subjects.CallPlan) {
	if p.Panics {
		h.NotePanic(h.listener.InFlight().Key)
		h.listener.Crash()
	} else {
		h.listener.Finish()
	}
	h.Offer()
	h.checkSynced()
}

func (h *handler) record(n *informer.Notification) {
	k, revisions := h.Kernel, &h.informer.revisions
	r := k.Record(h.ID, subjects.KindNotify)
	r.Key = n.Key
	switch n.Type {
	case informer.NotifyAdd:
		r.Detail = subjects.NotifyAdd
		if n.IsInInitialList {
			r.Detail = subjects.NotifyAddInitial
		}
		r.RV, r.Obj = revisions.of(n.New), n.New
	case informer.NotifyUpdate:
		r.RV, r.Obj = revisions.of(n.New), n.New
		r.N, r.Old = revisions.of(n.Old), n.Old
		r.Detail = subjects.NotifyUpdate
		if r.RV == r.N {
			r.Detail = subjects.NotifySync
		}
	case informer.NotifyDelete:
		r.Detail = subjects.NotifyDelete
		r.Obj = n.Old
		if t, ok := n.Old.(cache.DeletedFinalStateUnknown); ok {
			r.Detail, r.Obj = subjects.NotifyUnknown, t.Obj
		}
		r.RV = revisions.of(r.Obj)
	}
	k.Emit(r)
}

func (h *handler) checkSynced() {
	if !h.Synced && h.listener.HasSynced() {
		h.NoteSynced()
	}
}
