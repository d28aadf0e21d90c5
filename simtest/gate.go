package simtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/sim"
)

var kindArrive = sim.RegisterKind("arrive", sim.ClassScript)

// errCrashed is the error of requests made after their process has crashed.
var errCrashed = errors.New("simtest: the process of this client has crashed")

// errOver is the error of requests made after the run.
var errOver = errors.New("simtest: this env's run is over; its clients end with it")

// errInCheck is the error of requests made by a function passed to env.Always or env.Sometimes.
var errInCheck = errors.New("simtest: a function passed to env.Always or env.Sometimes made a request; those run between two steps and may only read: " +
	"use env.Get and env.List there, or env.Eventually")

// gate parks requests of goroutines in the bubble until the kernel's side collects them. It is also the actor "gate", whose
// step collects requests that arrive while no other step is due.
type gate struct {
	w       *world
	id      sim.ActorID
	parked  []*arrival // guarded by w.mu
	offered bool
}

// arrival is what a client's goroutine wants done in a step: to send a request, or to cancel one.
type arrival struct {
	client  string
	key     string // method, URL and body, by which simultaneous arrivals are ordered
	life    *life
	timeout *url.URL // of a watch whose timeout is drawn on collection; nil for others
	f       func()
	cancel  bool
}

// Name implements sim.Actor.
func (*gate) Name() string { return "gate" }

// Apply implements sim.Actor. The requests are collected when the step ends, as in every step.
func (g *gate) Apply(sim.Choice) { g.offered = false }

// offer offers a step if requests are parked.
func (g *gate) offer() {
	g.w.mu.Lock()
	waiting := len(g.parked) > 0
	g.w.mu.Unlock()
	if waiting && !g.offered {
		g.offered = true
		g.w.kernel.Offer(g.id, kindArrive, 0)
	}
}

// collect carries out what was parked, in an order that does not depend on which goroutine came first: cancellations, then
// requests by client, method, URL and body.
func (g *gate) collect() {
	g.w.mu.Lock()
	parked := g.parked
	g.parked = nil
	g.w.mu.Unlock()
	slices.SortStableFunc(parked, func(a, b *arrival) int {
		if a.cancel != b.cancel {
			if a.cancel {
				return -1
			}
			return 1
		}
		if c := strings.Compare(a.client, b.client); c != 0 {
			return c
		}
		return strings.Compare(a.key, b.key)
	})
	for _, a := range parked {
		switch {
		case a.cancel:
		case a.life.dead():
			continue
		case a.timeout != nil:
			g.drawTimeout(a.timeout)
		}
		a.f()
	}
}

// tripper is the http.RoundTripper of one client.
type tripper struct {
	g      *gate
	client string
	life   *life
}

// RoundTrip implements http.RoundTripper.
func (t *tripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.g.w.checks.under.Load() {
		return nil, errInCheck
	}
	if err := t.life.err(); err != nil {
		return nil, err
	}
	if isDocument(r.URL.Path) {
		return t.g.w.mapper.docs.get(r)
	}
	r, key, racy, err := prepare(r)
	if err != nil {
		return nil, err
	}
	a := &request{g: t.g, client: t.client, key: key, life: t.life}
	if racy {
		a.timeout = r.URL
	}
	rt := &transport.RoundTripper{Driver: a, API: t.g.w.api, Client: t.client, Panicked: t.g.w.panicked}
	ctx, cancel := t.life.bind(r.Context())
	resp, err := rt.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		if dead := t.life.err(); dead != nil {
			return nil, dead
		}
		return nil, err
	}
	resp.Request = r
	resp.Body = &boundBody{ReadCloser: resp.Body, life: t.life, cancel: cancel}
	return resp, nil
}

// prepare reads the body, which is part of the key, and reports whether the watch's timeout must be drawn again.
func prepare(r *http.Request) (prepared *http.Request, key string, racy bool, err error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, "", false, err
		}
	}
	r = r.Clone(r.Context())
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	u := *r.URL // a copy: collecting may change it
	r.URL = &u
	q := u.Query()
	if racy = racyTimeout(q); racy {
		q.Del("timeoutSeconds")
	}
	return r, fmt.Sprintf("%s %s?%s\x00%s", r.Method, u.Path, q.Encode(), body), racy, nil
}

// The bounds, in seconds, of the timeout that a reflector draws for each watch (I25).
const (
	minWatchTimeout = 300
	maxWatchTimeout = 600
)

// racyTimeout reports whether a watch's timeout is one that a reflector drew. Which of several informers that start together
// draws which number is a race that no seed decides, so it is drawn again when the request is collected.
func racyTimeout(q url.Values) bool {
	n, err := strconv.Atoi(q.Get("timeoutSeconds"))
	return err == nil && n >= minWatchTimeout && n <= maxWatchTimeout
}

// drawTimeout draws a watch's timeout.
func (g *gate) drawTimeout(u *url.URL) {
	q := u.Query()
	q.Set("timeoutSeconds", strconv.Itoa(minWatchTimeout+g.w.kernel.Stream("watch-timeout").IntN(maxWatchTimeout-minWatchTimeout)))
	u.RawQuery = q.Encode()
}

// request is the transport.Driver of one request: its first Do sends it, its second cancels it.
type request struct {
	g       *gate
	client  string
	key     string
	life    *life
	timeout *url.URL // see arrival
	sent    bool     // guarded by w.mu
}

// Do implements transport.Driver.
func (a *request) Do(f func()) {
	w := a.g.w
	w.mu.Lock()
	again := a.sent
	a.sent = true
	a.g.parked = append(a.g.parked, &arrival{client: a.client, key: a.key, life: a.life, timeout: a.timeout, f: f, cancel: again})
	w.mu.Unlock()
	w.note()
}

// boundBody is a response body that fails once the process that reads it has crashed.
type boundBody struct {
	io.ReadCloser
	life   *life
	cancel func()
}

// Read implements io.Reader.
func (b *boundBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		if dead := b.life.err(); dead != nil {
			return n, dead
		}
	}
	return n, err
}

// Close implements io.Closer.
func (b *boundBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	return err
}
