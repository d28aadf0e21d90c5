package world

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/informersim/informersim/sim"
)

var kindArrive = sim.RegisterKind("arrive", sim.ClassScript)

// gate holds requests that have arrived until the step ends. It is also the actor "gate", whose step collects requests that arrive while no
// other step is due.
type gate struct {
	w       *world
	id      sim.ActorID
	parked  []*arrival
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
	if len(g.parked) > 0 && !g.offered {
		g.offered = true
		g.w.kernel.Offer(g.id, kindArrive, 0)
	}
}

// collect carries out what was parked, in an order that does not depend on which goroutine came first: cancellations, then
// requests by client, method, URL and body.
func (g *gate) collect() {
	parked := g.parked
	g.parked = nil
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
