package transport

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
)

// MaxBody is how many bytes a request's body may have, as with a real apiserver (S35).
const MaxBody = 3 << 20

// Handler serves a fake apiserver over sockets.
type Handler struct {
	Driver Driver
	API    API
	// Token, if not empty, must be presented as bearer token by every request.
	Token string
	// Log is told of panics; nil for the standard logger.
	Log *log.Logger
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	commonHeaders(w.Header(), hr)
	if h.Token != "" && hr.Header.Get("Authorization") != "Bearer "+h.Token {
		writeStatus(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, MaxBody))
	if err != nil {
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
	ctx := hr.Context()
	go func() {
		<-ctx.Done() // ends with the request, whichever way
		call.cancel(ctx.Err())
	}()
	r := &Request{Method: hr.Method, URL: hr.URL, Header: hr.Header, Body: body, Client: "http"}
	h.Driver.Do(func() { call.begin(h.API, r) })
	if e.wait() != nil {
		panic(http.ErrAbortHandler) // the connection breaks without an answer
	}
	h.respond(w, hr, e)
}

func (h *Handler) respond(w http.ResponseWriter, hr *http.Request, e *exchange) {
	header := w.Header()
	for k, v := range e.header { // order: one map is copied to another
		header[k] = v
	}
	if e.whole {
		body := e.data
		if compressed := compress(hr, header, body); compressed != nil {
			body = compressed
			header.Set("Content-Encoding", "gzip")
			header.Add("Vary", "Accept-Encoding")
		}
		header.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(e.code)
		_, _ = w.Write(body) // a client that is gone needs no answer
		return
	}
	w.WriteHeader(e.code)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	var spare []byte
	for {
		data, err := e.next(spare)
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			panic(http.ErrAbortHandler) // the stream breaks where it is
		}
		if send(w, e, data) != nil {
			return
		}
		_ = flush.Flush()
		spare = data
	}
}

// sentAtOnce is how many bytes of a stream are written in one go: whoever reads that many in time is not slow.
const sentAtOnce = 64 << 10

// send writes what has come to a stream.
func send(w io.Writer, e *exchange, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), sentAtOnce)
		e.progress(true)
		if _, err := w.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	e.progress(false)
	return nil
}

// panicked writes a panic of the API to the log.
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

// status is a metav1.Status as JSON.
func status(code int, reason, message string) []byte {
	return fmt.Appendf(nil, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%s,"reason":%q,"code":%d}`+"\n",
		strconv.Quote(message), reason, code)
}
