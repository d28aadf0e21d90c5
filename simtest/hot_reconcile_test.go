package simtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// A reconcile that reads its cache and asks to be called again makes no request, and is seen if the test tells of it. One that looks ten times a second may, as Cluster API's controllers do until their
// caches have what they have written (requeueDurationStaleCache).
func TestHotReconcileWithoutRequests(t *testing.T) {
	polling := func(every time.Duration) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("waiting", func(ctx context.Context) error {
				queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("waiting"), false)
				if err != nil {
					return err
				}
				defer shutDown()
				work(queue, func(key string) error {
					end := env.Reconciling("waiter", "configmaps "+key)
					if _, is, err := queue.maps.GetIndexer().GetByKey(key); is || err != nil {
						queue.AddAfter(key, every)
					}
					end(nil)
					return nil
				})
				return nil
			})
			env.Create(configMap("a", ""))
			env.Advance(time.Minute)
		}
	}
	o := simtest.Options{Seeds: 1, Shrink: -1, Properties: simtest.WellBehaved()}
	for _, every := range []time.Duration{time.Millisecond, 50 * time.Millisecond} {
		found := simtest.Find(t, o, polling(every))
		if found == nil || found.Property != simtest.NoHotReconcile {
			t.Fatalf("every %v: found %v", every, found)
		}
		wantIn(t, found.Text, fmt.Sprintf(" 401 times within %v; nobody has changed anything, and no controller has been told anything, since the first of", 400*every),
			"waiter reconciles configmaps default/", "it is reconciled, and nothing changes from then on")
	}
	simtest.Run(t, o, polling(100*time.Millisecond))
	except := simtest.Exception{Property: simtest.NoHotReconcile, Client: "waiter", Object: "configmaps", Why: "to see whether it counts"}
	o.Properties = slices.DeleteFunc(simtest.WellBehaved(except), func(p simtest.Property) bool { return p.Name != simtest.NoHotReconcile })
	simtest.Run(t, o, polling(50*time.Millisecond))
}
