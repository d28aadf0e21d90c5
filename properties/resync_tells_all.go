package properties

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// ResyncTellsAll checks that a resync leaves no object out.
var ResyncTellsAll = Property{
	Name:      "ResyncTellsAll",
	Statement: "a resync notifies each handler that is due of every object in the Indexer, and where there are no resyncs, an update of nothing goes to all handlers or none",
	Kinds:     []sim.Kind{subjects.KindResync, subjects.KindNotify, subjects.KindHandler, subjects.KindStopped},
	New: func() Checker {
		p := &resyncTellsAll{}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending}
	},
}

// resyncTellsAll requires that once a resynced informer is idle, each handler that was due was notified of every object that its
// Indexer held at the resync (I66, I76, I78); where it is unknown who was, some handler. Every check decides anew whether a handler
// still is (I76), so a resync is judged only if it is done before time passes.
type resyncTellsAll struct {
	schedules resyncSchedules
	resyncs   byActor[resync] // by informer
	waiting   []sim.ActorID   // informers whose resync has not been judged
	nothings  updatesOfNothing
	pending   bool // something is to be judged at the end of a step
}

// resync is the last resync of an informer.
type resync struct {
	step    uint64
	at      time.Duration
	keys    []string      // sorted
	due     []sim.ActorID // 0 for any, if it is unknown who was
	waiting bool
	told    map[toldKey]bool // since
}

type toldKey struct {
	handler sim.ActorID // 0 for any
	key     string
}

func (p *resyncTellsAll) record(w World, r *sim.Record) *reports.Violation {
	p.follow(w, r)
	p.pending = len(p.waiting) > 0 || len(p.nothings.open) > 0
	return nil
}

func (p *resyncTellsAll) follow(w World, r *sim.Record) {
	switch r.Kind {
	case subjects.KindResync:
		due, sure := p.schedules.resync(r)
		if inf := w.InformerOf(r.Actor); inf != nil && len(due) > 0 {
			p.expect(r, inf, due, sure)
		}
	case subjects.KindStopped:
		p.schedules.stopped(r.Actor)
		p.nothings.forget(r.Actor)
		p.forget(r.Actor)
	case subjects.KindHandler:
		p.schedules.handler(w, r)
		if id, ok := p.informer(w, r); ok {
			p.forget(id) // it may have been the only one that was due
			p.nothings.handlers(id, p.schedules.informers.get(id))
		}
	default:
		if r.Detail == subjects.NotifySync {
			if id, ok := p.informer(w, r); ok {
				p.nothings.told(id, p.schedules.informers.get(id), r)
			}
		}
		if len(p.waiting) == 0 {
			return
		}
		if id, ok := p.informer(w, r); ok {
			if s := p.resyncs.get(id); s.waiting {
				s.told[toldKey{r.Actor, r.Key}], s.told[toldKey{0, r.Key}] = true, true
			}
		}
	}
}

// informer returns a handler's informer.
func (p *resyncTellsAll) informer(w World, r *sim.Record) (sim.ActorID, bool) {
	return w.Kernel().Owner(r.Actor)
}

// expect starts to follow a resync.
func (p *resyncTellsAll) expect(r *sim.Record, inf subjects.Informer, due []sim.ActorID, sure bool) {
	s := p.resyncs.get(r.Actor)
	if !s.waiting {
		p.waiting = append(p.waiting, r.Actor)
	}
	if s.told == nil {
		s.told = map[toldKey]bool{}
	}
	clear(s.told)
	if !sure {
		due = []sim.ActorID{0} // any
	}
	*s = resync{step: r.Step, at: r.At, keys: inf.Keys(), due: append(s.due[:0], due...), waiting: true, told: s.told}
}

func (p *resyncTellsAll) forget(id sim.ActorID) {
	s := p.resyncs.get(id)
	*s = resync{told: s.told, due: s.due} // their room is for the next one
	for n, x := range p.waiting {
		if x == id {
			p.waiting = append(p.waiting[:n], p.waiting[n+1:]...)
			return
		}
	}
}

func (p *resyncTellsAll) stepEnd(w World) *reports.Violation {
	for n := 0; n < len(p.waiting); n++ {
		id := p.waiting[n]
		inf := w.InformerOf(id)
		if w.Kernel().Elapsed() > p.resyncs.get(id).at {
			p.forget(id)
			n--
			continue
		}
		if inf == nil || inf.Busy() {
			continue
		}
		if v := p.resyncs.get(id).judge(w, inf); v != nil {
			return v
		}
		p.forget(id)
		n--
	}
	v := p.nothings.stepEnd(w, &p.schedules)
	p.pending = len(p.waiting) > 0 || len(p.nothings.open) > 0
	return v
}

func (s *resync) judge(w World, inf subjects.Informer) *reports.Violation {
	for _, h := range s.due {
		for _, key := range s.keys {
			if !s.told[toldKey{h, key}] {
				return s.violation(w, inf, h, key)
			}
		}
	}
	return nil
}

func (s *resync) violation(w World, inf subjects.Informer, h sim.ActorID, key string) *reports.Violation {
	who := fmt.Sprintf("none of its handlers (%s) was", strings.Join(inf.Handlers(), ", "))
	if h != 0 {
		who = fmt.Sprintf("its handler %s, which was due, was not", w.Kernel().ActorName(h))
	}
	return &reports.Violation{
		Key:     key,
		Message: fmt.Sprintf("informer %s was resynced and is idle, but %s notified of %s, which it held", inf.Name(), who, key),
		Because: []reports.Evidence{
			{Step: s.step, At: s.at, Text: fmt.Sprintf("a resync queued the store of %s", inf.Name())},
			{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("but the informer is idle, without a notification of %s", key)},
		},
	}
}
