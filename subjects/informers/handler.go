package informers

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// The kinds of choices of a handler.
var (
	KindHandle = sim.RegisterKind("handle", sim.ClassAction) // one call of a handler
	KindReturn = sim.RegisterKind("return", sim.ClassAction) // a slow call returns
)

// EngineHandler is an engine's handler, as an actor that embeds [Handler].
type EngineHandler interface {
	comparable
	sim.Actor
	Base() *Handler
	// Pending reports whether the handler is in a call, or has calls waiting.
	Pending() bool
	// Offer offers or withdraws the next call.
	Offer()
	// Remove removes the handler from the engine's informer and drops its waiting calls.
	Remove() error
}

// Handler is embedded by an engine's handler. Informer.NewHandler creates one.
type Handler struct {
	Kernel  *sim.Kernel
	Spec    subjects.HandlerSpec
	ID      sim.ActorID
	Pool    *workers.Pool // whose queue it fills; nil for none
	Held    bool
	Synced  bool
	Crashed bool // the last call panicked

	name    string // "i1/h1"
	faults  *subjects.CallFaults
	crashes *crashes // of its informer
	handle  sim.Toggle
	timer   clock.Timer // of the slow call in flight; nil for none
	returns sim.Toggle  // the offer of its return
}

// Base returns h, for the engine's handler that embeds it.
func (h *Handler) Base() *Handler { return h }

// Name implements sim.Actor.
func (h *Handler) Name() string { return h.name }

// OfferHandle offers the choice handle, or withdraws it.
func (h *Handler) OfferHandle(want bool) { h.handle.Set(h.Kernel, h.ID, KindHandle, want) }

// HandlePicked notes that the choice handle was picked.
func (h *Handler) HandlePicked() { h.handle.Taken() }

// BeginCall notes that a call about key has begun, and returns its plan. Unless it panics, the key is added to the work queue.
func (h *Handler) BeginCall(key string) subjects.CallPlan {
	p := h.faults.Next(key)
	if h.Pool != nil && !p.Panics {
		h.Pool.Add(key)
	}
	return p
}

// ReturnAfter begins a slow call, whose return will be a choice of its own.
func (h *Handler) ReturnAfter(d time.Duration) {
	h.timer = h.Kernel.Clock().AfterFunc(d, func() { h.returns.Set(h.Kernel, h.ID, KindReturn, true) })
}

// ReturnPicked notes that the choice return was picked.
func (h *Handler) ReturnPicked() {
	h.timer = nil
	h.returns.Taken()
}

// Abandon ends the slow call of a removed handler.
func (h *Handler) Abandon() {
	if h.timer == nil {
		return
	}
	h.timer.Stop()
	h.timer = nil
	h.returns.Set(h.Kernel, h.ID, KindReturn, false)
}

// NotePanic notes that the call about key panics.
func (h *Handler) NotePanic(key string) {
	r := h.Kernel.Record(h.ID, subjects.KindPanic)
	r.Key = key
	h.Kernel.Emit(r)
	h.Crashed, h.crashes.any = true, true
	h.crashes.note(h.Kernel)
}

// crashedRecently reports whether calls may be waiting for a handler that has panicked: that cannot be observed from outside until
// it is called again.
func (h *Handler) crashedRecently() bool {
	return h.Crashed && h.Kernel.Elapsed() < h.crashes.poppedAt+subjects.CrashBackoff
}

// NoteSynced notes that the handler has received the whole initial list, and starts its workers.
func (h *Handler) NoteSynced() {
	h.Synced = true
	h.Kernel.Emit(h.Kernel.Record(h.ID, subjects.KindSynced))
	if h.Pool != nil {
		h.Pool.Start()
	}
}
