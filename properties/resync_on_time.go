package properties

import (
	"fmt"
	"slices"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// ResyncOnTime checks that each handler is resynced at its own period.
var ResyncOnTime = Property{
	Name:      "ResyncOnTime",
	Statement: "a handler is resynced once its period is over, while its informer watches, and no other handler is resynced with it",
	Kinds: slices.Concat(requestKinds, []sim.Kind{
		subjects.KindResync, subjects.KindNotify, subjects.KindHandler, subjects.KindReplace, subjects.KindIndexer,
	}),
	New: func() Checker {
		p := &resyncOnTime{}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.unclean, End: p.end}
	},
}

// resyncOnTime judges who gets what is only a resync, and whether one is overdue: at the end of a run, and in between where a resync of an
// object with nothing queued must have come ([untouched]). How long the reflector has been in a round, without which no timer runs (I38),
// follows from its requests.
type resyncOnTime struct {
	schedules resyncSchedules
	requests  reflectorRequests
	handlers  byActor[resyncHearer]
	pending   []sim.ActorID   // informers with handlers that may still have calls from a time when they were syncing
	unclean   bool            // there are some
	last      byActor[origin] // by informer: its last resync
	untouched byActor[untouched]
}

// resyncHearer is a handler. It is clean once everything that was meant for it while it was syncing has been delivered.
type resyncHearer struct{ clean bool }

func (p *resyncOnTime) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		p.requests.request(r)
	case fakeapiserver.KindFrame:
		v := p.framed(w, r)
		p.requests.answer(w, r)
		return v
	case subjects.KindReplace:
		*p.untouched.get(r.Actor) = untouched{}
	case subjects.KindIndexer:
		return p.overdueBeside(w, r.Actor)
	case subjects.KindHandler:
		p.schedules.handler(w, r)
		*p.handlers.get(r.Actor) = resyncHearer{}
	case subjects.KindStopped:
		p.schedules.stopped(r.Actor)
		*p.untouched.get(r.Actor) = untouched{}
		p.requests.answer(w, r)
	case subjects.KindResync:
		return p.resynced(w, r)
	case subjects.KindNotify:
		return p.notified(w, r)
	default:
		p.requests.answer(w, r)
	}
	return nil
}

// resynced judges that somebody was due.
func (p *resyncOnTime) resynced(w World, r *sim.Record) *reports.Violation {
	due, _ := p.schedules.resync(r)
	*p.untouched.get(r.Actor) = untouched{}
	*p.last.get(r.Actor) = origin{step: r.Step, at: r.At}
	s := p.schedules.informers.get(r.Actor)
	if len(due) == 0 {
		name := w.Kernel().ActorName(r.Actor)
		v := &reports.Violation{
			Message: fmt.Sprintf("informer %s is resynced, although none of its handlers is due", name),
			Because: []reports.Evidence{reports.Because(r, "a resync queued the store of %s", name)},
		}
		for _, id := range s.handlers {
			h := p.schedules.handlers.get(id)
			v.Message += fmt.Sprintf("; %s has the period %v and is next due at %v", w.Kernel().ActorName(id), h.period, h.next)
		}
		return v
	}
	for _, id := range due {
		p.handlers.get(id).clean = false
	}
	if len(due) < len(s.handlers) && !slices.Contains(p.pending, r.Actor) {
		p.pending, p.unclean = append(p.pending, r.Actor), true
	}
	return nil
}

// notified judges that what is only a resync goes to nobody else.
func (p *resyncOnTime) notified(w World, r *sim.Record) *reports.Violation {
	if r.Detail != subjects.NotifySync || !p.handlers.get(r.Actor).clean {
		return nil
	}
	h := p.schedules.handlers.get(r.Actor)
	if h.period > 0 && r.At >= h.next {
		return nil // a resync that left no record may have been its own
	}
	period := "which is never resynced"
	if h.period > 0 {
		period = fmt.Sprintf("which is next due at %v", h.next)
	}
	v := &reports.Violation{
		Key:     r.Key,
		Message: fmt.Sprintf("handler %s, %s, was notified of %s because of a resync", w.Kernel().ActorName(r.Actor), period, r.Key),
	}
	if id, ok := w.Kernel().Owner(r.Actor); ok {
		v.Because = append(v.Because, p.lastResync(w, id))
	}
	v.Because = append(v.Because, reports.Because(r, "but it was notified: %s %s", r.Detail, r.Key))
	return v
}

// lastResync is the last resync of an informer, as evidence.
func (p *resyncOnTime) lastResync(w World, id sim.ActorID) reports.Evidence {
	last := p.last.get(id)
	if last.step == 0 {
		return reports.Evidence{}
	}
	return reports.Evidence{Step: last.step, At: last.at, Text: "the last resync of " + w.Kernel().ActorName(id)}
}

// stepEnd finds the handlers that have nothing left from a time when they were syncing.
func (p *resyncOnTime) stepEnd(w World) *reports.Violation {
	for n := 0; n < len(p.pending); n++ {
		id := p.pending[n]
		inf := w.InformerOf(id)
		if inf != nil && inf.Busy() {
			continue
		}
		p.pending = slices.Delete(p.pending, n, n+1)
		n--
		for _, h := range p.schedules.informers.get(id).handlers {
			if !p.schedules.handlers.get(h).syncing {
				p.handlers.get(h).clean = true
			}
		}
	}
	p.unclean = len(p.pending) > 0
	return nil
}

// end judges that no handler is overdue. The reflector checks once in each check period, from the beginning of its round on.
func (p *resyncOnTime) end(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		id, ok := w.Kernel().ActorByName(inf.Name())
		conn, connected := w.Kernel().ActorByName("conn/" + inf.Name())
		if !ok || !connected {
			continue
		}
		s, c := p.schedules.informers.get(id), p.requests.conns.get(conn)
		if !s.all || !c.inRound() {
			continue
		}
		for _, h := range s.handlers {
			hs := p.schedules.handlers.get(h)
			due := max(hs.next, c.round) + s.check
			if now := w.Kernel().Elapsed(); hs.period > 0 && now > due {
				return p.overdue(w, h, hs.period, due, c.round, id)
			}
		}
	}
	return nil
}

func (p *resyncOnTime) overdue(w World, h sim.ActorID, period, due, round time.Duration, informer sim.ActorID) *reports.Violation {
	k := w.Kernel()
	v := &reports.Violation{
		Message: fmt.Sprintf("handler %s is to be resynced every %v, and its informer has watched since %v, but no resync came by %v", k.ActorName(h), period, round, due),
	}
	if last := p.lastResync(w, informer); last.Step != 0 {
		v.Because = append(v.Because, last)
	}
	v.Because = append(v.Because, reports.Evidence{Step: k.Steps(), At: k.Elapsed(), Text: "and now it is overdue"})
	return v
}
