package wellbehaved

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// way is what a controller reconciles.
type way struct{ controller, key string }

// wayOf returns what a record of a reconcile is about.
func wayOf(w property.World, r *sim.Record) way {
	controller := w.Kernel().ActorName(r.Actor)
	if slash := strings.LastIndex(controller, "/"); slash >= 0 {
		controller = controller[:slash]
	}
	return way{controller, strings.Clone(r.Key)}
}

// sends returns which request a record says that a reconcile has sent.
func (of Reconciles) sends(w property.World, r *sim.Record) (sentBy, bool) {
	if r.Kind != of.Sends {
		return sentBy{}, false
	}
	client, ok := w.Kernel().ActorByName("conn/" + r.Detail)
	return sentBy{client, r.N}, ok
}

// senders are the reconciles that have sent the requests in flight, as far as a test tells of them.
type senders map[sentBy]way

// follow notes what a record says of a request.
func (s senders) follow(w property.World, r *sim.Record, of Reconciles) {
	if at, sent := of.sends(w, r); sent {
		s[at] = wayOf(w, r)
	} else if r.Kind == fakeapiserver.KindResponse {
		delete(s, sentBy{r.Actor, r.N})
	}
}

// underWay follows reconciles, of which T notes what their property wants to know, with their requests in flight.
type underWay[T any] struct {
	of   Reconciles
	busy map[sim.ActorID]*T
	sent map[sentBy]*T
	gone map[string]bool // objects that were deleted, and are not there again
}

// kinds are those of the records that an underWay wants to see.
func (of Reconciles) kinds() []sim.Kind {
	return []sim.Kind{of.Begin, of.End, of.Sends, fakeapiserver.KindResponse, fakeapiserver.KindCommit}
}

func newUnderWay[T any](of Reconciles) underWay[T] {
	return underWay[T]{of, map[sim.ActorID]*T{}, map[sentBy]*T{}, map[string]bool{}}
}

// follow notes what begins, what is sent, and what is gone.
func (a *underWay[T]) follow(w property.World, r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindCommit:
		if r.Detail == "DELETED" {
			a.gone[strings.Clone(r.Key)] = true
		} else {
			delete(a.gone, r.Key)
		}
	case a.of.Begin:
		a.busy[r.Actor] = new(T)
	case a.of.Sends:
		if at, ok := a.of.sends(w, r); ok && a.busy[r.Actor] != nil {
			a.sent[at] = a.busy[r.Actor]
		}
	}
}

// answered returns the reconcile whose request is answered, nil for none.
func (a *underWay[T]) answered(r *sim.Record) *T {
	at := sentBy{r.Actor, r.N}
	by := a.sent[at]
	delete(a.sent, at)
	return by
}

// ended returns the reconcile that ends, nil if nobody has told of its beginning.
func (a *underWay[T]) ended(r *sim.Record) *T {
	by := a.busy[r.Actor]
	delete(a.busy, r.Actor)
	return by
}
