package stack

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// The kinds of choices of a handler.
var (
	kindHandle = sim.RegisterKind("handle", sim.ClassAction) // one call of a handler
	kindReturn = sim.RegisterKind("return", sim.ClassAction) // a slow call returns
)

// nullHandler stands where a user's handler would: what the handler is told is recorded instead.
var nullHandler = cache.ResourceEventHandlerFuncs{}

// handler is one listener as an actor: each call is a choice.
type handler struct {
	informer *actor
	name     string
	spec     subjects.HandlerSpec
	id       sim.ActorID
	listener *informer.Listener
	pool     *workers.Pool // whose queue it fills; nil for none
	conduct  *subjects.Conduct
	offered  bool
	choice   sim.Choice
	held     bool
	synced   bool

	call    *slowCall // under way; nil for none
	crashed bool      // the last call has panicked
	rests   bool      // the timer of its rest is set
}

// slowCall is a call of a handler that takes time.
type slowCall struct {
	verdict subjects.Verdict
	choice  sim.Choice
	due     bool // that it returns is offered
	timer   clock.Timer
}

// Name implements sim.Actor.
func (h *handler) Name() string { return h.name }

func (h *handler) offer() {
	want := h.call == nil && h.listener.Len() > 0
	if want && h.crashed {
		want = !h.resting()
	}
	want = want && !h.held
	switch {
	case want && !h.offered:
		h.choice = h.informer.kernel.Offer(h.id, kindHandle, 0)
		h.offered = true
	case !want && h.offered:
		h.withdraw()
	}
}

// resting tells whether the handler rests after a panic (I85).
func (h *handler) resting() bool {
	until, resting := h.listener.Rest(h.informer.now())
	switch {
	case !resting:
		h.crashed = false
	case !h.rests:
		h.rests = true
		h.informer.kernel.Clock().AfterFunc(until.Sub(h.informer.now()), func() {
			h.rests = false
			h.offer()
		})
	}
	return resting
}

func (h *handler) withdraw() {
	if h.offered {
		h.informer.kernel.Withdraw(h.choice)
		h.offered = false
	}
}

// drop ends the handler: what waits is forgotten.
func (h *handler) drop() {
	h.held = true
	h.withdraw()
	if c := h.call; c != nil {
		h.call = nil
		c.timer.Stop()
		if c.due {
			h.informer.kernel.Withdraw(c.choice)
		}
	}
}

// busy tells whether anything waits for the handler. After a panic nobody can see from outside whether something does until
// it was called again.
func (h *handler) busy() bool {
	if h.call != nil || h.listener.Len() > 0 {
		return true
	}
	return h.crashed && h.informer.kernel.Elapsed() < h.informer.poppedAt+crashPause
}

// noteCrashPause has time stop where a handler that has panicked may not be busy any more.
func (i *actor) noteCrashPause() {
	i.poppedAt = i.kernel.Elapsed()
	i.kernel.Clock().AfterFunc(crashPause, func() {})
}

// Apply implements sim.Actor: the handler is told one thing.
func (h *handler) Apply(c sim.Choice) {
	if c.Kind == kindReturn {
		v := h.call.verdict
		h.call = nil
		h.finish(v)
		return
	}
	h.offered = false
	n := h.listener.Begin()
	if n == nil {
		h.offer()
		return
	}
	h.record(n)
	v := h.conduct.Next(n.Key)
	if h.pool != nil && !v.Panics {
		h.pool.Add(n.Key)
	}
	if v.Takes == 0 {
		h.finish(v)
		return
	}
	call := &slowCall{verdict: v}
	h.call = call
	k := h.informer.kernel
	call.timer = k.Clock().AfterFunc(v.Takes, func() {
		call.due = true
		call.choice = k.Offer(h.id, kindReturn, 0)
	})
}

// finish ends the call in flight.
func (h *handler) finish(v subjects.Verdict) {
	if v.Panics {
		k := h.informer.kernel
		r := k.Record(h.id, subjects.KindPanic)
		r.Key = h.listener.InFlight().Key
		k.Emit(r)
		h.listener.Crash()
		h.crashed = true
		h.informer.crashed = true
		h.informer.noteCrashPause()
	} else {
		h.listener.Finish()
	}
	h.offer()
	h.checkSynced()
}

func (h *handler) record(n *informer.Notification) {
	k, revisions := h.informer.kernel, &h.informer.revisions
	r := k.Record(h.id, subjects.KindNotify)
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
	if !h.synced && h.listener.HasSynced() {
		h.synced = true
		k := h.informer.kernel
		k.Emit(k.Record(h.id, subjects.KindSynced))
		if h.pool != nil {
			h.pool.Start()
		}
	}
}
