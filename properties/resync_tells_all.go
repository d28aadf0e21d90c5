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
	Statement: "a resync notifies a handler of every object in the Indexer",
	Kinds:     []sim.Kind{subjects.KindResync, subjects.KindNotify, subjects.KindHandler, subjects.KindStopped},
	New: func() Checker {
		p := &resyncTellsAll{}
		return Checker{Record: p.record, StepEnd: p.stepEnd}
	},
}

// resyncTellsAll requires that once a resynced informer is idle, some handler was notified of every object that its Indexer held
// at the resync (I66, I76, I78). Which handlers were due cannot be seen, but one was. Every check decides anew whether it still
// is (I76), so a resync is judged only if it is done before time passes.
type resyncTellsAll struct {
	resyncs byActor[resync] // by informer
	waiting []sim.ActorID   // informers whose resync has not been judged
}

// resync is the last resync of an informer.
type resync struct {
	step     uint64
	at       time.Duration
	keys     []string        // sorted
	notified map[string]bool // keys notified since
}

func (p *resyncTellsAll) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case subjects.KindResync:
		if inf := w.Informer(w.Kernel().ActorName(r.Actor)); inf != nil && len(inf.Handlers()) > 0 {
			p.expect(r, inf)
		}
	case subjects.KindStopped:
		p.forget(r.Actor)
	default:
		id, ok := w.Kernel().ActorByName(informerOf(w.Kernel().ActorName(r.Actor)))
		if !ok || len(p.waiting) == 0 {
			return nil
		}
		if r.Kind == subjects.KindHandler {
			p.forget(id) // it may have been the only one that was due
			return nil
		}
		if s := p.resyncs.get(id); s.notified != nil {
			s.notified[r.Key] = true
		}
	}
	return nil
}

// expect starts to follow a resync.
func (p *resyncTellsAll) expect(r *sim.Record, inf subjects.Informer) {
	s := p.resyncs.get(r.Actor)
	if s.notified == nil {
		p.waiting = append(p.waiting, r.Actor)
	}
	*s = resync{step: r.Step, at: r.At, keys: inf.Keys(), notified: map[string]bool{}}
}

func (p *resyncTellsAll) forget(id sim.ActorID) {
	p.resyncs.get(id).notified = nil
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
		inf := w.Informer(w.Kernel().ActorName(id))
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
	return nil
}

func (s *resync) judge(w World, inf subjects.Informer) *reports.Violation {
	for _, key := range s.keys {
		if s.notified[key] {
			continue
		}
		return &reports.Violation{
			Key:     key,
			Message: fmt.Sprintf("informer %s was resynced and is idle, but none of its handlers (%s) was notified of %s, which it held", inf.Name(), strings.Join(inf.Handlers(), ", "), key),
			Because: []reports.Evidence{
				{Step: s.step, At: s.at, Text: fmt.Sprintf("a resync queued the store of %s", inf.Name())},
				{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("but the informer is idle, and no handler was notified of %s", key)},
			},
		}
	}
	return nil
}
