package properties

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

// Info describes a property.
type Info struct {
	Name      string
	Statement string
	make      func() scenarios.Checker
}

// All are the properties, in the order in which help shows them.
func All() []Info {
	return []Info{
		{"IndexerConverges", "when the faults have stopped, the Indexer equals the Store, object for object, within a bounded time", func() scenarios.Checker { return &indexerConverges{} }},
		{"PerKeyOrder", "per handler and key, resourceVersions never go back", func() scenarios.Checker { return newPerKeyOrder() }},
		{"ReplaceDeletesMissing", "a Replace yields exactly one Deleted for every key that was known and is not in the list, keys that only the queue knew included", func() scenarios.Checker { return newReplaceDeletesMissing() }},
		{"HandlerGrammar", "per handler and key: add (update)* delete, repeated; the old object of an update is the new one of the call before", func() scenarios.Checker { return newHandlerGrammar() }},
		{"NoInventedState", "every object in the Indexer or handed to a handler is a version that the Store committed for its key", func() scenarios.Checker { return newNoInventedState() }},
		{"SyncedAfterInitialList", "HasSynced turns true only after everything of the first list was processed, a handler's only after the handler got it", func() scenarios.Checker { return newSyncedAfterInitialList() }},
		{"StoreBeforeNotify", "when a handler is told of a change, the Indexer reflects it or something newer", func() scenarios.Checker { return storeBeforeNotify{} }},
		{"StoreRevisionFollows", "when nothing is queued any more, the Indexer's resourceVersion is the one that the reflector has seen last", func() scenarios.Checker { return storeRevisionFollows{} }},
		{"ResyncTellsAll", "a resync tells a handler of every object that the Indexer holds", func() scenarios.Checker { return &resyncTellsAll{} }},
		{"QueueSingleFlight", "no key of a work queue is reconciled by two workers at once", func() scenarios.Checker { return &queueSingleFlight{} }},
		{"QueueNoLostKey", "a key added to a work queue, or whose time to be tried again has come, can be taken at once, or when the worker that has it is through", func() scenarios.Checker { return &queueNoLostKey{} }},
		{"BackoffHonoured", "a key whose reconcile has failed waits as long as its rate limiter says, counting from its last success, unless it changes", func() scenarios.Checker { return newBackoffHonoured() }},
		{"WorkDrains", "when the faults have stopped, every key was reconciled after its last change", func() scenarios.Checker { return newWorkDrains() }},
	}
}

// New returns fresh checkers for one run: those named, or all.
func New(names ...string) ([]scenarios.Checker, error) {
	var out []scenarios.Checker
	if len(names) == 0 {
		for _, p := range All() {
			out = append(out, p.make())
		}
		return out, nil
	}
	for _, n := range names {
		found := false
		for _, p := range All() {
			if p.Name == n {
				out = append(out, p.make())
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no property %q", n)
		}
	}
	return out, nil
}

// informerOf is the informer's part of a handler's actor name "i1/h1".
func informerOf(actor string) string {
	name, _, _ := strings.Cut(actor, "/")
	return name
}

func revisionOf(obj any) int64 {
	m, ok := obj.(interface{ GetResourceVersion() string })
	if !ok {
		return 0
	}
	rv, err := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return rv
}

func because(r *sim.Record, format string, args ...any) scenarios.Evidence {
	return scenarios.Evidence{Step: r.Step, At: r.At, Text: fmt.Sprintf(format, args...)}
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
