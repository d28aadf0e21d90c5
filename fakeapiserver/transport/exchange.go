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
	ready   bool     // code and header are there
	whole   bool     // the body is complete from the start
	body    Body     // if it is
	frames  [][]byte // if not: what has come of it and was not taken yet
	waiting int      // how many bytes these are
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
func (e *exchange) Answer(code int, header http.Header, body Body) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.code, e.header, e.body, e.ready, e.whole, e.ended = code, header, body, true, true, true
	e.changed.Signal() // there is one reader
}

// Open implements Sink.
func (e *exchange) Open(code int, header http.Header) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.code, e.header, e.ready = code, header, true
	e.changed.Signal() // there is one reader
}

// Frame implements Sink.
func (e *exchange) Frame(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.dropped {
		return
	}
	switch {
	case e.waiting+len(b) > maxBuffered:
		e.ended, e.err = true, errSlow
	case e.sending && len(e.frames) >= slowFrames && time.Since(e.sentAt) > slowTime:
		e.ended = true
	default:
		e.frames = append(e.frames, b)
		e.waiting += len(b)
	}
	e.changed.Signal() // there is one reader
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
	e.changed.Signal() // there is one reader
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
	e.frames, e.waiting = nil, 0
	e.changed.Signal() // there is one reader
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

// next returns the frames that have come since, waiting for some; io.EOF after a clean end. into is a slice that is not needed
// any more.
func (e *exchange) next(into [][]byte) ([][]byte, error) {
	clear(into) // other watches may be done with these frames
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.frames) == 0 && !e.ended {
		e.changed.Wait()
	}
	if len(e.frames) > 0 {
		// The two slices change places, so a stream in steady state allocates nothing.
		frames := e.frames
		e.frames, e.waiting = into[:0], 0
		return frames, nil
	}
	if e.err == nil {
		return nil, io.EOF
	}
	return nil, e.err
}
