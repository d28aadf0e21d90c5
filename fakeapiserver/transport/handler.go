package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// MaxBody is the limit of a request's body in bytes, as in a real apiserver (S35).
const MaxBody = 3 << 20

// ErrShutdown is the cause of a stopping server's context: its watches end cleanly, as on a timeout.
var ErrShutdown = errors.New("the server is shutting down")

// Handler serves a fake apiserver over sockets.
type Handler struct {
	Driver Driver
	API    API
	// Guard refuses requests; nil lets all of them in.
	Guard *Guard
	// Client names the client that a request is from; nil, or "", means "http".
	Client func(*http.Request) string
	// Log receives panics; nil for the standard logger.
	Log *log.Logger

	gather gatherer
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	commonHeaders(w.Header(), hr)
	if h.Guard != nil {
		if refused := h.Guard.Check(hr); refused != nil {
			writeStatus(w, refused.Code, refused.Reason, refused.Message)
			return
		}
	}
	ctx := hr.Context() // ends with the request
	conn := &connection{w: w}
	unblock := context.AfterFunc(ctx, func() { conn.hurry(context.Cause(ctx)) })
	defer func() {
		if !unblock() {
			conn.end()
		}
	}()
	body, err := readBody(w, hr)
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrShutdown) {
			w.Header().Set("Connection", "close")
			writeStatus(w, http.StatusServiceUnavailable, "ServiceUnavailable", ErrShutdown.Error()+": the request had not arrived")
			return
		}
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			writeStatus(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
				fmt.Sprintf("Request entity too large: limit is %d", MaxBody))
			return
		}
		writeStatus(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	e := newExchange()
	call := &inFlight{driver: h.Driver, e: e, panicked: h.panicked}
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), ErrShutdown) {
			e.Close(nil) // a clean end, as on a timeout
		}
		call.cancel(ctx.Err())
	})
	r := &Request{Method: hr.Method, URL: hr.URL, Header: hr.Header, Body: body, Client: h.clientOf(hr)}
	r.User, _ = request.UserFrom(ctx) // of a filter before this handler
	h.Driver.Do(func() { call.begin(h.API, r) })
	if e.wait() != nil {
		panic(http.ErrAbortHandler) // the connection breaks without an answer
	}
	if e.whole {
		stop() // nothing is left to cancel
	}
	h.respond(w, hr, e)
}

// lastWrite is how long a client may take for the rest of its answer when the server shuts down.
const lastWrite = time.Second

// connection is what a request came by, until it is answered: after that, net/http has it back, and what is HTTP/2 panics.
type connection struct {
	mu sync.Mutex
	w  http.ResponseWriter // nil once it is answered
}

// hurry keeps a client that neither sends nor reads from holding up a shutdown.
func (c *connection) hurry(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w != nil && errors.Is(cause, ErrShutdown) {
		control := http.NewResponseController(c.w)
		_ = control.SetReadDeadline(time.Now()) // an error means that the client is gone
		_ = control.SetWriteDeadline(time.Now().Add(lastWrite))
	}
}

// end waits for hurry, if it is under way, and keeps it from beginning.
func (c *connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = nil
}

func (h *Handler) clientOf(hr *http.Request) string {
	if h.Client != nil {
		if name := h.Client(hr); name != "" {
			return name
		}
	}
	return "http"
}

// readBody reads the body of a request that may have one; a GET's is ignored.
func readBody(w http.ResponseWriter, hr *http.Request) ([]byte, error) {
	switch hr.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return io.ReadAll(http.MaxBytesReader(w, hr.Body, MaxBody))
	}
	return nil, nil
}

func (h *Handler) respond(w http.ResponseWriter, hr *http.Request, e *exchange) {
	header := w.Header()
	for k, v := range e.header { // order: one map is copied to another
		header[k] = v
	}
	if e.whole {
		body := &e.body
		if compressed := compress(hr, body); compressed != nil {
			body = &Body{Head: compressed}
			header.Set("Content-Encoding", "gzip")
			header.Add("Vary", "Accept-Encoding")
		}
		header.Set("Content-Length", strconv.Itoa(body.Len()))
		w.WriteHeader(e.code)
		writeBody(w, body)
		return
	}
	w.WriteHeader(e.code)
	h.stream(w, e)
}

// sentAtOnce limits one write of an answer, in bytes: a reader that takes that much in time is not slow.
const sentAtOnce = 64 << 10

// buffers gather small pieces before they are written. An idle watch holds none.
var buffers = sync.Pool{New: func() any { return new([sentAtOnce]byte) }}

// writeBody writes a whole body. It ignores errors: a client that is gone needs no answer.
func writeBody(w io.Writer, body *Body) {
	if len(body.Items) == 0 && len(body.Tail) == 0 {
		_, _ = w.Write(body.Head)
		return
	}
	buffer := buffers.Get().(*[sentAtOnce]byte)
	defer buffers.Put(buffer)
	_, _ = io.CopyBuffer(struct{ io.Writer }{w}, body.NewReader(), buffer[:]) // the struct hides ReadFrom, which has no use for the buffer
}

// stream writes a stream's frames.
func (h *Handler) stream(w http.ResponseWriter, e *exchange) {
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	var frames [][]byte
	var counted int64 // the window in which the stream was counted last
	for {
		var err error
		frames, err = e.next(frames)
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			panic(http.ErrAbortHandler) // breaks the stream at this point
		}
		if send(w, e, frames) != nil {
			return
		}
		_ = flush.Flush()
		var wait time.Duration
		counted, wait = h.gather.wrote(counted)
		time.Sleep(wait)
	}
}

// send writes frames to a stream, in as few pieces as possible.
func send(w io.Writer, e *exchange, frames [][]byte) error {
	buffer := buffers.Get().(*[sentAtOnce]byte)
	defer buffers.Put(buffer)
	body := Body{Items: frames}
	from := body.NewReader()
	for {
		n, err := from.Read(buffer[:])
		if err != nil {
			break // no frames are left
		}
		e.progress(true)
		if _, err := w.Write(buffer[:n]); err != nil {
			return err
		}
	}
	e.progress(false)
	return nil
}

// panicked logs a panic of the API.
func (h *Handler) panicked(r *Request, p any, stack []byte) {
	l := h.Log
	if l == nil {
		l = log.Default()
	}
	l.Printf("panic while serving %s %s: %v\n%s", r.Method, r.URL.Path, p, stack)
}

func writeStatus(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(status(code, reason, message)) // a client that is gone needs no answer
}

// status returns a metav1.Status as JSON.
func status(code int, reason, message string) []byte {
	return fmt.Appendf(nil, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%s,"reason":%q,"code":%d}`+"\n",
		strconv.Quote(message), reason, code)
}
