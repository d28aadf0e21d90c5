package mutants

import (
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// A Mutant is a stack with a defect.
type Mutant struct {
	Name string
	// Defect describes what is wrong.
	Defect string
	// Queue is the only queue that has the defect, "" if informers with any queue have it.
	Queue subjects.Queue
	// Property is the property that the defect breaks.
	Property string
	// Or are the only other properties that may break first, with commas between them, and OrBecause says when; mostly empty.
	Or, OrBecause string
	// Scenario names the transcript of the catalogue that shows the defect without a search.
	Scenario string
	// Explore means that generated scenarios lack what shows the defect: the search explores Scenario.
	Explore bool
	Kind    subjects.Kind
}

// Reasons why a defect may break either of two properties.
const (
	handlerBehind = "the informer goes back to an older version: a handler that has seen the newer one is notified of the older one " +
		"after it, a handler that is behind is notified of the newer one when the Indexer has already gone back"
	overtakes       = "what overtakes the older change of its key may have come after that of another key, which is then told later"
	noHandlers      = "an informer without handlers notifies none, so only its Indexer shows the defect"
	recreatedUnseen = "the handler sees an update of a key that is created again before the end, although the watch delivered its deletion"
	outOfTime       = "while a request is under way, time may jump to where the run ends: the next attempt would come after that"
	leftOut         = "a key that a Replace has left out is in neither store nor queue when the next list lacks it"
	addedAgain      = "a handler that still has a key is notified of an add if the key is created again before the informer is idle"
)

// All returns the mutants.
func All() []Mutant {
	all := []Mutant{
		{
			Name: "replace-without-tombstones", Defect: "a Replace queues no deletions of keys that the list lacks",
			Property: "ReplaceDeletesMissing", Scenario: "watch_410", Queue: subjects.QueueDelta, Kind: queue(flaws{noTombstones: true}),
		}, {
			Name: "replace-forgets-queue-only-keys", Defect: "a Replace looks for missing keys only in the store (k115658)",
			Property: "ReplaceDeletesMissing", Scenario: "k115658", Queue: subjects.QueueDelta, Kind: queue(flaws{tombstonesByStore: true}),
		}, {
			Name: "replace-tombstones-twice", Defect: "a Replace queues two deletions of each missing key",
			Property: "ReplaceDeletesMissing", Scenario: "watch_410", Queue: subjects.QueueDelta, Kind: queue(flaws{tombstonesTwice: true}),
		}, {
			Name: "replace-skips-pending-deletions", Defect: "a Replace leaves out a listed key whose deletion is queued (k83810)",
			Property: "IndexerConverges", Or: "ReplaceDeletesMissing", OrBecause: leftOut,
			Scenario: "k83810", Queue: subjects.QueueDelta, Kind: queue(flaws{replaceSkipsDeleted: true}),
		}, {
			Name: "delete-asks-the-store-alone", Defect: "a deletion of a key that only the queue knows is dropped (k27004)",
			Property: "IndexerConverges", Or: "HandlerGrammar", OrBecause: recreatedUnseen,
			Scenario: "k27004", Queue: subjects.QueueDelta, Kind: queue(flaws{deleteByStore: true}),
		}, {
			Name: "dedup-merges-deleted-and-added", Defect: "an Added behind a Deleted replaces it, as if the object had only changed",
			Property: "HandlerGrammar", Scenario: "queued_recreations", Queue: subjects.QueueDelta, Kind: queue(flaws{mergeDeletedAdded: true}),
		}, {
			Name: "update-lost-under-pressure", Defect: "an update of a key with two pending deltas is dropped",
			Property: "IndexerConverges", Scenario: "queued_updates", Queue: subjects.QueueDelta, Kind: queue(flaws{dropThirdUpdate: true}),
		}, {
			Name: "resync-resurrects", Defect: "a resync queues the stored object behind the pending deltas of its key",
			Property: "PerKeyOrder", Or: "StoreBeforeNotify", OrBecause: handlerBehind,
			Scenario: "resync_full_queue", Queue: subjects.QueueDelta, Kind: queue(flaws{resyncAll: true}),
		}, {
			Name: "newest-first", Defect: "an update swaps places with the pending one of the same key",
			Property: "PerKeyOrder", Scenario: "queued_updates", Queue: subjects.QueueDelta, Kind: newestFirst(queueParts(flaws{newestFirst: true})),
		}, {
			Name: "synced-at-enqueue", Defect: "HasSynced turns true when the first list is queued, not when it is popped",
			Property: "SyncedAfterInitialList", Scenario: "watch_close", Queue: subjects.QueueDelta, Kind: queue(flaws{syncedAtEnqueue: true}),
		}, {
			Name: "relist-any-version", Defect: `a relist asks for resourceVersion "0" although a newer one was seen (k59848)`,
			Property: "LastSyncRVMonotonic",
			Scenario: "list_not_stale", Kind: stack.With(stack.Parts{ListOptions: func(o *metav1.ListOptions) {
				if o.ResourceVersion != "" && o.Continue == "" {
					o.ResourceVersion = "0"
				}
			}}),
		}, {
			Name: "notify-before-store", Defect: "handlers are notified of a change one pop before the store has it",
			Property: "StoreBeforeNotify", Scenario: "watch_close", Kind: stack.With(stack.Parts{Process: notifyBeforeStore}),
		}, {
			Name: "store-write-dropped", Defect: "every second change of an object in the store is lost",
			Property: "StoreBeforeNotify", Or: "IndexerConverges", OrBecause: noHandlers,
			Scenario: "gap_of_everything", Kind: storeOf(&droppingStore{}),
		}, {
			Name: "store-deletion-dropped", Defect: "every third deletion leaves the object in the store",
			Property: "StoreBeforeNotify", Or: "IndexerConverges", OrBecause: noHandlers,
			Scenario: "queued_recreations", Kind: storeOf(&undeletingStore{}),
		}, {
			Name: "wrong-old", Defect: "an update's old object is always the first version",
			Property: "HandlerGrammar", Scenario: "watch_close", Kind: storeOf(&rememberingStore{}),
		}, {
			Name: "object-changed", Defect: "the store holds a changed copy of the object",
			Property: "NoInventedState", Scenario: "watch_close", Kind: storeOf(&meddlingStore{}),
		}, {
			Name: "deletion-without-final-state", Defect: "a deletion's final state has another version",
			Property: "NoInventedState", Scenario: "watch_eof", Kind: stack.With(stack.Parts{Process: inventFinalState}),
		}, {
			Name: "error-is-eof", Defect: "an ERROR event is taken for the end of the stream: the watch is opened again at once",
			Property: "BackoffHonoured", Scenario: "compact", Kind: reopening(0),
		}, {
			Name: "error-is-eof-after-1ms", Defect: "an ERROR event is taken for the end of the stream, and the pause before the next watch is 1 ms",
			Property: "BackoffHonoured", Or: "IndexerConverges", OrBecause: outOfTime,
			Scenario: "compact", Kind: reopening(time.Millisecond),
		}, {
			Name: "pop-leaves-the-item", Defect: "what is popped stays in the queue once the informer has synced",
			Property: "NoLivelock", Scenario: "watch_close", Kind: queue(flaws{popKeeps: true}),
		},
	}
	return slices.Concat(all, notificationMutants(), requestMutants(), serverMutants(), resyncMutants(), handlerMutants(), inOrderMutants(), atomicMutants(), workMutants())
}

var (
	queueArg        = regexp.MustCompile(`(?m)^(informer .*?) queue=\w+`)
	informerCommand = regexp.MustCompile(`(?m)^(informer \S+ \S+)`)
)

// WithQueue returns a script in which every informer has that queue; the script as it is if the queue is "".
func WithQueue(script string, queue subjects.Queue) string {
	if queue == "" {
		return script
	}
	return informerCommand.ReplaceAllString(queueArg.ReplaceAllString(script, "$1"), "$1 queue="+string(queue))
}

// Flawless returns the stack with a queue of this package that has no defect, in place of that kind of queue: the control.
func Flawless(kind subjects.Queue) subjects.Kind {
	if kind == subjects.QueueDelta {
		return queue(flaws{})
	}
	return realQueue(kind, realFlaws{})
}

// FlawlessWork returns the stack with a work queue of this package that has no defect.
func FlawlessWork() subjects.Kind { return workQueueOf(workFlaws{}) }

func queue(f flaws) subjects.Kind { return stack.With(queueParts(f)) }

func queueParts(f flaws) stack.Parts {
	return stack.Parts{Queue: func(known *informer.Indexer, observe informer.EnqueueFunc) informer.Queue {
		return newFIFO(f, known, observe)
	}}
}

// reopening returns a stack that opens a watch again after an ERROR event, and that time.
func reopening(after time.Duration) subjects.Kind {
	return stack.With(stack.Parts{AfterError: func() time.Duration { return after }})
}

// newestFirst returns a stack whose queue swaps updates. Its store still ends with the newest: one that went back would break
// properties of stores, too, not just the order.
func newestFirst(p stack.Parts) subjects.Kind {
	p.Store = func(s informer.Store) informer.Store { return &newestStore{s} }
	return stack.With(p)
}
