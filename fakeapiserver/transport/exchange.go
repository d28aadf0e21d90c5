package transport

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// errSlow ends a watch whose client does not read: an apiserver closes such a watch too.
var errSlow = errors.New("the watcher is too slow")

// maxBuffered is how many bytes of a stream wait for the client before it counts as too slow.
const maxBuffered = 64 << 20

// exchange is one request in flight: a Sink for the kernel's side, and a queue of what it said for the client's. Its
// lock is held for moments only, and never while anything waits for the kernel.
type exchange struct {
	mu      sync.Mutex
	changed *sync.Cond

	code    int
	header  http.Header
	ready   bool // code and header are there
	whole   bool // the body is complete from the start
	data    []byte
	ended   bool
	err     error // how it ended; nil for cleanly
	dropped bool  // nobody reads any more
}

func newExchange() *exchange {
	e := &exchange{}
	e.changed = sync.NewCond(&e.mu)
	return e
}

// Answer implements Sink.
func (e *exchange) Answer(code int, header http.Header, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.code, e.header, e.data, e.ready, e.whole, e.ended = code, header, body, true, true, true
	e.changed.Broadcast()
}

// Open implements Sink.
func (e *exchange) Open(code int, header http.Header) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.code, e.header, e.ready = code, header, true
	e.changed.Broadcast()
}

// Frame implements Sink.
func (e *exchange) Frame(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.dropped {
		return
	}
	if len(e.data)+len(b) > maxBuffered {
		e.ended, e.err = true, errSlow
	} else {
		e.data = append(e.data, b...)
	}
	e.changed.Broadcast()
}

// Close implements Sink.
func (e *exchange) Close(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.ended, e.err = true, err
	}
	e.changed.Broadcast()
}

// Fail implements Sink.
func (e *exchange) Fail(err error) { e.Close(err) }

// drop says that nobody reads any more; it wakes the reader.
func (e *exchange) drop(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped = true
	if !e.ended {
		e.ended, e.err = true, err
	}
	e.data = nil
	e.changed.Broadcast()
}

// wait returns when there is a response, or an error instead of one.
func (e *exchange) wait() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.ready && !e.ended {
		e.changed.Wait()
	}
	if e.ready {
		return nil
	}
	if e.err == nil {
		return io.ErrUnexpectedEOF
	}
	return e.err
}

// next returns the bytes that have come since, waiting for some; io.EOF after a clean end.
func (e *exchange) next(into []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.data) == 0 && !e.ended {
		e.changed.Wait()
	}
	if len(e.data) > 0 {
		// The two buffers change places, so a stream in steady state allocates nothing.
		data := e.data
		e.data = into[:0]
		return data, nil
	}
	if e.err == nil {
		return nil, io.EOF
	}
	return nil, e.err
}
