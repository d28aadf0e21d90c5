package simtest

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// errReadForRead is the error of a read that would wait for itself.
var errReadForRead = errors.New("env.Get and env.List cannot be called by a conversion webhook that is called for one of them: a conversion must need nothing but the object")

// forQuery notes that a goroutine answers a call which Get or List waits for, with objects' lock held, until the function that it returns is called.
func (h *hooks) forQuery(goroutine uint64) (over func()) {
	h.queried.Store(goroutine, true)
	return func() { h.queried.Delete(goroutine) }
}

// mayRead returns an error if the caller is a handler that Get or List waits for.
func (h *hooks) mayRead() error {
	waits := false
	h.queried.Range(func(_, _ any) bool { waits = true; return false }) // the number of a goroutine costs more than that
	if waits {
		if _, waits = h.queried.Load(goroutineID()); waits {
			return errReadForRead
		}
	}
	return nil
}

// convert has the handler answer a call of a conversion webhook at once. rest waits until nothing moves in the bubble any more. Only the bubble's
// main goroutine can; without rest, the caller is another one, and waits until the handler has answered or the run is over.
//
// What the handler waits for does not come: an apiserver's step waits for it, and all else for the step. Then its caller has given up.
func (h *hooks) convert(m *wire.Message, rest func()) *wire.Packet {
	direct, url, header, body := m.Flag(), m.Text(), m.Header(), m.Bytes()
	h.mu.Lock()
	handler, l := h.handler, h.life
	h.mu.Unlock()
	answer := func(err error, rw *hookWriter) *wire.Packet { return rw.add(wire.New(wire.Called).Error(err)) }
	if handler == nil {
		h.hint.Do(func() {
			h.w.event(func(p *wire.Packet) {
				p.Byte(wire.EventLog).Text("a conversion webhook is called, and nobody serves it yet: its handler is Options.Webhooks.Handler, or that of env.ServeWebhooks")
			})
		})
	}
	if handler == nil || !direct && l != nil && l.err() != nil {
		return answer(wire.Refused, &hookWriter{})
	}
	ctx, cancel := context.WithCancel(h.w.ctx)
	defer cancel()
	r, err := hookRequest(ctx, url, header, body)
	if err != nil {
		return answer(err, &hookWriter{})
	}
	var mu sync.Mutex // guards what follows: the handler may go on after its caller has given up
	done, rw, answered := false, &hookWriter{}, make(chan struct{})
	go func() {
		if rest == nil {
			defer h.forQuery(goroutineID())()
		}
		own := &hookWriter{header: http.Header{}}
		h.w.protected(func() error { handler.ServeHTTP(own, r); return nil }, func(failed error, panicked string) {
			mu.Lock()
			defer mu.Unlock()
			if panicked != "" {
				failed = h.broken(panicked)
			}
			done, err, rw = true, failed, own
			close(answered)
		})
	}()
	if rest != nil {
		rest()
	} else {
		select {
		case <-answered:
		case <-h.w.ctx.Done():
		case <-time.After(time.Nanosecond): // all that could go on waits, too: in a check
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !done {
		return answer(context.DeadlineExceeded, &hookWriter{})
	}
	return answer(err, rw)
}
