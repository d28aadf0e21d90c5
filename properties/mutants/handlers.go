package mutants

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects/stack"
)

// handlerMutants are wrong in what an informer keeps for its users: handlers and indexes.
func handlerMutants() []Mutant {
	indexed := func(f func(cache.IndexFunc) cache.IndexFunc) stack.Parts { return stack.Parts{IndexFunc: f} }
	return []Mutant{
		{
			Name: "removed-handler-hears-on", Defect: "a handler that was removed still gets what waits for it",
			Property: "NothingAfterRemove", Or: "ResyncOnTime", OrBecause: "a handler that is still there may be due for a resync when no other is",
			Scenario: "removed_in_call", Kind: stack.With(stack.Parts{Removed: func(func()) {}}),
		}, {
			Name: "index-one-value", Defect: "an index takes only the first of several values (k109115)",
			Property: "IndexMatchesItems", Scenario: "indexes", Kind: stack.With(indexed(func(f cache.IndexFunc) cache.IndexFunc {
				return func(obj any) ([]string, error) {
					values, err := f(obj)
					return values[:min(len(values), 1)], err
				}
			})),
		}, {
			Name: "index-of-the-past", Defect: "an index keeps the values that an object had first",
			Property: "IndexMatchesItems", Scenario: "indexes", Kind: stack.With(indexed(firstValues)),
		}, {
			Name: "shutdown-drops-keys", Defect: "a work queue that shuts down drops the keys that are ready",
			Property: "ShutdownDrains", Scenario: "worker_shutdown_ready", Explore: true,
			Kind: stack.With(stack.Parts{WorkQueue: func(l workqueue.RateLimiter[string], o workqueue.Order[string]) stack.WorkQueue {
				return &dropping{workQueue{limiter: l, order: o, dirty: map[string]bool{}, working: map[string]int{}}}
			}}),
		},
	}
}

// firstValues returns an index function that remembers the values of each key.
func firstValues(f cache.IndexFunc) cache.IndexFunc {
	first := map[string][]string{}
	return func(obj any) ([]string, error) {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return nil, err
		}
		values, known := first[key]
		if !known {
			if values, err = f(obj); err != nil {
				return nil, err
			}
			first[key] = values
		}
		return values, nil
	}
}

// dropping drops at its shutdown what is ready.
type dropping struct{ workQueue }

func (q *dropping) ShutDown() {
	for q.order.Len() > 0 {
		q.order.Pop()
	}
	q.workQueue.ShutDown()
}
