package properties

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/properties/api"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Property is a checkable statement about runs; see [property.Property] for how to write one.
type Property = property.Property

// Checker checks a property during one run.
type Checker = property.Checker

// World is the run as a property sees it.
type World = property.World

// All returns the properties of informers and their work queues, in the order in which they are checked.
func All() []Property { return slices.Clone(all) }

var all = slices.Concat([]Property{
	IndexerConverges, PerKeyOrder, ReplaceDeletesMissing, NothingAfterRemove, NothingAfterStop, HandlerGrammar, NoInventedState, SyncedAfterInitialList,
	StoreBeforeNotify, StoreRevisionFollows, LastSyncRVMonotonic, InitialListFlag, ResyncTellsAll, ResyncOnTime, IndexMatchesItems, ReadsAgree,
	QueueSingleFlight, QueueNoLostKey, BackoffHonoured, ShutdownDrains, WorkersWake, WorkDrains, HandlersConverge, HandlersSync, PauseAfterPanic, FiltersPass,
	ValidRequests, ListLimits, FrugalRequests, ToldAsWatched, NoLivelock,
}, api.All(clients), []Property{BoundedRelists, CallsRefused, LibraryAgrees, ServerAgrees})

// WithoutExemptions returns the properties of [All] as they would be if nothing that upstream is known to do were excepted from what
// they hold: BackoffHonoured then finds k140890 in unmodified client-go, and LibraryAgrees k141079.
func WithoutExemptions() []Property {
	all := All()
	for i, p := range all {
		switch p.Name {
		case BackoffHonoured.Name:
			all[i] = newBackoffProperty(true)
		case LibraryAgrees.Name:
			all[i].New = func() Checker {
				return Checker{End: func(w World) *reports.Violation { return libraryDisagrees(w, true) }}
			}
		}
	}
	return all
}

// clients says of the clients in a scenario that each informer has a connection of its own.
var clients = api.Options{OneReflector: true, Restarts: []sim.Kind{subjects.KindStopped}}

// informerOf returns the informer's part of a handler's actor name "i1/h1".
func informerOf(actor string) string {
	name, _, _ := strings.Cut(actor, "/")
	return name
}

// bare returns a copy of a record that may be kept: without its objects. Few records become evidence, so the text of that is made from the
// copy, and not with each record.
func bare(r *sim.Record) sim.Record {
	c := *r
	c.Obj, c.Old = nil, nil
	return c
}

// byActor is a table indexed by actor IDs, which are small. Its entries are made a few at a time, and do not move.
type byActor[T any] struct {
	t    []*T
	room []T
}

func (b *byActor[T]) get(id sim.ActorID) *T {
	if int(id) < len(b.t) && b.t[id] != nil {
		return b.t[id]
	}
	return b.add(id)
}

func (b *byActor[T]) add(id sim.ActorID) *T {
	if missing := int(id) + 1 - len(b.t); missing > 0 {
		if int(id) >= cap(b.t) {
			b.t = slices.Grow(b.t, missing+8)
		}
		b.t = b.t[:int(id)+1]
	}
	if len(b.room) == 0 {
		b.room = make([]T, 4)
	}
	b.t[id], b.room = &b.room[0], b.room[1:]
	return b.t[id]
}
