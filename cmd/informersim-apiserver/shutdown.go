package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// shutdownTimeout is how long Ctrl-C waits for answers in flight.
	shutdownTimeout = 5 * time.Second
	// lingerTime is how long it waits when no request is being answered: for the last bytes of answers to leave. Connections that
	// have sent nothing yet, or half of a header, would keep http.Server.Shutdown longer.
	lingerTime = 100 * time.Millisecond
)

// inFlight counts the requests that are being answered.
type inFlight struct{ n atomic.Int64 }

func (f *inFlight) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.n.Add(1)
		defer f.n.Add(-1)
		h.ServeHTTP(w, r)
	})
}

// shutdown stops a server once its answers in flight have been sent, and says so if it had to cut some off.
func (f *inFlight) shutdown(s *http.Server, stderr io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	go func() {
		for idle := time.Duration(0); idle < lingerTime && ctx.Err() == nil; time.Sleep(lingerTime / 10) {
			if idle += lingerTime / 10; f.n.Load() > 0 {
				idle = 0
			}
		}
		cancel()
	}()
	err := s.Shutdown(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(stderr, "%d requests were cut off: they were still being answered %s after the signal\n", f.n.Load(), shutdownTimeout)
	case !errors.Is(err, context.Canceled):
		return err
	}
	return s.Close()
}
