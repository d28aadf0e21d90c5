package clientgo

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/subjects/informers"
)

// handler is an event handler of an informer as an actor: client-go's call blocks until the choice handle is picked.
type handler struct {
	informers.Handler
	i *actor
	n int // its number on the other side

	parked    *notification  // the call that blocks; nil if none
	room      notification   // for parked
	inbox     []notification // the calls that have returned in client-go
	begin     []notification // of the inbox's memory, for the next ones once it is empty
	hasSynced bool           // its registration
	late      []notification // calls after its removal
	backsOff  bool           // client-go backs off after a call that panicked: the next call comes a second after its notification

	backoff
	replayed bool          // it was added late, and is replayed the store
	call     *call         // the slow call in flight; nil for none
	only     call          // the call that was begun last: none begins before it has ended
	blocked  bool          // a call blocks client-go, so the calls behind it cannot be observed yet
	base     int           // where the unordered part of the inbox begins
	passed   *gates.Passed // of the last notification; nil for the same, told
	told     gates.PassedCall
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
	// early says that the Indexer has changed since client-go made the call: it held the revision stored then, and at most reached until then; 0 for
	// nothing.
	early           bool
	stored, reached int64
	call            gates.Call
	passed          *gates.Passed
}

// deliver notes what has happened to the handler.
func (h *handler) deliver(e *gates.Event) {
	if e.What == gates.HandlerSynced {
		h.hasSynced = true
		return
	}
	h.backsOff = false
	switch e.What {
	case gates.Called:
		h.room = notificationOf(e)
		h.parked = &h.room
	case gates.PassedBy:
		h.put(notificationOf(e))
	case gates.Late:
		h.late = append(h.late, notificationOf(e))
	}
}

// put adds a call to the inbox.
func (h *handler) put(n notification) {
	if len(h.inbox) == 0 {
		h.inbox = h.begin[:0]
	}
	room := cap(h.inbox)
	if h.inbox = append(h.inbox, n); cap(h.inbox) != room {
		h.begin = h.inbox
	}
}

var details = [...]string{
	gates.Add: subjects.NotifyAdd, gates.AddInitial: subjects.NotifyAddInitial, gates.Update: subjects.NotifyUpdate,
	gates.Delete: subjects.NotifyDelete, gates.DeleteUnknown: subjects.NotifyUnknown,
}

func notificationOf(e *gates.Event) notification {
	n := notification{detail: details[e.Call], key: e.Key, obj: e.Obj, old: e.Old, rv: subjects.RevisionOf(e.Obj), early: e.Flag}
	n.call, n.passed = e.Call, e.Passed
	if n.early {
		n.stored, n.reached = e.N, e.ID
	}
	if e.Call == gates.Update {
		if n.n = subjects.RevisionOf(e.Old); n.n == n.rv {
			n.detail = subjects.NotifySync
		}
	}
	return n
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
	h.only = call{}
	call := &h.only
	if len(h.inbox) > 0 {
		call.n = h.inbox[0]
		h.inbox[0] = notification{}
		h.inbox = h.inbox[1:]
	} else {
		call.n, call.blocks = *h.parked, true
		h.parked = nil
	}
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
		h.i.s.side.Return(h.i.n, h.n, call.plan.Panics)
	}
	h.i.s.touch()
}

func (h *handler) record(n *notification) {
	k := h.Kernel
	if n.early {
		r := k.Record(h.ID, subjects.KindStored)
		r.Key, r.RV, r.N = n.key, n.stored, n.reached
		k.Emit(r)
	}
	h.passed, h.told = n.passed, gates.PassedCall{Call: n.call, RV: n.rv, Old: n.n}
	r := k.Record(h.ID, subjects.KindNotify)
	r.Key, r.Detail, r.RV, r.N, r.Obj, r.Old = n.key, n.detail, n.rv, n.n, n.obj, n.old
	k.Emit(r)
}

// Pending implements informers.EngineHandler.
func (h *handler) Pending() bool {
	return h.blocked || h.call != nil || h.parked != nil || len(h.inbox) > 0
}

// Offer implements informers.EngineHandler.
func (h *handler) Offer() {
	h.sortAfterBackoff()
	h.OfferHandle(h.call == nil && h.Pending() && !h.inBackoff() && !h.Held)
}

// Remove implements informers.EngineHandler.
func (h *handler) Remove() error {
	if err := h.i.s.side.RemoveHandler(h.i.n, h.n); err != nil {
		return err
	}
	// client-go's goroutine that hands out notifications ends now, before a call that blocks returns and the next is due.
	h.i.s.quiesce()
	h.i.s.side.Drop(h.i.n, h.n)
	h.drop()
	h.i.removed = append(h.i.removed, h)
	return nil
}

// collectLate records the calls that came after the removal.
func (h *handler) collectLate() {
	late := h.late
	h.late = nil
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
//
// In releases where it cannot say so, nothing is noted. Programs started their workers when the informer had synced, and so it is here.
func (h *handler) checkSynced() {
	if h.i.s.silent {
		if h.Pool != nil && !h.Synced {
			h.Synced = true
			h.Pool.Start()
		}
		return
	}
	if h.Synced || h.lost || !h.hasSynced || slices.ContainsFunc(h.inbox, initial) {
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
	side := h.i.s.side
	side.Through(h.i.n, h.n, n)
	switch {
	case h.parked != nil:
		h.put(*h.parked)
		h.parked = nil
	case h.call != nil && h.call.blocks:
		h.call.blocks = false
	default:
		return
	}
	side.Return(h.i.n, h.n, false)
	h.i.s.touch()
}

// mark marks the start of notifications without an order in the inbox.
func (h *handler) mark() { h.base = len(h.inbox) }

// gather ends a drain and sorts the notifications since mark.
func (h *handler) gather(order func([]notification)) {
	if h.backsOff {
		h.unsorted = true
		return
	}
	h.i.s.side.Through(h.i.n, h.n, 0)
	order(h.inbox[h.base:])
}

// gatherAll is gather for a handler that was just added. The last call of its replay stays parked, so that the handler does not
// sync before it has received everything.
func (h *handler) gatherAll() {
	h.i.s.side.Through(h.i.n, h.n, 0)
	if h.parked == nil {
		return
	}
	all := append(h.inbox, *h.parked)
	byKey(all)
	*h.parked = all[len(all)-1]
	h.inbox = all[:len(all)-1]
}

// drop drops the waiting calls of a handler that has ended.
func (h *handler) drop() {
	h.OfferHandle(false)
	h.inbox, h.parked = nil, nil
	h.Abandon()
	h.call, h.blocked = nil, false
	h.i.s.touch()
}

// byKey sorts notifications by key; those of one key keep their order.
func byKey(ns []notification) {
	slices.SortStableFunc(ns, func(a, b notification) int { return strings.Compare(a.key, b.key) })
}

// byRun sorts runs of notifications of the same sort: the tombstones of a relist, the objects of a resync, and those of lists
// without an order, which are told by their versions. What watches brought keeps its order. Several lists may follow each other in a run, so
// what is told of an object for the first time comes before what is told of any for the second time.
func byRun(ns []notification, lists map[version]bool) {
	for from := 0; from < len(ns); {
		sort := sortOf(&ns[from], lists)
		to := from + 1
		for sort != ordered && to < len(ns) && sortOf(&ns[to], lists) == sort {
			to++
		}
		if to-from > 1 {
			byTimeAndKey(ns[from:to])
		}
		from = to
	}
}

// byTimeAndKey sorts notifications by how many of the same key come before, then by key.
func byTimeAndKey(ns []notification) {
	byKey(ns)
	again := false
	for i := range ns[1:] {
		again = again || ns[i].key == ns[i+1].key
	}
	if !again {
		return
	}
	type told struct {
		notification
		before int
	}
	all := make([]told, len(ns))
	for i := range ns {
		all[i].notification = ns[i]
		if i > 0 && ns[i].key == ns[i-1].key {
			all[i].before = all[i-1].before + 1
		}
	}
	slices.SortStableFunc(all, func(a, b told) int { return cmp.Compare(a.before, b.before) })
	for i := range all {
		ns[i] = all[i].notification
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
	}
	// Of a version that had come before such a list had it, the list tells nothing new: an update is what came before.
	first, inList := lists[version{n.key, n.rv}]
	switch {
	case inList && (first || n.detail == subjects.NotifySync):
		return listed
	case n.detail == subjects.NotifySync:
		return resynced
	}
	return ordered
}
