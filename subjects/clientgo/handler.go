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
	pass chan bool // buffered: makes the parked call return, or panic

	// Guarded by the bubble's mu.
	parked *notification // the call that blocks; nil if none
	inbox  []notification
	// through is the number of calls that return at once, with their notifications put into the inbox, before one parks again.
	through int
	gone    bool // removed, or the informer was stopped: calls return
	// removed has client-go's calls after the removal recorded, although there should be none.
	removed  bool
	late     []notification
	backsOff bool // client-go backs off after a call that panicked: the next call comes a second after its notification

	backoff
	replayed bool  // it was added late, and is replayed the store
	call     *call // the slow call in flight; nil for none
	blocked  bool  // a call blocks client-go, so the calls behind it cannot be observed yet
	base     int   // where the unordered part of the inbox begins
}

// call is one call of a handler.
type call struct {
	n      notification
	plan   subjects.CallPlan
	blocks bool // in client-go
}

// notification is the content of one call.
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

// called handles a call, on client-go's goroutine.
func (h *handler) called(n notification) {
	if n.key == "" {
		key, err := cache.MetaNamespaceKeyFunc(n.obj)
		if err != nil {
			key = err.Error() // every property about keys will report it
		}
		n.key = key
	}
	n.rv = subjects.RevisionOf(n.obj)
	b := h.i.s.gate
	b.mu.Lock()
	h.backsOff = false
	switch {
	case h.gone:
		if h.removed {
			h.late = append(h.late, n)
		}
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
		panic(injectedPanic{n.key})
	}
}

// Apply implements sim.Actor: it begins a call, or ends a slow one.
func (h *handler) Apply(c sim.Choice) {
	if c.Kind == informers.KindReturn {
		h.ReturnPicked()
		call := h.call
		h.call = nil
		h.finish(call)
		return
	}
	h.HandlePicked()
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
	h.blocked = call.blocks
	h.record(&call.n)
	call.plan = h.BeginCall(call.n.key)
	if call.plan.Takes == 0 {
		h.finish(call)
		return
	}
	h.call = call
	h.ReturnAfter(call.plan.Takes)
}

// finish makes a call return, or panic.
func (h *handler) finish(call *call) {
	h.blocked = false
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
	return h.blocked || h.call != nil || h.parked != nil || len(h.inbox) > 0
}

// Offer implements informers.EngineHandler.
func (h *handler) Offer() {
	h.sortAfterBackoff()
	h.OfferHandle(h.call == nil && h.Pending() && !h.inBackoff() && !h.Held)
}

// Remove implements informers.EngineHandler.
func (h *handler) Remove() error {
	if err := h.i.inf.RemoveEventHandler(h.reg); err != nil {
		return err
	}
	// client-go's goroutine that hands out notifications ends now, before a call that blocks returns and the next is due.
	b := h.i.s.gate
	b.touch()
	b.Quiesce()
	b.mu.Lock()
	h.removed = true
	b.mu.Unlock()
	h.drop()
	h.i.removed = append(h.i.removed, h)
	return nil
}

// collectLate records the calls that came after the removal.
func (h *handler) collectLate() {
	b := h.i.s.gate
	b.mu.Lock()
	late := h.late
	h.late = nil
	b.mu.Unlock()
	for n := range late {
		h.record(&late[n])
	}
}

// checkSynced notes that the whole initial list has been delivered. client-go considers notifications in the inbox delivered, but
// their calls have not been made yet.
//
// Two races inside client-go v0.37 can make a registration report that it is synced too early. They happen within a step, so no
// seed decides them:
//   - A DeltaFIFO reports that it is synced when the last object of the first list is taken out, before that is processed. With
//     that queue, everything of the list arrives here at once (pop).
//   - SingleFileTracker.Finished decides by a count that may be outdated: while a late handler's replay is being added, the count
//     reaches 0 between two objects. If the goroutine is preempted right there, until the replay is complete, it reports synced.
//
// The registration is therefore trusted only when nothing of the list waits here, unless it is a call that client-go itself waits for,
// of a handler whose list is not a replay.
func (h *handler) checkSynced() {
	if h.Synced || h.lost || !h.reg.HasSynced() || slices.ContainsFunc(h.inbox, initial) {
		return
	}
	if c := h.call; c != nil && (h.replayed || !c.blocks) && initial(c.n) || h.replayed && h.parked != nil && initial(*h.parked) {
		return
	}
	h.NoteSynced()
}

func initial(n notification) bool { return n.detail == subjects.NotifyAddInitial }

// drain moves everything that waits in client-go, and whatever follows, to the inbox. The bubble must become quiescent before
// gather.
func (h *handler) drain() {
	h.letThrough(math.MaxInt)
}

// letThrough lets n calls return.
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

// mark marks the start of notifications without an order in the inbox.
func (h *handler) mark() { h.base = len(h.inbox) }

// gather ends a drain and sorts the notifications since mark.
func (h *handler) gather(order func([]notification)) {
	b := h.i.s.gate
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.backsOff {
		h.unsorted = true
		return
	}
	h.through = 0
	order(h.inbox[h.base:])
}

// gatherAll is gather for a handler that was just added. The last call of its replay stays parked, so that the handler does not
// sync before it has received everything.
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

// drop ends the handler and drops its waiting calls.
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
	h.call, h.blocked = nil, false
	b.touch()
}

// byKey sorts notifications by key; those of one key keep their order.
func byKey(ns []notification) {
	slices.SortStableFunc(ns, func(a, b notification) int { return strings.Compare(a.key, b.key) })
}

// byRun sorts runs of notifications of the same sort by key: the tombstones of a relist, the objects of a resync, and those of lists
// without an order, which are told by their versions. What watches brought keeps its order.
func byRun(ns []notification, lists map[version]bool) {
	for from := 0; from < len(ns); {
		sort := sortOf(&ns[from], lists)
		to := from + 1
		for sort != ordered && to < len(ns) && sortOf(&ns[to], lists) == sort {
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

func sortOf(n *notification, lists map[version]bool) int {
	switch {
	case n.detail == subjects.NotifyUnknown:
		return tombstone
	case n.detail == subjects.NotifyDelete:
		return ordered
	case lists[version{n.key, n.rv}]:
		return listed
	case n.detail == subjects.NotifySync:
		return resynced
	}
	return ordered
}
