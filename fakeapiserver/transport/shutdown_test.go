package transport_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/transport"
)

// late is a canceled context whose functions have begun, and come to nothing before they are run.
type late struct {
	context.Context
	done  chan struct{} // another one than the Context's: package context then asks AfterFunc
	begun []func()
}

// Done implements context.Context.
func (l *late) Done() <-chan struct{} { return l.done }

// AfterFunc is what context.AfterFunc calls.
func (l *late) AfterFunc(f func()) (stop func() bool) {
	l.begun = append(l.begun, f)
	return func() bool { return false }
}

// answered is a response that is not to be touched once the handler has returned: that of an HTTP/2 request panics then.
type answered struct {
	*httptest.ResponseRecorder
	returned bool
	t        *testing.T
}

func (a *answered) SetReadDeadline(time.Time) error  { return a.touched() }
func (a *answered) SetWriteDeadline(time.Time) error { return a.touched() }

func (a *answered) touched() error {
	if a.returned {
		a.t.Error("the response is used after the handler has returned")
	}
	return nil
}

// A shutdown that hurries a request as it is answered leaves the answered one alone.
func TestShutdownAfterTheAnswer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(transport.ErrShutdown)
	l := &late{Context: ctx, done: make(chan struct{})}
	h := &transport.Handler{Driver: &direct{}, API: apiFunc(func(_ *transport.Request, s transport.Sink) func() {
		s.Answer(http.StatusOK, http.Header{}, transport.Body{Head: []byte("in")})
		return func() {}
	})}
	w := &answered{ResponseRecorder: httptest.NewRecorder(), t: t}
	h.ServeHTTP(w, httptest.NewRequestWithContext(l, http.MethodGet, "/", nil))
	w.returned = true
	if len(l.begun) == 0 {
		t.Fatal("nothing waits for the shutdown")
	}
	for _, f := range l.begun {
		f()
	}
}
