package informer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

type countingHandler struct{ adds, updates, deletes int }

func (h *countingHandler) OnAdd(any, bool)   { h.adds++ }
func (h *countingHandler) OnUpdate(any, any) { h.updates++ }
func (h *countingHandler) OnDelete(any)      { h.deletes++ }

func benchPods(n int, rv string) []runtime.Object {
	pods := make([]runtime.Object, n)
	for i := range pods {
		pods[i] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace:       "namespace-" + strconv.Itoa(i%100),
			Name:            fmt.Sprintf("pod-%06d", i),
			ResourceVersion: rv,
		}}
	}
	return pods
}

// BenchmarkEvent measures one MODIFIED event through the whole stack: Reflector, queue, Controller, Indexer with a
// namespace index, Processor, and the calls of all listeners.
func BenchmarkEvent(b *testing.B) {
	queues := benchQueues()
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		newQueue := queues[name]
		for _, objects := range []int{1_000, 100_000} {
			for _, listeners := range []int{1, 4} {
				b.Run(fmt.Sprintf("queue=%s/objects=%d/listeners=%d", name, objects, listeners), func(b *testing.B) {
					benchmarkEvent(b, newQueue, objects, listeners)
				})
			}
		}
	}
}

func benchQueues() map[string]func(*Indexer) Queue {
	return map[string]func(*Indexer) Queue{"delta": nil, "inorder": plainQueue, "atomic": atomicQueue}
}

func benchmarkEvent(b *testing.B, newQueue func(*Indexer) Queue, objects, listeners int) {
	now := time.Unix(0, 0)
	inf := NewInformer(InformerOptions{
		Reflector: ReflectorOptions{ExpectedType: &v1.Pod{}},
		Indexers:  cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		NewQueue:  newQueue,
	})
	handlers := make([]countingHandler, listeners)
	for i := range handlers {
		if _, err := inf.AddHandler(&handlers[i], ListenerOptions{}, now); err != nil {
			b.Fatal(err)
		}
	}
	inf.Start(now)
	inf.Reflector.OnPage(benchPods(objects, "1"), "1", "", nil)
	inf.Reflector.OnWatchOpened()
	drainInformer(b, inf)
	// Two versions of each object, so that an update is never a resync.
	versions := [2][]runtime.Object{benchPods(objects, "2"), benchPods(objects, "3")}
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		obj := versions[n/objects%2][n%objects]
		inf.Reflector.OnEvent(watch.Event{Type: watch.Modified, Object: obj})
		if _, err := inf.Controller.Step(); err != nil {
			b.Fatal(err)
		}
		for _, l := range inf.Processor.Listeners() {
			l.Deliver()
		}
	}
	b.StopTimer()
	for i := range handlers {
		if got := handlers[i].adds + handlers[i].updates; got != objects+b.N {
			b.Fatalf("listener %d got %d calls, want %d", i, got, objects+b.N)
		}
	}
}

func drainInformer(tb testing.TB, inf *Informer) {
	tb.Helper()
	for {
		stepped, err := inf.Controller.Step()
		if err != nil {
			tb.Fatal(err)
		}
		delivered := false
		for _, l := range inf.Processor.Listeners() {
			for l.Deliver() {
				delivered = true
			}
		}
		if !stepped && !delivered {
			return
		}
	}
}
