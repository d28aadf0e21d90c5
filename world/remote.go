package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
	"github.com/informersim/informersim/world/wire"
)

var kindLog = sim.RegisterKind("log", sim.ClassRecord) // env.Logf

// remote is the run's bubble, which is in the test's process. A step that does nothing to it makes no trip.
type remote struct {
	link

	objects wire.Packet // changes of objects that the test has read, not yet sent; they do not move the bubble
	records wire.Packet // for the user's properties, not yet sent
	subs    []*subscription

	silent   bool  // the body is over: the user's properties see no more records
	checks   bool  // there are functions of env.Always or env.Sometimes
	moved    bool  // the bubble has moved since they were called
	checked  int64 // the Store's revision then
	logs     []string
	happened bool                 // something had when the last trip was over
	located  string               // the answer to DoLocate
	errs     []wellbehaved.Logged // the answer to DoErrors
	waiting  []string             // where goroutines of the program's own waited when the body had failed

	moves   uint64 // trips in which the bubble may have changed
	trips   uint64
	queries uint64
	early   *wire.Message // the bubble has ended before it was asked to

	queried  int           // how many queries are being answered
	reported *wire.Message // came in place of an answer, in the middle of a query
}

func newRemote(w *world, p *peer) *remote {
	return &remote{link: newLink(w, p)}
}

// rest carries out what was gathered and waits until nothing moves any more. Where nothing was done, nothing moves.
func (r *remote) rest() {
	flags := byte(0)
	if r.checks && (r.moved || r.actions.Len() > 0 || r.w.cluster.Store().Revision() != r.checked) {
		flags = wire.Checks
	}
	if flags != 0 || r.actions.Len() > 0 || r.records.Len() > 0 {
		r.trip(flags, 0)
	}
}

// pass lets time pass until something happens in the bubble, at most d, and returns how much has passed.
func (r *remote) pass(d time.Duration) time.Duration {
	before := r.elapsed
	flags := byte(wire.Pass)
	if r.checks {
		flags |= wire.Checks
	}
	r.trip(flags, d)
	return r.elapsed - before
}

// trip sends what was gathered and takes in what came of it.
func (r *remote) trip(flags byte, d time.Duration) {
	if r.lost() {
		return
	}
	if r.actions.Len() > 0 || flags&wire.Pass != 0 {
		r.moves++
	}
	r.trips++
	r.moved = flags&wire.Checks == 0
	r.checked = r.w.cluster.Store().Revision()
	p := wire.New(wire.Do).Byte(flags).Num(int64(r.w.flight.step)).Duration(d)
	p.Num(int64(r.w.kernel.Steps())).Num(r.w.cluster.Store().Revision()).Num(int64(r.w.run.FaultTotal())).Append(&r.objects).Append(&r.records).Append(&r.actions)
	r.objects.Reset()
	r.records.Reset()
	r.actions.Reset()
	r.w.flight.leave()
	r.peer.send(p)
	m := r.await(wire.Report)
	if m == nil {
		r.w.flight.cutOff(flags&wire.Pass != 0)
		return
	}
	r.elapsed = m.Duration()
	for r.happened = m.More(); m.More(); {
		r.event(m)
	}
	if m.Err() != nil {
		r.peer.broken(m.Err())
		r.w.kernel.Fail(r.peer.gone)
	}
}

// await receives the next message of a kind and answers queries until then. It returns nil, and the run fails, if there is none.
func (r *remote) await(kind byte) *wire.Message {
	for {
		m := r.peer.receive()
		switch {
		case m == nil:
			r.w.kernel.Fail(r.peer.gone)
			return nil
		case m.Kind == kind:
			return m
		case m.Kind == wire.Query:
			r.queries++
			r.queried++
			answer := r.answer(m)
			r.queried--
			if m := r.reported; m != nil {
				r.reported = nil
				return m
			}
			r.peer.send(answer)
		case m.Kind == wire.Report && kind == wire.Called:
			r.reported = m // by a bubble that has come to rest without the handler's answer
			return nil
		case m.Kind == wire.Ended:
			r.early = m
			r.w.kernel.Fail(errEndedEarly)
			return nil
		default:
			r.peer.broken(fmt.Errorf("a message of kind %q instead of %q", m.Kind, kind))
		}
	}
}

// errConverterWaits is the error of a handler that does not answer a call which is made for a query.
var errConverterWaits = errors.New("a conversion webhook waits for something, while env.Get or env.List waits for its answer: a conversion must need nothing but the object")

// errEndedEarly stands for what the test's process says of a bubble that ended by itself.
var errEndedEarly = errors.New("the bubble has ended")

// lost reports whether nobody is there any more to carry anything out.
func (r *remote) lost() bool { return r.peer.gone != nil || r.early != nil }

// event takes in what has happened in the bubble.
func (r *remote) event(m *wire.Message) {
	w := r.w
	switch kind := m.Byte(); kind {
	case wire.EventRequest:
		if q := r.requested(m); q != nil {
			w.refuseTaken(q.client)
		}
	case wire.EventCancel:
		r.canceled(m)
	case wire.EventExit:
		name, life, failed, text, panicked := m.Text(), m.Num(), m.Flag(), m.Text(), m.Text()
		if p := w.byName[name]; p != nil && p.life.number == life {
			p.returned, p.panicked, p.err = true, panicked, nil
			if failed {
				p.err = errors.New(text)
			}
		}
	case wire.EventAsk:
		w.body.asked = w.newAsk(m)
	case wire.EventBody:
		w.body.finished = true
		if how, text := m.Byte(), m.Text(); how != wire.Returned {
			w.body.escaped = &escape{goexit: how == wire.Exited, unwinds: how == wire.Unwound, skips: how == wire.Skipped, text: text}
		}
	case wire.EventViolated:
		property, v := m.Text(), &reports.Violation{Message: m.Text(), Key: m.Text()}
		for n := m.Num(); n > 0 && m.Err() == nil; n-- {
			v.Because = append(v.Because, reports.Evidence{Step: uint64(m.Num()), At: m.Duration(), Text: m.Text()})
		}
		slices.SortStableFunc(v.Because, func(a, b reports.Evidence) int { return cmp.Compare(a.Step, b.Step) })
		w.monitor.Report(property, v)
	case wire.EventHeld:
		w.sometimes[m.Text()] = true
	case wire.EventLog:
		r.logs = append(r.logs, m.Text())
	case wire.EventReconcile:
		w.reconciles.event(m)
	case wire.EventCalled:
		if w.webhooks == nil {
			m.Broken(errors.New("there are no webhooks"))
			return
		}
		w.webhooks.called(m)
	case wire.EventBodyAt:
		r.located = m.Text()
	case wire.EventErrors:
		r.errs = nil
		for n := m.Num(); n > 0 && m.Err() == nil; n-- {
			r.errs = append(r.errs, wellbehaved.Logged{Step: uint64(m.Num()), At: m.Duration(), Text: m.Text()})
		}
	case wire.EventWaiting:
		r.waiting = nil
		for n := m.Num(); n > 0 && m.Err() == nil; n-- {
			r.waiting = append(r.waiting, m.Text())
		}
	default:
		m.Broken(fmt.Errorf("event %q is not known", kind))
	}
}

// emitLogs puts what the test has logged into the step under way.
func (r *remote) emitLogs() {
	for _, text := range r.logs {
		rec := r.w.kernel.Record(r.w.body.id, kindLog)
		rec.Detail = text
		r.w.kernel.Emit(rec)
	}
	r.logs = r.logs[:0]
}

// bodyAt says where the body's goroutine is blocked.
func (r *remote) bodyAt() string {
	r.located = "its goroutine was not found"
	r.do(wire.DoLocate)
	r.rest()
	return r.located
}

// errors returns what the program has logged as errors since then.
func (r *remote) errors(since time.Duration) []wellbehaved.Logged {
	r.errs = nil
	r.do(wire.DoErrors).Duration(since)
	r.rest()
	return r.errs
}
