package exchange

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/informersim/informersim/world/wire"
)

// Table has the requests of a run that are in flight.
type Table struct {
	event func(func(*wire.Packet))

	mu   sync.Mutex // guards what follows
	last int64
	open map[int64]*exchange
}

// NewTable returns a table for a run. event adds something to the bubble's next report; any goroutine calls it.
func NewTable(event func(func(*wire.Packet))) *Table {
	return &Table{event: event, open: map[int64]*exchange{}}
}

// Sender is who sends a request.
type Sender struct {
	Client string
	Life   context.Context // ends with the process that the client belongs to, whose last words are its cause
	Number int64           // of that life
	By     int64           // the reconcile that sends the request, 0 if that is not known
}

// dead returns why a process's requests are refused, nil while it lives.
func (s *Sender) dead() error {
	if s.Life.Err() == nil {
		return nil
	}
	return context.Cause(s.Life)
}

// RoundTrip sends a request and waits for its answer, or for the beginning of one that is streamed.
func (t *Table) RoundTrip(hr *http.Request, by Sender) (*http.Response, error) {
	if err := by.dead(); err != nil {
		return nil, err
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
	x := t.begin(hr.Context(), by, func(id int64, p *wire.Packet) {
		p.Byte(wire.EventRequest).Num(id).Text(by.Client).Num(by.Number).Num(by.By).Text(hr.Method).Text(hr.URL.String()).Header(hr.Header).Bytes(body)
	})
	if err := x.wait(); err != nil {
		x.release()
		if dead := by.dead(); dead != nil {
			return nil, dead
		}
		return nil, err
	}
	x.mu.Lock() // who cancels the request may do so now
	code, h, whole, all := x.code, x.header, x.whole, x.frames
	x.mu.Unlock()
	if whole {
		x.release()
		return Whole(hr, code, h, all), nil
	}
	resp := response(hr, code, h)
	resp.TransferEncoding = []string{"chunked"}
	resp.Body = x
	return resp, nil
}

// Whole returns the answer to a request, with its whole body.
func Whole(hr *http.Request, code int, h http.Header, body []byte) *http.Response {
	resp := response(hr, code, h)
	resp.ContentLength, resp.Body = int64(len(body)), io.NopCloser(bytes.NewReader(body))
	return resp
}

// response returns the answer to a request, still without a body.
func response(hr *http.Request, code int, h http.Header) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Request: hr, ContentLength: -1,
	}
}

// IsDocument reports whether a path is not a resource's: discovery, OpenAPI, the version. Clients ask for them while they hold locks, for which other
// goroutines wait without the bubble's noticing, so they are answered at once, outside of steps. The answers are the same in every state of
// the cluster.
func IsDocument(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch parts[0] {
	case "api":
		return len(parts) < 3
	case "apis":
		return len(parts) < 4
	}
	return true
}

// Take takes in what the engine says of an answer: DoAnswer, DoOpen, DoFrame or DoClose.
func (t *Table) Take(action byte, m *wire.Message) {
	id := m.Num()
	t.mu.Lock()
	x := t.open[id]
	t.mu.Unlock()
	if x == nil {
		x = &exchange{} // takes the fields
		x.changed = sync.NewCond(&x.mu)
	}
	x.take(action, m)
}

// Drop ends the requests of a life with an error, as its end would.
func (t *Table) Drop(number int64, err error) {
	t.mu.Lock()
	var open []*exchange
	for _, id := range slices.Sorted(maps.Keys(t.open)) {
		if x := t.open[id]; x.by.Number == number {
			open = append(open, x)
		}
	}
	t.mu.Unlock()
	for _, x := range open {
		x.cancel(err)
	}
}

// exchange is one request in flight, and the body of a streamed answer.
type exchange struct {
	t      *Table
	id     int64
	by     Sender
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

// begin sends a request, whose context is that of the caller and of the process.
func (t *Table) begin(ctx context.Context, by Sender, send func(id int64, p *wire.Packet)) *exchange {
	x := &exchange{t: t, by: by}
	x.changed = sync.NewCond(&x.mu)
	t.mu.Lock()
	t.last++
	x.id = t.last
	t.open[x.id] = x
	t.mu.Unlock()
	stopCaller := func() bool { return true }
	if ctx.Done() != nil {
		stopCaller = context.AfterFunc(ctx, func() { x.cancel(ctx.Err()) })
	}
	stopLife := context.AfterFunc(by.Life, func() { x.cancel(context.Cause(by.Life)) })
	x.unbind = func() { stopCaller(); stopLife() }
	t.event(func(p *wire.Packet) { send(x.id, p) })
	return x
}

// release ends the binding to contexts, and forgets the exchange.
func (x *exchange) release() {
	x.unbind()
	x.t.mu.Lock()
	delete(x.t.open, x.id)
	x.t.mu.Unlock()
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
		x.t.event(func(p *wire.Packet) { p.Byte(wire.EventCancel).Num(x.id) })
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
	if dead := x.by.dead(); dead != nil {
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
