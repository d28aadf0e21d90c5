package basic

import (
	"context"
	"io"
	"net/http"
)

// stoppable ends requests when the manager stops. Some controllers send theirs with a context that never ends, and a server that is told
// to stall would keep them, and Stop, for ever.
type stoppable struct {
	next http.RoundTripper
	stop context.Context
}

// RoundTrip implements http.RoundTripper.
func (s *stoppable) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	forget := context.AfterFunc(s.stop, func() { cancel(context.Cause(s.stop)) })
	done := func() { forget(); cancel(nil) }
	resp, err := s.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		done()
		return nil, err
	}
	resp.Body = &watched{ReadCloser: resp.Body, done: done}
	return resp, nil
}

// watched tells when a body is closed.
type watched struct {
	io.ReadCloser
	done func()
}

// Close implements io.Closer.
func (w *watched) Close() error {
	err := w.ReadCloser.Close()
	w.done()
	return err
}
