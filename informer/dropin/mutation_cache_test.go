package dropin

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
)

// TestDifferentialMutationCache gives client-go's mutation cache and ours the same operations and compares every answer.
func TestDifferentialMutationCache(t *testing.T) {
	kinds := []string{"mutation", "mutation", "storeAdd", "storeDelete", "onAdd", "onDelete", "get", "byIndex"}
	rapid.Check(t, func(rt *rapid.T) {
		store := NewIndexer(MetaNamespaceKeyFunc, Indexers{"label": labelIndex})
		options := MutationCacheOptions{Indexer: store, IncludeAdds: rapid.Bool().Draw(rt, "includeAdds"), MaxCacheSize: 3}
		theirs := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), store, options)
		ours := NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), store, options)
		for range rapid.IntRange(1, 40).Draw(rt, "n") {
			kind := rapid.SampledFrom(kinds).Draw(rt, "kind")
			p := podGen.Draw(rt, "pod")
			p.UID = types.UID(rapid.SampledFrom([]string{"u1", "u2"}).Draw(rt, "uid"))
			delete(p.Labels, "fail")
			var want, got string
			both := func(op func(c MutationCache) string) { want, got = op(theirs), op(ours) }
			switch kind {
			case "storeAdd":
				if err := store.Add(p); err != nil {
					rt.Fatal(err)
				}
			case "storeDelete":
				if err := store.Delete(p); err != nil {
					rt.Fatal(err)
				}
			case "mutation":
				both(func(c MutationCache) string { c.Mutation(p); return "" })
			case "onAdd":
				both(func(c MutationCache) string { c.OnAddOrUpdate(p); return "" })
			case "onDelete":
				both(func(c MutationCache) string { c.OnDelete(p); return "" })
			case "byIndex":
				both(func(c MutationCache) string {
					list, err := c.ByIndex("label", "x")
					for _, obj := range list {
						if _, ok := obj.(*v1.Pod); !ok {
							return leakedDeletionMark
						}
					}
					return fmt.Sprint(sortedObjects(list, err))
				})
			case "get":
				both(func(c MutationCache) string {
					obj, exists, err := c.GetByKey(p.Namespace + "/" + p.Name)
					if found, ok := obj.(*v1.Pod); ok {
						return fmt.Sprint(found.Name, found.ResourceVersion, found.UID, exists, err)
					}
					if obj != nil {
						return leakedDeletionMark
					}
					return fmt.Sprint(exists, err)
				})
			}
			if want == leakedDeletionMark && got != leakedDeletionMark {
				return
			}
			if want != got {
				rt.Fatalf("%s: client-go %s, ours %s", kind, want, got)
			}
		}
	})
}

// leakedDeletionMark is client-go's answer when the store holds an object older than one that it is known to have deleted,
// which no informer's store does: it returns its record of the deletion. Ours returns the object.
const leakedDeletionMark = "a note of a deletion"

// TestDifferentialRetryWithDeadline compares the retries of a watch after internal errors with client-go's.
func TestDifferentialRetryWithDeadline(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fake := testingclock.NewFakeClock(time.Now())
		make2 := func(make func(time.Duration, time.Duration, func(error) bool, clock.Clock) RetryWithDeadline) RetryWithDeadline {
			return make(10*time.Second, 5*time.Second, func(err error) bool { return err == errProcessing }, fake)
		}
		theirs, ours := make2(cache.NewRetryWithDeadline), make2(NewRetryWithDeadline)
		for range rapid.IntRange(1, 30).Draw(rt, "n") {
			err := rapid.SampledFrom([]error{errProcessing, errNoKey}).Draw(rt, "err")
			theirs.After(err)
			ours.After(err)
			fake.Step(time.Duration(rapid.IntRange(0, 7).Draw(rt, "seconds")) * time.Second)
			if rapid.Bool().Draw(rt, "ask") {
				if want, got := theirs.ShouldRetry(), ours.ShouldRetry(); want != got {
					rt.Fatalf("ShouldRetry: client-go %v, ours %v", want, got)
				}
			}
		}
	})
}

// TestDifferentialHeap compares every answer of the heap with client-go's.
func TestDifferentialHeap(t *testing.T) {
	less := func(a, b any) bool { return a.(*v1.Pod).ResourceVersion < b.(*v1.Pod).ResourceVersion }
	type heapOf interface {
		Add(any) error
		AddIfNotPresent(any) error
		BulkAdd([]any) error
		Delete(any) error
		Pop() (any, error)
		ListKeys() []string
		Close()
	}
	rapid.Check(t, func(rt *rapid.T) {
		var theirs, ours heapOf = cache.NewHeap(keyOrError, less), NewHeap(keyOrError, less)
		for range rapid.IntRange(1, 40).Draw(rt, "n") {
			kind := rapid.SampledFrom([]string{"add", "add", "addIfNotPresent", "bulk", "delete", "pop", "pop"}).Draw(rt, "kind")
			pods := rapid.SliceOfN(podGen, 1, 3).Draw(rt, "pods")
			run := func(h heapOf) string {
				var err error
				switch kind {
				case "add":
					err = h.Add(pods[0])
				case "addIfNotPresent":
					err = h.AddIfNotPresent(pods[0])
				case "bulk":
					list := []any{}
					for _, p := range pods {
						list = append(list, p)
					}
					err = h.BulkAdd(list)
				case "delete":
					err = h.Delete(pods[0])
				case "pop":
					if len(h.ListKeys()) > 0 {
						var obj any
						obj, err = h.Pop()
						return fmt.Sprint(obj.(*v1.Pod).Name, obj.(*v1.Pod).ResourceVersion, err)
					}
				}
				keys := h.ListKeys()
				slices.Sort(keys)
				return fmt.Sprint(keys, err != nil)
			}
			if want, got := run(theirs), run(ours); want != got {
				rt.Fatalf("%s: client-go %s, ours %s", kind, want, got)
			}
		}
	})
}
