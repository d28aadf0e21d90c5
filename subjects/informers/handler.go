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
	// Pending tells whether the handler is in a call, or one waits for it.
	Pending() bool
	// Offer offers or withdraws the call that waits.
	Offer()
	// Remove takes the handler from the engine's informer: what waits for it is forgotten.
	Remove() error
}

// Handler is embedded by the handler of an engine. Informer.NewHandler makes one.
type Handler struct {
	Kernel  *sim.Kernel
	Spec    subjects.HandlerSpec
	ID      sim.ActorID
	Pool    *workers.Pool // whose queue it fills; nil for none
	Held    bool
	Synced  bool
	Crashed bool // the last call has panicked

	name    string // "i1/h1"
	faults  *subjects.CallFaults
	crashes *crashes // of its informer
	handle  sim.Toggle
	timer   clock.Timer // of the slow call under way; nil for none
	back    sim.Toggle  // that it returns
}

// Base is the handler itself, for the engine's that embeds it.
func (h *Handler) Base() *Handler { return h }

// Name implements sim.Actor.
func (h *Handler) Name() string { return h.name }

// OfferHandle offers the choice handle, or withdraws it.
func (h *Handler) OfferHandle(want bool) { h.handle.Set(h.Kernel, h.ID, KindHandle, want) }

// Handling says that the choice handle was picked.
func (h *Handler) Handling() { h.handle.Taken() }

// Told says that the call about that key has begun, and returns how it goes. One that does not panic fills the work queue.
func (h *Handler) Told(key string) subjects.CallPlan {
	p := h.faults.Next(key)
	if h.Pool != nil && !p.Panics {
		h.Pool.Add(key)
	}
	return p
}

// ReturnAfter begins a slow call: that it returns will be a choice of its own.
func (h *Handler) ReturnAfter(d time.Duration) {
	h.timer = h.Kernel.Clock().AfterFunc(d, func() { h.back.Set(h.Kernel, h.ID, KindReturn, true) })
}

// Returning says that the choice return was picked.
func (h *Handler) Returning() {
	h.timer = nil
	h.back.Taken()
}

// Abandon ends a slow call of a handler that is gone.
func (h *Handler) Abandon() {
	if h.timer == nil {
		return
	}
	h.timer.Stop()
	h.timer = nil
	h.back.Set(h.Kernel, h.ID, KindReturn, false)
}

// NotePanic notes that the call about that key panics.
func (h *Handler) NotePanic(key string) {
	r := h.Kernel.Record(h.ID, subjects.KindPanic)
	r.Key = key
	h.Kernel.Emit(r)
	h.Crashed, h.crashes.any = true, true
	h.crashes.note(h.Kernel)
}

// crashedLately tells whether something may wait for a handler that has panicked: nobody can see that from outside until it was
// called again.
func (h *Handler) crashedLately() bool {
	return h.Crashed && h.Kernel.Elapsed() < h.crashes.poppedAt+subjects.CrashPause
}

// NoteSynced notes that the handler has been told of the whole initial list. Its workers begin.
func (h *Handler) NoteSynced() {
	h.Synced = true
	h.Kernel.Emit(h.Kernel.Record(h.ID, subjects.KindSynced))
	if h.Pool != nil {
		h.Pool.Start()
	}
}
