package properties

import (
	"strings"

	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// Property is a statement about runs that can be checked; [property.Property] says how to write one.
type Property = property.Property

// Checker checks a property in one run.
type Checker = property.Checker

// World is the run that a property looks at.
type World = property.World

// All are the properties of an informer, in the order in which they are checked.
func All() []Property {
	return []Property{
		IndexerConverges, PerKeyOrder, ReplaceDeletesMissing, HandlerGrammar, NoInventedState, SyncedAfterInitialList, StoreBeforeNotify,
		StoreRevisionFollows, ResyncTellsAll, QueueSingleFlight, QueueNoLostKey, BackoffHonoured, WorkDrains,
	}
}

// informerOf is the informer's part of a handler's actor name "i1/h1".
func informerOf(actor string) string {
	name, _, _ := strings.Cut(actor, "/")
	return name
}

// byActor is a table indexed by actor ids, which are small.
type byActor[T any] struct{ t []*T }

func (b *byActor[T]) get(id sim.ActorID) *T {
	for int(id) >= len(b.t) {
		b.t = append(b.t, nil)
	}
	if b.t[id] == nil {
		b.t[id] = new(T)
	}
	return b.t[id]
}
