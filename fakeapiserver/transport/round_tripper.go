package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/informersim/informersim/fakeapiserver/render"
)

// RoundTripper is an http.RoundTripper into a fake apiserver in the same process: the bytes of a socket without the socket.
type RoundTripper struct {
	Driver Driver
	API    API
	// Client names the client; "" means "http".
	Client string
	// Panicked is called when the API panics, which the client sees as a 500. It may be nil.
	Panicked func(r *Request, p any, stack []byte)
}

// RoundTrip implements http.RoundTripper.
func (t *RoundTripper) RoundTrip(hr *http.Request) (*http.Response, error) {
	r := &Request{Method: hr.Method, URL: hr.URL, Header: hr.Header, Client: t.Client}
	if r.Client == "" {
		r.Client = "http"
	}
	if hr.Body != nil {
		body, err := io.ReadAll(hr.Body)
		hr.Body.Close()
		if err != nil {
			return nil, err
		}
		r.Body = body
	}
	e := newExchange()
	call := &inFlight{driver: t.Driver, e: e, panicked: t.Panicked}
	// A context that ends, before or after the answer, ends the exchange; one that cannot end costs nothing.
	var stop func() bool
	if hr.Context().Done() != nil {
		stop = context.AfterFunc(hr.Context(), func() { call.cancel(hr.Context().Err()) })
	}
	t.Driver.Do(func() { call.begin(t.API, r) })
	if err := e.wait(); err != nil {
		if stop != nil {
			stop()
		}
		return nil, err
	}
	resp := &http.Response{
		Status: fmt.Sprintf("%d %s", e.code, http.StatusText(e.code)), StatusCode: e.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: e.header, Request: hr, ContentLength: -1,
	}
	if e.whole {
		resp.ContentLength = int64(e.body.Len())
		resp.Body = io.NopCloser(e.body.NewReader())
		if stop != nil {
			stop()
		}
		return resp, nil
	}
	resp.TransferEncoding = []string{"chunked"}
	resp.Body = &streamBody{e: e, call: call, stop: stop}
	return resp, nil
}

// inFlight is a request that the kernel is serving.
type inFlight struct {
	driver   Driver
	e        *exchange
	panicked func(r *Request, p any, stack []byte)

	mu       sync.Mutex
	canceled bool
	undo     func() // the API's cancel function; set inside a step
}

// begin serves the request. It runs inside a step.
func (c *inFlight) begin(api API, r *Request) {
	c.mu.Lock()
	gone := c.canceled
	c.mu.Unlock()
	if gone {
		return
	}
	r.OnPanic = func(p any, stack []byte) {
		if c.panicked != nil {
			c.panicked(r, p, stack)
		}
	}
	defer c.answerPanic(r)
	undo := api.Serve(r, c.e)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undo = undo
}

// answerPanic turns a panic of the API into a 500, inside the step, so that it disturbs neither the kernel nor other requests. The API
// itself recovers from panics in later steps, and calls the request's OnPanic.
func (c *inFlight) answerPanic(r *Request) {
	p := recover()
	if p == nil {
		return
	}
	r.OnPanic(p, debug.Stack())
	c.e.Answer(http.StatusInternalServerError, http.Header{"Content-Type": {"application/json"}}, Body{Head: status(http.StatusInternalServerError, "InternalError",
		fmt.Sprintf("This request caused apiserver to panic. Look in the logs for details: %v", p))})
}

// cancel tells the API, inside a step, that the client has gone.
func (c *inFlight) cancel(err error) {
	c.mu.Lock()
	first := !c.canceled
	c.canceled = true
	c.mu.Unlock()
	c.e.drop(err)
	if !first {
		return
	}
	c.driver.Do(func() {
		c.mu.Lock()
		undo := c.undo
		c.mu.Unlock()
		if undo != nil {
			undo()
		}
	})
}

// streamBody is the body of a streamed response.
type streamBody struct {
	e    *exchange
	call *inFlight
	stop func() bool

	frames Body           // frames taken from the exchange
	left   *render.Reader // reads the rest of them
}

// Read implements io.Reader.
func (b *streamBody) Read(p []byte) (int, error) {
	for {
		if b.left != nil {
			if n, err := b.left.Read(p); err == nil {
				return n, nil
			}
		}
		frames, err := b.e.next(b.frames.Items)
		b.frames.Items = frames
		if err != nil {
			return 0, err
		}
		b.left = b.frames.NewReader()
	}
}

// Close implements io.Closer: the client hangs up.
func (b *streamBody) Close() error {
	if b.stop != nil {
		b.stop()
	}
	b.call.cancel(io.ErrClosedPipe)
	return nil
}
