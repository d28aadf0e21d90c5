package transport

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// errSlow ends a watch whose client does not read at all: memory has an end.
var errSlow = errors.New("the watcher is too slow")

const (
	// maxBuffered is how many bytes of a stream wait for the client at most.
	maxBuffered = 64 << 20
	// When so many frames wait, and a client in another process has taken nothing for so long, its watch is closed as an
	// apiserver does it: what waits is still sent, and then comes a clean end (I105).
	slowFrames = 100
	slowTime   = 100 * time.Millisecond
)

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
	frames  int // in data
	ended   bool
	err     error // how it ended; nil for cleanly
	dropped bool  // nobody reads any more

	sending bool      // what was taken is on its way to the client
	sentAt  time.Time // when some of it went last
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
	switch {
	case len(e.data)+len(b) > maxBuffered:
		e.ended, e.err = true, errSlow
	case e.sending && e.frames >= slowFrames && time.Since(e.sentAt) > slowTime:
		e.ended = true
	default:
		e.data = append(e.data, b...)
		e.frames++
	}
	e.changed.Broadcast()
}

// progress says that something is being sent to the client from now on, or nothing any more.
func (e *exchange) progress(sending bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sending, e.sentAt = sending, time.Now()
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
		e.data, e.frames = into[:0], 0
		return data, nil
	}
	if e.err == nil {
		return nil, io.EOF
	}
	return nil, e.err
}
