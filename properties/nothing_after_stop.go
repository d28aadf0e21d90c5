package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// NothingAfterStop checks that a life of an informer ends when it is stopped (I88), and that the next one begins from nothing.
//
// Of client-go, calls of handlers that come after the stop are not seen: the one under way may be followed by another that was taken.
var NothingAfterStop = Property{
	Name: "NothingAfterStop",
	Statement: "an informer that was stopped leaves no request open, asks for nothing more, stores nothing and notifies nobody; " +
		"one that is started again begins with a list",
	Kinds: []sim.Kind{
		subjects.KindStopped, subjects.KindRestarted, subjects.KindHandler, fakeapiserver.KindRequest,
		subjects.KindIndexer, subjects.KindReplace, subjects.KindResync, subjects.KindSynced, subjects.KindBackoff, subjects.KindNotify,
	},
	New: func() Checker {
		p := &nothingAfterStop{}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending}
	},
}

// nothingAfterStop knows which lives have ended. An actor's ID is that of one life, of an informer or a handler; a connection has
// one for all of them.
type nothingAfterStop struct {
	lives byActor[life]
	conns byActor[life]
	ended []sim.ActorID // informers that were stopped in this step

	pending bool // there are some
}

type life struct {
	stopped  reports.Evidence // none before the stop
	again    bool             // of a connection: its informer was started again, and has asked for nothing yet
	handlers []sim.ActorID    // of an informer
}

func (p *nothingAfterStop) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case subjects.KindStopped:
		p.stop(w, r)
	case subjects.KindRestarted:
		if conn, ok := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(r.Actor)); ok {
			*p.conns.get(conn) = life{again: true}
		}
	case subjects.KindHandler:
		if id, ok := w.Kernel().Owner(r.Actor); ok {
			i := p.lives.get(id)
			i.handlers = slices.DeleteFunc(i.handlers, func(h sim.ActorID) bool { return h == r.Actor })
			if r.Detail == "added" { // NothingAfterRemove judges the others
				i.handlers = append(i.handlers, r.Actor)
			}
		}
	case fakeapiserver.KindRequest:
		return p.request(w, r)
	default:
		if l := p.lives.get(r.Actor); l.stopped.Text != "" {
			return l.violation(r.Key, fmt.Sprintf("informer %s was stopped, but goes on", informerOf(w.Kernel().ActorName(r.Actor))), reports.Because(r, "but then: %s", reports.RecordText(traced(w, r))))
		}
	}
	return nil
}

// traced returns a record as a trace has it.
func traced(w World, r *sim.Record) *sim.TraceRecord {
	return &sim.TraceRecord{Kind: r.Kind.String(), Actor: w.Kernel().ActorName(r.Actor), Key: r.Key, RV: r.RV, N: r.N, Detail: r.Detail}
}

func (p *nothingAfterStop) stop(w World, r *sim.Record) {
	because := reports.Because(r, "the informer was stopped")
	i := p.lives.get(r.Actor)
	i.stopped = because
	for _, h := range i.handlers {
		p.lives.get(h).stopped = because
	}
	if conn, ok := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(r.Actor)); ok {
		*p.conns.get(conn) = life{stopped: because}
	}
	p.ended, p.pending = append(p.ended, r.Actor), true
}

func (p *nothingAfterStop) request(w World, r *sim.Record) *reports.Violation {
	kind, _ := askedFor(r)
	c, name := p.conns.get(r.Actor), strings.TrimPrefix(w.Kernel().ActorName(r.Actor), "conn/")
	first := c.again
	c.again = false
	switch {
	case c.stopped.Text != "":
		return c.violation("", fmt.Sprintf("informer %s was stopped, but sends a request: %s", name, r.Detail), reports.Because(r, "but then: %s", r.Detail))
	case first && kind == askWatch:
		return &reports.Violation{
			Message: fmt.Sprintf("informer %s was started again, and begins with a watch: %s", name, r.Detail),
			Because: []reports.Evidence{reports.Because(r, "its first request: %s", r.Detail)},
		}
	}
	return nil
}

// stepEnd judges what an informer that was stopped in this step has left open.
func (p *nothingAfterStop) stepEnd(w World) *reports.Violation {
	ended := p.ended
	p.ended, p.pending = p.ended[:0], false
	for _, id := range ended {
		name := w.Kernel().ActorName(id)
		if c := w.Cluster().Client(name); c != nil && c.InFlight() > 0 {
			return p.lives.get(id).violation("", fmt.Sprintf("informer %s was stopped, but has not ended %s", name, reports.Counted(c.InFlight(), "request")))
		}
	}
	return nil
}

func (l *life) violation(key, message string, more ...reports.Evidence) *reports.Violation {
	return &reports.Violation{Key: key, Message: message, Because: append([]reports.Evidence{l.stopped}, more...)}
}
