package properties

import (
	"slices"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// minResyncPeriod is the shortest period that a handler can have (I78).
const minResyncPeriod = time.Second

// resyncSchedules models which handlers are due for a resync (I75 to I78).
type resyncSchedules struct {
	informers byActor[resyncSchedule]
	handlers  byActor[resyncedHandler]
	due       []sim.ActorID // of the last resync
}

// resyncSchedule is that of one informer.
type resyncSchedule struct {
	handlers []sim.ActorID // in the order in which they were added
	check    time.Duration // the period at which the reflector checks
	begun    bool
	all      bool // every resync leaves a record
}

// resyncedHandler is a handler's part of it.
type resyncedHandler struct {
	requested, period time.Duration // period 0 for none
	next              time.Duration // the earliest time of its next resync
	// syncing means that it may get what is only a resync (I75): since it is new, or was due at the last check (I76). A check at which
	// nobody is due ends that, too, but leaves no record.
	syncing bool
}

// handler notes that a handler was added or removed.
func (p *resyncSchedules) handler(w World, r *sim.Record) {
	id, ok := w.Kernel().Owner(r.Actor)
	if !ok {
		return
	}
	s := p.informers.get(id)
	s.handlers = slices.DeleteFunc(s.handlers, func(x sim.ActorID) bool { return x == r.Actor })
	added, ok := r.Obj.(subjects.HandlerAdded)
	if !ok {
		return
	}
	if !s.begun {
		s.begun, s.check, s.all = true, added.Check, added.AllResyncs
	}
	h := p.handlers.get(r.Actor)
	*h = resyncedHandler{requested: added.Resync, syncing: true}
	if h.requested > 0 {
		h.requested = max(h.requested, minResyncPeriod)
		switch {
		case h.requested >= s.check:
		case added.Late:
			h.requested = s.check
		default: // it lowers the check period, and with it those of handlers that were raised to it
			s.check = h.requested
			for _, other := range s.handlers {
				p.handlers.get(other).adopt(s.check)
			}
		}
	}
	h.adopt(s.check)
	h.next = r.At + h.period
	s.handlers = append(s.handlers, r.Actor)
}

// adopt works out the period under a check period.
func (h *resyncedHandler) adopt(check time.Duration) {
	h.period = 0
	if h.requested > 0 && check > 0 {
		h.period = max(h.requested, check)
	}
}

// resync notes a resync, and returns the handlers that are due. If earlier resyncs may have left no record, the time from which on a
// handler is due is not known: sure is then false, unless only one can be due. The next resync overwrites due.
func (p *resyncSchedules) resync(r *sim.Record) (due []sim.ActorID, sure bool) {
	s := p.informers.get(r.Actor)
	due = p.due[:0]
	for _, id := range s.handlers {
		h := p.handlers.get(id)
		if h.syncing = h.period > 0 && r.At >= h.next; h.syncing {
			due = append(due, id)
		}
	}
	if sure = s.all || len(due) == 1; sure {
		for _, id := range due {
			h := p.handlers.get(id)
			h.next = r.At + h.period
		}
	}
	p.due = due
	return due, sure
}

// stopped forgets an informer.
func (p *resyncSchedules) stopped(id sim.ActorID) { *p.informers.get(id) = resyncSchedule{} }
