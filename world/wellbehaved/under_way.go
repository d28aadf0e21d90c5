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
		if client, ok := w.Kernel().ActorByName("conn/" + r.Detail); ok && a.busy[r.Actor] != nil {
			a.sent[sentBy{client, r.N}] = a.busy[r.Actor]
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
