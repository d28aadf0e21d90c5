package world

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// link is a bubble in another process, the test's or that of Kubernetes' controllers. What a step does to it is gathered, and sent when the bubble is to
// come to rest: a trip.
type link struct {
	w    *world
	peer *peer

	actions  wire.Packet   // not yet sent; they move the bubble
	elapsed  time.Duration // the bubble's time at the last report
	requests map[int64]*request
}

func newLink(w *world, p *peer) link { return link{w: w, peer: p, requests: map[int64]*request{}} }

// do returns where the fields of an action go.
func (l *link) do(action byte) *wire.Packet { return l.actions.Byte(action) }

// checkTime fails the run if the bubble's clock and the kernel's differ.
func (l *link) checkTime() {
	if k := l.w.kernel; l.elapsed != k.Elapsed() {
		k.Fail(fmt.Errorf("the bubble of %s is at %v, the run at %v: time passed without being advanced; this is a bug in informersim", l.peer.name(), l.elapsed, k.Elapsed()))
	}
}

// canceled takes in that a client has gone.
func (l *link) canceled(m *wire.Message) {
	id := m.Num()
	if q := l.requests[id]; q != nil {
		delete(l.requests, id)
		q.cancel()
	}
}

// document answers a query for what discovery says.
func (l *link) document(m *wire.Message, p *wire.Packet) {
	method, uri, header := m.Text(), m.Text(), m.Header()
	u, err := url.Parse(uri)
	var s *sink
	if err == nil {
		s, err = l.w.mapper.docs.get(method, u, header)
	}
	if p.Error(err); err == nil {
		p.Num(int64(s.code)).Header(s.header).Bytes(s.body)
	}
}

// pass lets time pass until something happens in one of the bubbles, at most d, and returns how much has passed. When a timer in the test's bubble fires
// is not known before; when one in the other may, is. So the test's never gets ahead of the other.
func (w *world) pass(d time.Duration) (passed time.Duration) {
	m := w.manager
	if m == nil {
		return w.remote.pass(d)
	}
	for w.kernel.Err() == nil {
		step := min(d-passed, m.next)
		took := step
		if step > 0 {
			took = w.remote.pass(step)
		}
		happened := m.pass(took)
		passed += took
		if passed >= d || took < step || happened || w.remote.happened {
			break
		}
	}
	return passed
}

// errManagerGone is the error of a run in which Kubernetes' controllers end.
var errManagerGone = errors.New("Kubernetes' controllers (Options.Controllers) have ended in the middle of the run: what their process had to say is above")
