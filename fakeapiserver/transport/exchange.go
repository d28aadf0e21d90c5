package transport

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// errSlow ends a watch whose client has stopped reading, to bound memory.
var errSlow = errors.New("the watcher is too slow")

const (
	// maxBuffered bounds the bytes of a stream that wait for the client.
	maxBuffered = 64 << 20
	// When this many frames wait, and a client in another process has read nothing for this long, its watch is closed as an
	// apiserver does it: what waits is still sent, then the stream ends cleanly (I105).
	slowFrames = 100
	slowTime   = 100 * time.Millisecond
)

// exchange is one request in flight: a Sink for the kernel's side, and a queue of its output for the client's. Its lock is held
// briefly, never while waiting for the kernel.
type exchange struct {
	mu      sync.Mutex
	changed *sync.Cond

	code    int
	header  http.Header
	ready   bool     // code and header are set
	whole   bool     // the body is complete from the start
	body    Body     // if whole
	frames  [][]byte // if not: frames not yet taken
	waiting int      // the frames' size in bytes
	ended   bool
	err     error // how it ended; nil for a clean end
	dropped bool  // the reader is gone

	sending bool      // frames are being sent to the client
	sentAt  time.Time // when progress was made last
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

// progress records that sending to the client begins or continues, or has finished.
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

// drop marks the exchange as abandoned by its reader, and wakes the reader.
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

// wait returns when there is a response, or an error in its place.
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

// next returns new frames, waiting for at least one; io.EOF after a clean end. It reuses the slice into.
func (e *exchange) next(into [][]byte) ([][]byte, error) {
	clear(into) // releases frames that other watches may have finished with
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.frames) == 0 && !e.ended {
		e.changed.Wait()
	}
	if len(e.frames) > 0 {
		// The two slices swap, so a stream in steady state does not allocate.
		frames := e.frames
		e.frames, e.waiting = into[:0], 0
		return frames, nil
	}
	if e.err == nil {
		return nil, io.EOF
	}
	return nil, e.err
}
