package simtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// tripper is the http.RoundTripper of one client.
type tripper struct {
	w      *world
	client string
	life   *life
}

// RoundTrip implements http.RoundTripper.
func (t *tripper) RoundTrip(hr *http.Request) (*http.Response, error) {
	if t.w.checks.under.Load() {
		return nil, errInCheck
	}
	if err := t.life.err(); err != nil {
		return nil, err
	}
	if isDocument(hr.URL.Path) {
		return t.document(hr)
	}
	var body []byte
	if hr.Body != nil {
		var err error
		body, err = io.ReadAll(hr.Body)
		hr.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	by := t.w.begun.sender(hr.Context())
	x := t.w.newExchange(hr.Context(), t.life, func(id int64, p *wire.Packet) {
		p.Byte(wire.EventRequest).Num(id).Text(t.client).Num(t.life.number).Num(by).Text(hr.Method).Text(hr.URL.String()).Header(hr.Header).Bytes(body)
	})
	if err := x.wait(); err != nil {
		x.release()
		if dead := t.life.err(); dead != nil {
			return nil, dead
		}
		return nil, err
	}
	resp := response(hr, x.code, x.header)
	if x.whole {
		x.release()
		resp.ContentLength = int64(len(x.frames))
		resp.Body = io.NopCloser(bytes.NewReader(x.frames))
		return resp, nil
	}
	resp.TransferEncoding = []string{"chunked"}
	resp.Body = x
	return resp, nil
}

func response(hr *http.Request, code int, h http.Header) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: hr, ContentLength: -1,
	}
}

// isDocument reports whether a path is not a resource's: discovery, OpenAPI, the version. Clients ask for them while they hold locks, for which other
// goroutines wait without the bubble's noticing, so they are answered at once, outside of steps. The answers are the same in every state of
// the world.
func isDocument(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch parts[0] {
	case "api":
		return len(parts) < 3
	case "apis":
		return len(parts) < 4
	}
	return true
}

// document is the answer to a request for discovery.
type document struct {
	code   int
	header http.Header
	body   []byte
}

func (t *tripper) document(hr *http.Request) (*http.Response, error) {
	key := hr.Method + " " + hr.URL.RequestURI() + " " + hr.Header.Get("Accept")
	known, ok := t.w.r.documents.Load(key)
	if !ok {
		m, err := t.w.query(wire.New(wire.Query).Byte(wire.QueryDocument).Text(hr.Method).Text(hr.URL.String()).Header(hr.Header))
		if err != nil {
			return nil, err
		}
		known = &document{code: int(m.Num()), header: m.Header(), body: m.Bytes()}
		if m.Err() != nil {
			return nil, m.Err()
		}
		if !t.w.r.o.ServeCRDs { // with them, what is served changes during a run
			t.w.r.documents.Store(key, known)
		}
	}
	d := known.(*document)
	resp := response(hr, d.code, d.header.Clone())
	resp.ContentLength = int64(len(d.body))
	resp.Body = io.NopCloser(bytes.NewReader(d.body))
	return resp, nil
}

// exchange is one request in flight, and the body of a streamed answer.
type exchange struct {
	w      *world
	id     int64
	life   *life
	unbind func() // what its context has to be told at its end

	mu      sync.Mutex
	changed *sync.Cond // of the bubble: whoever waits for it waits durably
	code    int
	header  http.Header
	ready   bool // code and header are set
	whole   bool // the body is complete from the start
	frames  []byte
	ended   bool
	err     error // how it ended; nil for a clean end
	gone    bool  // the client is
}

// newExchange sends a request, whose context is that of the caller and of the process.
func (w *world) newExchange(ctx context.Context, l *life, send func(id int64, p *wire.Packet)) *exchange {
	x := &exchange{w: w, life: l}
	x.changed = sync.NewCond(&x.mu)
	w.mu.Lock()
	w.ids++
	x.id = w.ids
	w.exchanges[x.id] = x
	w.mu.Unlock()
	stopCaller := func() bool { return true }
	if ctx.Done() != nil {
		stopCaller = context.AfterFunc(ctx, func() { x.cancel(ctx.Err()) })
	}
	stopLife := context.AfterFunc(l.ctx, func() { x.cancel(context.Cause(l.ctx)) })
	x.unbind = func() { stopCaller(); stopLife() }
	w.event(func(p *wire.Packet) { send(x.id, p) })
	return x
}

// release ends the binding to contexts, and forgets the exchange.
func (x *exchange) release() {
	x.unbind()
	x.w.mu.Lock()
	delete(x.w.exchanges, x.id)
	x.w.mu.Unlock()
}

// take takes in what the engine says of the answer.
func (x *exchange) take(action byte, m *wire.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch action {
	case wire.DoAnswer:
		code, h, body := int(m.Num()), m.Header(), m.Bytes()
		if !x.ended {
			x.code, x.header, x.frames, x.ready, x.whole, x.ended = code, h, body, true, true, true
		}
	case wire.DoOpen:
		x.code, x.header, x.ready = int(m.Num()), m.Header(), true
	case wire.DoFrame:
		if b := m.Bytes(); !x.ended {
			x.frames = append(x.frames, b...)
		}
	case wire.DoClose:
		x.end(m.Error())
	}
	x.changed.Signal() // there is one reader
}

func (x *exchange) end(err error) {
	if !x.ended {
		x.ended, x.err = true, err
	}
}

// wait returns when there is a response, or an error in its place.
func (x *exchange) wait() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for !x.ready && !x.ended {
		x.changed.Wait()
	}
	switch {
	case x.ready:
		return nil
	case x.err == nil:
		return io.ErrUnexpectedEOF
	}
	return x.err
}

// cancel says that the client has gone.
func (x *exchange) cancel(err error) {
	x.mu.Lock()
	first := !x.gone
	answered := x.ended // and nothing of it is left to be canceled
	x.gone, x.frames = true, nil
	x.end(err)
	x.changed.Signal()
	x.mu.Unlock()
	if first && !answered {
		x.w.event(func(p *wire.Packet) { p.Byte(wire.EventCancel).Num(x.id) })
	}
}

// Read implements io.Reader.
func (x *exchange) Read(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.frames) == 0 && !x.ended {
		x.changed.Wait()
	}
	if len(x.frames) > 0 {
		n := copy(p, x.frames)
		x.frames = x.frames[n:]
		return n, nil
	}
	if x.err == nil {
		return 0, io.EOF
	}
	if dead := x.life.err(); dead != nil {
		return 0, dead
	}
	return 0, x.err
}

// Close implements io.Closer: the client hangs up.
func (x *exchange) Close() error {
	x.cancel(io.ErrClosedPipe)
	x.release()
	return nil
}
