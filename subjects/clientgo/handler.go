package clientgo

import (
	"math"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/informers"
)

// handler is an event handler of an informer as an actor: client-go's call blocks until the choice handle is picked.
type handler struct {
	informers.Handler
	i    *actor
	reg  cache.ResourceEventHandlerRegistration
	pass chan bool // buffered: lets the call that is parked return, or panic

	// Guarded by the bubble's mu.
	parked *notification // the call that blocks; nil if none
	inbox  []notification
	// through is how many calls return at once, their notifications going to the inbox, before one parks again.
	through int
	gone    bool // removed, or the informer was stopped: calls return and are not told of
	pausing bool // client-go pauses after a call that has panicked: it calls again a second after there is something

	pause
	call    *call // a slow one that is under way; nil for none
	telling bool  // a call is being told of: what waits behind it in client-go does not show yet
	base    int   // where the unordered part of the inbox begins
}

// call is one call of a handler.
type call struct {
	n      notification
	plan   subjects.CallPlan
	blocks bool // in client-go
}

// notification is one call.
type notification struct {
	detail   string // as subjects.KindNotify has it
	key      string
	obj, old any
	rv, n    int64
}

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, initial bool) {
	detail := subjects.NotifyAdd
	if initial {
		detail = subjects.NotifyAddInitial
	}
	h.called(notification{detail: detail, obj: obj})
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *handler) OnUpdate(old, obj any) {
	n := notification{detail: subjects.NotifyUpdate, obj: obj, old: old, n: subjects.RevisionOf(old)}
	if n.n == subjects.RevisionOf(obj) {
		n.detail = subjects.NotifySync
	}
	h.called(n)
}

// OnDelete implements cache.ResourceEventHandler.
func (h *handler) OnDelete(obj any) {
	n := notification{detail: subjects.NotifyDelete, obj: obj}
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		n.detail, n.key, n.obj = subjects.NotifyUnknown, t.Key, t.Obj
	}
	h.called(n)
}

// called is a call, on client-go's goroutine.
func (h *handler) called(n notification) {
	if n.key == "" {
		key, err := cache.MetaNamespaceKeyFunc(n.obj)
		if err != nil {
			key = err.Error() // every property about keys will ask what this is
		}
		n.key = key
	}
	n.rv = subjects.RevisionOf(n.obj)
	b := h.i.s.gate
	b.mu.Lock()
	h.pausing = false
	switch {
	case h.gone:
		b.mu.Unlock()
		return
	case h.through > 0:
		h.through--
		h.inbox = append(h.inbox, n)
		b.mu.Unlock()
		return
	}
	h.parked = &n
	b.mu.Unlock()
	b.Note()
	if <-h.pass {
		panic(intended{n.key})
	}
}

// Apply implements sim.Actor: the handler is told one thing.
func (h *handler) Apply(c sim.Choice) {
	if c.Kind == informers.KindReturn {
		h.Returning()
		call := h.call
		h.call = nil
		h.finish(call)
		return
	}
	h.Handling()
	call := &call{}
	b := h.i.s.gate
	b.mu.Lock()
	if len(h.inbox) > 0 {
		call.n = h.inbox[0]
		h.inbox[0] = notification{}
		h.inbox = h.inbox[1:]
	} else {
		call.n, call.blocks = *h.parked, true
		h.parked = nil
	}
	b.mu.Unlock()
	h.telling = call.blocks
	h.record(&call.n)
	call.plan = h.Told(call.n.key)
	if call.plan.Takes == 0 {
		h.finish(call)
		return
	}
	h.call = call
	h.ReturnAfter(call.plan.Takes)
}

// finish has a call return, or panic.
func (h *handler) finish(call *call) {
	h.telling = false
	if call.plan.Panics {
		h.crash(call)
	}
	if call.blocks {
		h.pass <- call.plan.Panics
	}
	h.i.s.gate.touch()
}

func (h *handler) record(n *notification) {
	k := h.Kernel
	r := k.Record(h.ID, subjects.KindNotify)
	r.Key, r.Detail, r.RV, r.N, r.Obj, r.Old = n.key, n.detail, n.rv, n.n, n.obj, n.old
	k.Emit(r)
}

// Pending implements informers.EngineHandler.
func (h *handler) Pending() bool {
	h.i.s.gate.mu.Lock()
	defer h.i.s.gate.mu.Unlock()
	return h.telling || h.call != nil || h.parked != nil || len(h.inbox) > 0
}

// Offer implements informers.EngineHandler.
func (h *handler) Offer() {
	h.caughtUp()
	h.OfferHandle(h.call == nil && h.Pending() && !h.pauses() && !h.Held)
}

// Remove implements informers.EngineHandler.
func (h *handler) Remove() error {
	if err := h.i.inf.RemoveEventHandler(h.reg); err != nil {
		return err
	}
	h.drop()
	return nil
}

// checkSynced notes that everything of the initial list has been told. What waits in the inbox has been told as far as
// client-go knows, but not to anybody yet.
//
// A DeltaFIFO of v0.37 says that it is synced when it takes out the last object of the first list, before that is processed;
// whether the registration believes it before or after the object has come to the listener is a race that nobody can decide
// from outside. With that queue the registration is taken at its word only when nothing of the list waits here, where all
// of it comes at once (pop).
func (h *handler) checkSynced() {
	if h.Synced || h.lost || !h.reg.HasSynced() || h.call != nil && initial(h.call.n) || slices.ContainsFunc(h.inbox, initial) || h.i.queue.delta && h.parked != nil && initial(*h.parked) {
		return
	}
	h.NoteSynced()
}

func initial(n notification) bool { return n.detail == subjects.NotifyAddInitial }

// drain lets everything that waits in client-go come to the inbox, and what comes from now on too. The bubble must
// become quiescent before gather.
func (h *handler) drain() {
	h.letThrough(math.MaxInt)
}

// letThrough lets that many calls return.
func (h *handler) letThrough(n int) {
	b := h.i.s.gate
	b.mu.Lock()
	defer b.mu.Unlock()
	h.through = n
	switch {
	case h.parked != nil:
		h.inbox = append(h.inbox, *h.parked)
		h.parked = nil
	case h.call != nil && h.call.blocks:
		h.call.blocks = false
	default:
		return
	}
	h.pass <- false
	b.touch()
}

// mark says that what comes to the inbox from now on has no order.
func (h *handler) mark() { h.base = len(h.inbox) }

// gather ends a drain: what came since mark is put in order.
func (h *handler) gather(order func([]notification)) {
	b := h.i.s.gate
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.pausing {
		h.behind = true
		return
	}
	h.through = 0
	order(h.inbox[h.base:])
}

// gatherAll is gather for a handler that was just added: the last call of its replay is parked, so that it is not told to
// be synced before it has heard everything.
func (h *handler) gatherAll() {
	b := h.i.s.gate
	b.mu.Lock()
	defer b.mu.Unlock()
	h.through = 0
	if h.parked == nil {
		return
	}
	all := append(h.inbox, *h.parked)
	byKey(all)
	*h.parked = all[len(all)-1]
	h.inbox = all[:len(all)-1]
}

// drop ends the handler: what waits is forgotten.
func (h *handler) drop() {
	b := h.i.s.gate
	h.OfferHandle(false)
	b.mu.Lock()
	defer b.mu.Unlock()
	h.gone, h.inbox = true, nil
	if h.parked != nil || h.call != nil && h.call.blocks {
		h.parked = nil
		h.pass <- false
	}
	h.Abandon()
	h.call, h.telling = nil, false
	b.touch()
}

// byKey orders notifications by key; those of one key stay in their order.
func byKey(ns []notification) {
	slices.SortStableFunc(ns, func(a, b notification) int { return strings.Compare(a.key, b.key) })
}

// byRun orders runs of the same sort of notification by key: the tombstones of a relist, the objects of a resync. all says
// that the adds and updates of a list have no order either.
func byRun(ns []notification, all bool) {
	for from := 0; from < len(ns); {
		sort := sortOf(&ns[from], all)
		to := from + 1
		for sort != ordered && to < len(ns) && sortOf(&ns[to], all) == sort {
			to++
		}
		byKey(ns[from:to])
		from = to
	}
}

const (
	ordered = iota
	tombstone
	resynced
	listed
)

func sortOf(n *notification, all bool) int {
	switch {
	case n.detail == subjects.NotifyUnknown:
		return tombstone
	case n.detail == subjects.NotifyDelete:
		return ordered
	case all:
		return listed
	case n.detail == subjects.NotifySync:
		return resynced
	}
	return ordered
}
