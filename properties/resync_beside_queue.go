package properties

import (
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// untouched is how ResyncOnTime finds an overdue resync in a queue that cannot be seen. A check at which a handler is due queues the objects
// of the Indexer of which nothing is queued (I50), and leaves a record if there is one. What is queued since an informer was idle are the
// objects of the frames that it got; all others in its Indexer are untouched. While there is such an object, no check goes unseen.
type untouched struct {
	any   bool
	since time.Duration   // when the informer was idle
	keys  map[string]bool // those of frames since
}

// framed notes that a watch brings an object. Lists and resyncs begin anew: what they queue is not followed.
func (p *resyncOnTime) framed(w World, r *sim.Record) *reports.Violation {
	id, ok := watcherOf(w, r)
	if !ok || r.Key == "" || p.schedules.informers.get(id).all {
		return nil
	}
	u := p.untouched.get(id)
	if inf := w.InformerOf(id); inf == nil {
		return nil
	} else if !inf.Busy() {
		*u = untouched{any: true, since: r.At, keys: map[string]bool{}}
	}
	v := p.overdueBeside(w, id)
	if u.any {
		u.keys[objectKey(r.Key)] = true
	}
	return v
}

// overdueBeside judges, of an informer with something queued, that no handler has waited for a resync of what is not queued. Checks of which
// nothing is known may have been made until the informer was idle, so a handler may have a whole period left then.
func (p *resyncOnTime) overdueBeside(w World, id sim.ActorID) *reports.Violation {
	s, u := p.schedules.informers.get(id), p.untouched.get(id)
	if s.all || !u.any || s.check == 0 {
		return nil
	}
	conn, connected := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(id))
	if !connected {
		return nil
	}
	c := p.requests.conns.get(conn)
	if !c.inRound() {
		return nil
	}
	for _, h := range s.handlers {
		hs := p.schedules.handlers.get(h)
		due := max(hs.next, u.since+hs.period, c.round) + 2*s.check
		if hs.period > 0 && w.Kernel().Elapsed() > due && p.holdsUntouched(w, id) {
			return p.overdue(w, h, hs.period, due, c.round, id)
		}
	}
	return nil
}

// holdsUntouched reports whether the Indexer has an object of which nothing is queued.
func (p *resyncOnTime) holdsUntouched(w World, id sim.ActorID) bool {
	inf := w.InformerOf(id)
	if inf == nil {
		return false
	}
	for _, key := range inf.Keys() {
		if !p.untouched.get(id).keys[key] {
			return true
		}
	}
	return false
}
