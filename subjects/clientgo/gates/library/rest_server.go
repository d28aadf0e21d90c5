package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// lost is an error of a connection, and which requests are made again after it: reads, and watches.
type lost struct {
	error
	read, watch bool
}

// losses are the errors of connections that a request may have.
var losses = []lost{
	{fmt.Errorf("read: %w", syscall.ECONNRESET), true, true},
	{io.EOF, true, true},
	{errors.New("http2: client connection lost"), true, false},
	{os.ErrDeadlineExceeded, false, true},
	{fmt.Errorf("dial: %w", syscall.ECONNREFUSED), false, false},
	{errors.New("the network is broken"), false, false},
}

// An answer is what becomes of an attempt of a request: its connection is lost, or a server answers.
type answer struct {
	lost  lost
	code  int
	after string // the header Retry-After
	body  string
	ends  error // how the body ends, io.EOF if all of it comes
	plain bool  // the body is no JSON

	untyped bool // without a content type, which is JSON then
	warns   bool // with a warning
}

// said is what a status says, as a server sends it.
func said(code int) string { return fmt.Sprintf("a server says %d", code) }

func statusJSON(code int) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"message":%q}`, code, said(code))
}

// restServer answers requests by a plan, and is all that they go through on their way: their transport, their rate limiter, and their backoff. It notes
// what it sees.
type restServer struct {
	answers []answer
	cancel  func()
	cancels int // the request is canceled with this attempt; 0 if never

	limited   int // the rate limiter refuses this request; 0 if none
	limit     error
	limitEnds bool // with that the request is canceled

	backoff time.Duration

	attempts, waits, open int
	unread                int // how many answers that are not wanted were not read to their end, so that their connections are lost
	bare                  int // how many attempts did not say what they accept
	overread              int // how many answers were read further than is worth a connection, although the request was made again then
	seen                  []string

	wants func(answer) bool // reports whether somebody else reads the answer
	last  *restBody         // the body of the last answer
}

// restSlurp is how much of an answer that is not wanted is read, so that its connection can be used again.
const restSlurp = 2 << 10

func (s *restServer) note(format string, args ...any) {
	s.seen = append(s.seen, fmt.Sprintf(format, args...))
}

// RoundTrip implements http.RoundTripper.
func (s *restServer) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		sent = fmt.Sprintf(" with %q", b)
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	s.note("%s %s%s", r.Method, r.URL, sent)
	if r.Header.Get("Accept") == "" {
		s.bare++
	}
	if s.last != nil && s.last.read > restSlurp {
		s.overread++
	}
	a := s.answers[min(s.attempts, len(s.answers)-1)]
	if s.attempts++; s.attempts == s.cancels {
		s.cancel()
	}
	if a.lost.error != nil {
		return nil, a.lost.error
	}
	header := http.Header{"Content-Type": {"application/json"}}
	switch {
	case a.plain:
		header.Set("Content-Type", "text/plain; charset=utf-8")
	case a.untyped:
		header.Del("Content-Type")
	}
	if a.warns {
		header.Set("Warning", `299 - "old"`)
	}
	if a.after != "" {
		header.Set("Retry-After", a.after)
	}
	s.open++
	body := &restBody{Reader: strings.NewReader(a.body), ends: a.ends}
	body.closed = func() {
		if s.open--; !s.wants(a) && !body.over && body.read < restSlurp {
			s.unread++
		}
	}
	s.last = body
	return &http.Response{StatusCode: a.code, Header: header, Body: body, Request: r, ContentLength: -1}, nil
}

// restBody is the body of an answer.
type restBody struct {
	io.Reader
	ends   error
	over   bool
	read   int
	closed func()
}

// Read implements io.Reader.
func (b *restBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	if err == io.EOF {
		err, b.over = b.ends, true
	}
	return n, err
}

// Close implements io.Closer. Only the first one counts.
func (b *restBody) Close() error {
	if b.closed != nil {
		b.closed()
	}
	b.closed = nil
	return nil
}

// Wait implements flowcontrol.RateLimiter.
func (s *restServer) Wait(ctx context.Context) error {
	_, ends := ctx.Deadline()
	s.note("limit for %v%s", ctx.Value(caller{}), map[bool]string{true: ", who does not wait for ever"}[ends])
	if s.waits++; s.waits != s.limited {
		return nil
	}
	if s.limitEnds {
		s.cancel()
	}
	return s.limit
}

// Accept implements flowcontrol.RateLimiter.
func (s *restServer) Accept() { s.note("limit for nobody") }

// TryAccept implements flowcontrol.RateLimiter.
func (s *restServer) TryAccept() bool { return true }

// Stop implements flowcontrol.RateLimiter.
func (s *restServer) Stop() {}

// QPS implements flowcontrol.RateLimiter.
func (s *restServer) QPS() float32 { return 1 }

// CalculateBackoffWithContext implements rest.BackoffManagerWithContext.
func (s *restServer) CalculateBackoffWithContext(context.Context, *url.URL) time.Duration {
	return s.backoff
}

// SleepWithContext implements rest.BackoffManagerWithContext. Nobody sleeps.
func (s *restServer) SleepWithContext(ctx context.Context, d time.Duration) {
	s.note("pause of %v for %v", d, ctx.Value(caller{}))
}

// UpdateBackoffWithContext implements rest.BackoffManagerWithContext.
func (s *restServer) UpdateBackoffWithContext(_ context.Context, _ *url.URL, err error, code int) {
	s.note("answer %d, lost %t", code, err != nil)
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (s *restServer) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	s.note("warning %d %s for %v", code, text, ctx.Value(caller{}))
}

var (
	_ rest.BackoffManagerWithContext = &restServer{}
	_ rest.WarningHandlerWithContext = &restServer{}
)

// retryAfter is the pause that an answer asks for, if the request is to be made again for it.
func (a answer) retryAfter(again bool) (time.Duration, bool) {
	if a.lost.error != nil {
		return time.Second, again
	}
	seconds, err := strconv.Atoi(a.after)
	return time.Duration(seconds) * time.Second, err == nil && (a.code == http.StatusTooManyRequests || a.code >= http.StatusInternalServerError)
}
