package stack

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer/core"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// kindHandle is one call of a handler.
var kindHandle = sim.RegisterKind("handle", sim.ClassAction)

// nullHandler stands where a user's handler would: what the handler is told is recorded instead.
var nullHandler = cache.ResourceEventHandlerFuncs{}

// handler is one listener as an actor: each call is a choice.
type handler struct {
	informer *informer
	name     string
	spec     subjects.HandlerSpec
	id       sim.ActorID
	listener *core.Listener
	offered  bool
	choice   sim.Choice
	held     bool
	synced   bool
}

// Name implements sim.Actor.
func (h *handler) Name() string { return h.name }

func (h *handler) offer() {
	want := !h.held && h.listener.Len() > 0
	switch {
	case want && !h.offered:
		h.choice = h.informer.kernel.Offer(h.id, kindHandle, 0)
		h.offered = true
	case !want && h.offered:
		h.withdraw()
	}
}

func (h *handler) withdraw() {
	if h.offered {
		h.informer.kernel.Withdraw(h.choice)
		h.offered = false
	}
}

// Apply implements sim.Actor: the handler is told one thing.
func (h *handler) Apply(sim.Choice) {
	h.offered = false
	if n := h.listener.Begin(); n != nil {
		h.record(n)
		h.listener.Finish()
	}
	h.checkSynced()
	h.offer()
}

func (h *handler) record(n *core.Notification) {
	k, revisions := h.informer.kernel, &h.informer.revisions
	r := k.Record(h.id, subjects.KindNotify)
	r.Key = n.Key
	switch n.Type {
	case core.NotifyAdd:
		r.Detail = subjects.NotifyAdd
		if n.IsInInitialList {
			r.Detail = subjects.NotifyAddInitial
		}
		r.RV, r.Obj = revisions.of(n.New), n.New
	case core.NotifyUpdate:
		r.RV, r.Obj = revisions.of(n.New), n.New
		r.N, r.Old = revisions.of(n.Old), n.Old
		r.Detail = subjects.NotifyUpdate
		if r.RV == r.N {
			r.Detail = subjects.NotifySync
		}
	case core.NotifyDelete:
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
	}
}
