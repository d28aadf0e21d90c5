package world

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/world/wire"
)

// request is a request in flight from one of the bubbles. It is the rest.Sink of its answer, which goes there.
type request struct {
	w         *world
	from      *link
	id        int64
	client    string
	key       string
	life      *life
	by        int64 // the reconcile that sends it, 0 if that is not known
	rest      *rest.Request
	canceled  bool
	inSending bool
	undo      func() // the API's cancel function
}

// requested takes in a request. It returns nil if that is broken.
func (l *link) requested(m *wire.Message) *request {
	q := &request{w: l.w, from: l, id: m.Num(), client: m.Text(), life: l.w.lifeOf(m.Num()), by: m.Num()}
	method, uri, header, body := m.Text(), m.Text(), m.Header(), m.Bytes()
	u, err := url.Parse(uri)
	if err != nil {
		m.Broken(err)
		return nil
	}
	a := &arrival{client: q.client, life: q.life, f: q.begin}
	query := u.Query()
	l.w.streamed = l.w.streamed || query.Get("sendInitialEvents") == "true"
	if racyTimeout(query) {
		query.Del("timeoutSeconds")
		a.timeout = u
	}
	a.key = fmt.Sprintf("%s %s?%s\x00%s", method, u.Path, query.Encode(), body)
	q.key = a.key
	q.rest = &rest.Request{Method: method, URL: u, Header: header, Body: body, Client: q.client}
	if l.w.o.Authorized {
		q.rest.User = impersonated(header)
	}
	q.rest.Sending = q.sending
	q.rest.OnPanic = func(p any, stack []byte) { l.w.panicked(q.rest, p, stack) }
	l.requests[q.id] = q
	l.w.gate.parked = append(l.w.gate.parked, a)
	return q
}

// lifeOf returns the life of that number; requests of one that has ended reach nobody.
func (w *world) lifeOf(number int64) *life {
	if number == 0 {
		return w.forever
	}
	for _, p := range w.processes {
		if p.life != nil && p.life.number == number {
			return p.life
		}
	}
	return &life{ended: true}
}

// begin serves the request, inside a step.
func (q *request) begin() {
	if q.canceled {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			q.w.panicked(q.rest, p, debug.Stack())
		}
	}()
	q.sending(func() { q.undo = q.w.api.Serve(q.rest, q) })
}

// sending does what sends the request to the cluster. That is a later step than the one in which it came in if webhooks are asked first.
func (q *request) sending(do func()) {
	if q.inSending {
		do()
		return
	}
	q.inSending = true
	q.w.behaved.begins(q)
	defer func() {
		q.w.behaved.begins(nil)
		q.inSending = false
	}()
	before := q.number()
	do()
	if n := q.number(); n > before {
		q.w.reconciles.sends(q, n)
	}
}

// number returns the number of its client's last request, 0 for none.
func (q *request) number() int {
	if cl := q.w.cluster.Client(q.client); cl != nil {
		return cl.Requests()
	}
	return 0
}

// cancel notes that the client has gone; the API hears of it in a step.
func (q *request) cancel() {
	q.canceled = true
	q.w.gate.parked = append(q.w.gate.parked, &arrival{client: q.client, key: q.key, life: q.life, cancel: true, f: func() {
		if q.undo != nil {
			q.undo()
		}
	}})
}

// do returns where an action for the request goes: nowhere if nobody is there any more.
func (q *request) do(action byte) *wire.Packet {
	if q.canceled {
		return &wire.Packet{}
	}
	return q.from.do(action).Num(q.id)
}

// Answer implements rest.Sink.
func (q *request) Answer(code int, h http.Header, body rest.Body) {
	q.do(wire.DoAnswer).Num(int64(code)).Header(h).Bytes(body.Bytes())
	delete(q.from.requests, q.id)
}

// Open implements rest.Sink.
func (q *request) Open(code int, h http.Header) { q.do(wire.DoOpen).Num(int64(code)).Header(h) }

// Frame implements rest.Sink.
func (q *request) Frame(b []byte) { q.do(wire.DoFrame).Bytes(b) }

// Close implements rest.Sink.
func (q *request) Close(err error) {
	q.do(wire.DoClose).Error(err)
	delete(q.from.requests, q.id)
}

// Fail implements rest.Sink.
func (q *request) Fail(err error) { q.Close(err) }
