package mutants

import (
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// inOrderMutants returns the mutants of the in-order queue.
func inOrderMutants() []Mutant {
	of := func(f realFlaws) subjects.Kind { return realQueue(subjects.QueueInOrder, f) }
	return []Mutant{
		{
			Name: "inorder-replace-without-tombstones", Defect: "a Replace queues no deletions of keys that the list lacks",
			Property: "ReplaceDeletesMissing", Scenario: "watch_410", Queue: subjects.QueueInOrder, Kind: of(realFlaws{noTombstones: true}),
		}, {
			Name: "inorder-replace-forgets-queue-only-keys", Defect: "a Replace looks for missing keys only in the store",
			Property: "ReplaceDeletesMissing", Scenario: "k115658", Queue: subjects.QueueInOrder, Kind: of(realFlaws{tombstonesByStore: true}),
		}, {
			Name: "inorder-delete-asks-the-store", Defect: "a deletion of a key that only the queue knows is dropped (I53)",
			Property: "IndexerConverges", Or: "HandlerGrammar", OrBecause: recreatedUnseen, Scenario: "k27004", Queue: subjects.QueueInOrder, Kind: of(realFlaws{deleteByStore: true}),
		}, {
			Name: "inorder-resync-resurrects", Defect: "a resync queues the stored object of a key that is already queued",
			Property: "PerKeyOrder", Or: "StoreBeforeNotify", OrBecause: handlerBehind, Scenario: "resync_full_queue", Queue: subjects.QueueInOrder, Kind: of(realFlaws{resyncAll: true}),
		}, {
			Name: "inorder-newest-first", Defect: "an update swaps places with the pending one of the same key",
			Property: "PerKeyOrder", Or: "ToldAsWatched", OrBecause: overtakes, Scenario: "queued_updates", Queue: subjects.QueueInOrder, Kind: newestFirst(realQueueParts(subjects.QueueInOrder, realFlaws{newestFirst: true})),
		}, {
			Name: "inorder-initial-batch-loses-rest", Defect: "only the first delta of a batch of the initial list is processed",
			Property: "SyncedAfterInitialList", Scenario: "watch_410", Queue: subjects.QueueInOrder, Kind: of(realFlaws{initialLosesRest: true}),
		}, {
			Name: "inorder-batch-loses-updates", Defect: "a later batch loses its updates, except the first delta",
			Property: "IndexerConverges", Scenario: "queued_updates", Queue: subjects.QueueInOrder, Kind: of(realFlaws{batchLosesUpdates: true}),
		}, {
			Name: "inorder-synced-at-enqueue", Defect: "HasSynced turns true when the first list is queued, not when it is processed",
			Property: "SyncedAfterInitialList", Scenario: "watch_close", Queue: subjects.QueueInOrder, Kind: of(realFlaws{syncedAtEnqueue: true}),
		},
	}
}

// atomicMutants returns the mutants of the atomic queue, and of the store under it.
func atomicMutants() []Mutant {
	of := func(f realFlaws) subjects.Kind { return realQueue(subjects.QueueAtomic, f) }
	over := func(kind flawedStore) subjects.Kind {
		return stack.With(stack.Parts{
			Kind: subjects.QueueAtomic,
			Queue: func(_ *informer.Indexer, observe informer.EnqueueFunc) informer.Queue {
				return newRealFIFO(realFlaws{}, nil, observe)
			},
			Store: func(s informer.Store) informer.Store { return kind.over(s) },
		})
	}
	return []Mutant{
		{
			Name: "atomic-replace-tells-no-deletions", Defect: "a ReplacedAll removes objects and notifies no handler",
			Property: "ReplaceDeletesMissing", Or: "HandlerGrammar", OrBecause: addedAgain, Scenario: "watch_410", Queue: subjects.QueueAtomic, Kind: over(&silentReplace{}),
		}, {
			Name: "atomic-replace-keeps-missing", Defect: "a ReplacedAll leaves keys that the list lacks in the store",
			Property: "ReplaceDeletesMissing", Scenario: "watch_410", Queue: subjects.QueueAtomic, Kind: over(&keepingReplace{}),
		}, {
			Name: "atomic-replace-tells-deletions-twice", Defect: "a ReplacedAll notifies of each deletion twice",
			Property: "HandlerGrammar", Scenario: "watch_410", Queue: subjects.QueueAtomic, Kind: over(&doubledReplace{}),
		}, {
			Name: "atomic-sync-dropped", Defect: "a resync queues no SyncAll",
			Property: "ResyncTellsAll", Scenario: "resync_late_handler", Queue: subjects.QueueAtomic, Kind: of(realFlaws{noSync: true}),
		}, {
			Name: "atomic-bookmark-dropped", Defect: "a bookmark does not reach the store",
			Property: "StoreRevisionFollows", Scenario: "atomic_bookmark", Queue: subjects.QueueAtomic, Kind: of(realFlaws{noBookmark: true}),
		}, {
			Name: "atomic-newest-first", Defect: "an update swaps places with the pending one of the same key",
			Property: "PerKeyOrder", Or: "ToldAsWatched", OrBecause: overtakes, Scenario: "queued_updates", Queue: subjects.QueueAtomic, Kind: newestFirst(realQueueParts(subjects.QueueAtomic, realFlaws{newestFirst: true})),
		}, {
			Name: "atomic-synced-at-enqueue", Defect: "HasSynced turns true when the first list is queued, not when it is processed",
			Property: "SyncedAfterInitialList", Scenario: "watch_close", Queue: subjects.QueueAtomic, Kind: of(realFlaws{syncedAtEnqueue: true}),
		},
	}
}

// workMutants returns the mutants of the work queue.
func workMutants() []Mutant {
	return []Mutant{
		{
			Name: "work-dropped-while-worked-on", Defect: "a key that is added while a worker holds it is dropped",
			Property: "QueueNoLostKey", Scenario: "worker_one_at_a_time", Kind: workQueueOf(workFlaws{dropWhileWorked: true}),
		}, {
			Name: "work-handed-out-twice", Defect: "a key that is added while a worker holds it is handed to another one",
			Property: "QueueSingleFlight", Scenario: "worker_one_at_a_time", Kind: workQueueOf(workFlaws{readyWhileWorked: true}),
		}, {
			Name: "retry-at-once", Defect: "a failed key is retried without a delay",
			Property: "BackoffHonoured", Scenario: "worker_retry", Kind: workQueueOf(workFlaws{retryAtOnce: true}),
		}, {
			Name: "retry-lost", Defect: "a failed key is never added again",
			Property: "QueueNoLostKey", Scenario: "worker_retry", Kind: workQueueOf(workFlaws{retryLost: true}),
		}, {
			Name: "retry-later", Defect: "a key that fails again while it waits for a retry keeps the later time",
			Property: "QueueNoLostKey", Scenario: "worker_earlier_retry", Kind: workQueueOf(workFlaws{laterWins: true}),
		}, {
			Name: "failures-never-forgotten", Defect: "a success does not reset the count of failures",
			Property: "BackoffHonoured", Scenario: "worker_retry", Kind: workQueueOf(workFlaws{neverForgets: true}),
		}, {
			Name: "no-retry", Defect: "a failed key is not retried",
			Property: "WorkDrains", Scenario: "worker_retry", Kind: workQueueOf(workFlaws{noRetry: true}),
		},
	}
}

// silentReplace reports no removals from a Replace.
type silentReplace struct{ informer.Store }

func (*silentReplace) over(s informer.Store) flawedStore { return &silentReplace{s} }

func (s *silentReplace) ReplaceKeys(keys []string, objs []any, rv string) []informer.Removed {
	s.Store.ReplaceKeys(keys, objs, rv)
	return nil
}

// keepingReplace removes nothing in a Replace.
type keepingReplace struct{ informer.Store }

func (*keepingReplace) over(s informer.Store) flawedStore { return &keepingReplace{s} }

func (s *keepingReplace) ReplaceKeys(keys []string, objs []any, rv string) []informer.Removed {
	for n, key := range keys {
		s.Store.SetKey(key, objs[n])
	}
	s.Store.Bookmark(rv)
	return nil
}

// doubledReplace reports each removal from a Replace twice.
type doubledReplace struct{ informer.Store }

func (*doubledReplace) over(s informer.Store) flawedStore { return &doubledReplace{s} }

func (s *doubledReplace) ReplaceKeys(keys []string, objs []any, rv string) []informer.Removed {
	gone := s.Store.ReplaceKeys(keys, objs, rv)
	return append(gone, gone...)
}
