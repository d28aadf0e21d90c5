package world

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/world/wire"
)

// request is one of the test's requests in flight. It is the rest.Sink of its answer, which goes to the test's process.
type request struct {
	w        *world
	id       int64
	client   string
	key      string
	life     *life
	by       int64 // the reconcile that sends it, 0 if that is not known
	rest     *rest.Request
	canceled bool
	undo     func() // the API's cancel function
}

// requested takes in a request.
func (r *remote) requested(m *wire.Message) {
	q := &request{w: r.w, id: m.Num(), client: m.Text(), life: r.w.lifeOf(m.Num()), by: m.Num()}
	method, uri, header, body := m.Text(), m.Text(), m.Header(), m.Bytes()
	u, err := url.Parse(uri)
	if err != nil {
		m.Broken(err)
		return
	}
	a := &arrival{client: q.client, life: q.life, f: q.begin}
	query := u.Query()
	r.w.streamed = r.w.streamed || query.Get("sendInitialEvents") == "true"
	if racyTimeout(query) {
		query.Del("timeoutSeconds")
		a.timeout = u
	}
	a.key = fmt.Sprintf("%s %s?%s\x00%s", method, u.Path, query.Encode(), body)
	q.key = a.key
	q.rest = &rest.Request{Method: method, URL: u, Header: header, Body: body, Client: q.client}
	if r.w.o.Authorized {
		q.rest.User = impersonated(header)
	}
	q.rest.OnPanic = func(p any, stack []byte) { r.w.panicked(q.rest, p, stack) }
	r.requests[q.id] = q
	r.w.gate.parked = append(r.w.gate.parked, a)
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
	q.w.behaved.begins(q)
	defer q.w.behaved.begins(nil)
	before := q.number()
	q.undo = q.w.api.Serve(q.rest, q)
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
	return q.w.remote.do(action).Num(q.id)
}

// Answer implements rest.Sink.
func (q *request) Answer(code int, h http.Header, body rest.Body) {
	q.do(wire.DoAnswer).Num(int64(code)).Header(h).Bytes(body.Bytes())
	delete(q.w.remote.requests, q.id)
}

// Open implements rest.Sink.
func (q *request) Open(code int, h http.Header) { q.do(wire.DoOpen).Num(int64(code)).Header(h) }

// Frame implements rest.Sink.
func (q *request) Frame(b []byte) { q.do(wire.DoFrame).Bytes(b) }

// Close implements rest.Sink.
func (q *request) Close(err error) {
	q.do(wire.DoClose).Error(err)
	delete(q.w.remote.requests, q.id)
}

// Fail implements rest.Sink.
func (q *request) Fail(err error) { q.Close(err) }
