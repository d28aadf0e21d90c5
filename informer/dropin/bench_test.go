package dropin

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Every benchmark runs on both client-go's implementation and ours, so that one run compares them:
//
//	go test -run '^$' -bench . -count 10 ./informer/dropin | benchstat -col /impl -

// impl is one of the two implementations.
type impl struct {
	name        string
	newInformer func(lw ListerWatcher, indexers Indexers) SharedIndexInformer
	newIndexer  func(keyFunc KeyFunc, indexers Indexers) Indexer
	newQueue    func(options RealFIFOOptions) QueueWithBatch
	newDelta    func(options DeltaFIFOOptions) Queue
}

var impls = []impl{
	{
		name: "client-go",
		newInformer: func(lw ListerWatcher, indexers Indexers) SharedIndexInformer {
			return cache.NewSharedIndexInformer(lw, &v1.Pod{}, 0, indexers)
		},
		newIndexer: func(keyFunc KeyFunc, indexers Indexers) Indexer { return cache.NewIndexer(keyFunc, indexers) },
		newQueue:   func(o RealFIFOOptions) QueueWithBatch { return cache.NewRealFIFOWithOptions(o) },
		newDelta:   func(o DeltaFIFOOptions) Queue { return cache.NewDeltaFIFOWithOptions(o) },
	},
	{
		name: "ours",
		newInformer: func(lw ListerWatcher, indexers Indexers) SharedIndexInformer {
			return NewSharedIndexInformer(lw, &v1.Pod{}, 0, indexers)
		},
		newIndexer: func(keyFunc KeyFunc, indexers Indexers) Indexer { return NewIndexer(keyFunc, indexers) },
		newQueue:   func(o RealFIFOOptions) QueueWithBatch { return NewRealFIFOWithOptions(o) },
		newDelta:   func(o DeltaFIFOOptions) Queue { return NewDeltaFIFOWithOptions(o) },
	},
}

func byNamespace() Indexers { return Indexers{NamespaceIndex: MetaNamespaceIndexFunc} }

func podAt(i, rv int) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "namespace-" + strconv.Itoa(i%100), Name: fmt.Sprintf("pod-%06d", i), ResourceVersion: strconv.Itoa(rv),
	}}
}

func podsAt(n, rv int) []*v1.Pod {
	pods := make([]*v1.Pod, n)
	for i := range pods {
		pods[i] = podAt(i, rv)
	}
	return pods
}

// scriptedSource streams its objects as initial events or lists them, and then streams the events it is given.
type scriptedSource struct {
	pods   []*v1.Pod
	events chan watch.Event
}

func (s *scriptedSource) List(metav1.ListOptions) (k8sruntime.Object, error) {
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: make([]v1.Pod, len(s.pods))}
	for i, pod := range s.pods {
		list.Items[i] = *pod
	}
	return list, nil
}

func (s *scriptedSource) Watch(metav1.ListOptions) (watch.Interface, error) { return s, nil }

func (s *scriptedSource) ResultChan() <-chan watch.Event { return s.events }

func (s *scriptedSource) Stop() {}

func (s *scriptedSource) IsWatchListSemanticsUnSupported() bool { return true }

type countingHandler struct {
	calls atomic.Int64
	want  int64
	done  chan struct{}
}

func (h *countingHandler) count() {
	if h.calls.Add(1) == h.want {
		close(h.done)
	}
}

func (h *countingHandler) OnAdd(any, bool)   { h.count() }
func (h *countingHandler) OnUpdate(any, any) { h.count() }
func (h *countingHandler) OnDelete(any)      { h.count() }

// BenchmarkEvents measures MODIFIED events through the whole informer to the last handler.
func BenchmarkEvents(b *testing.B) {
	const objects = 1000
	versions := [][]*v1.Pod{podsAt(objects, 2), podsAt(objects, 3)}
	for _, handlers := range []int{1, 4, 16} {
		for _, im := range impls {
			b.Run(fmt.Sprintf("handlers=%d/impl=%s", handlers, im.name), func(b *testing.B) {
				source := &scriptedSource{pods: podsAt(objects, 1), events: make(chan watch.Event, 100)}
				informer := im.newInformer(source, byNamespace())
				all := make([]*countingHandler, handlers)
				for i := range all {
					all[i] = &countingHandler{want: int64(objects + b.N), done: make(chan struct{})}
					if _, err := informer.AddEventHandler(all[i]); err != nil {
						b.Fatal(err)
					}
				}
				stop := runInformer(b, informer)
				b.ReportAllocs()
				b.ResetTimer()
				for n := range b.N {
					source.events <- watch.Event{Type: watch.Modified, Object: versions[n/objects%2][n%objects]}
				}
				for _, h := range all {
					<-h.done
				}
				b.StopTimer()
				stop()
			})
		}
	}
}

func runInformer(tb testing.TB, informer SharedInformer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { informer.RunWithContext(ctx) })
	if !WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		tb.Fatal("the informer did not sync")
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// BenchmarkInitialList fills an informer with 100,000 objects and one handler, and reports the memory retained per object.
// 1280 bytes of it are the pod itself, which the reflector extracts from the list.
func BenchmarkInitialList(b *testing.B) {
	const objects = 100_000
	for _, im := range impls {
		b.Run("impl="+im.name, func(b *testing.B) {
			source := &scriptedSource{pods: podsAt(objects, 1), events: make(chan watch.Event)}
			b.ReportAllocs()
			kept := 0.0
			for range b.N {
				b.StopTimer()
				list, err := source.List(metav1.ListOptions{})
				if err != nil {
					b.Fatal(err)
				}
				fixed := &fixedSource{scriptedSource: source, list: list}
				handler := &countingHandler{want: objects, done: make(chan struct{})}
				before := heapInUse()
				b.StartTimer()

				informer := im.newInformer(fixed, byNamespace())
				if _, err := informer.AddEventHandler(handler); err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				wg.Go(func() { informer.RunWithContext(ctx) })
				<-handler.done

				b.StopTimer()
				kept += float64(heapInUse()-before) / objects
				cancel()
				wg.Wait()
				runtime.KeepAlive(list)
				b.StartTimer()
			}
			b.ReportMetric(kept/float64(b.N), "kept-B/object")
		})
	}
}

// fixedSource always returns the same list, so that building it is not measured.
type fixedSource struct {
	*scriptedSource
	list k8sruntime.Object
}

func (s *fixedSource) List(metav1.ListOptions) (k8sruntime.Object, error) { return s.list, nil }

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkReplace replaces 100,000 stored objects with new ones, 2% of which changed their label.
func BenchmarkReplace(b *testing.B) {
	const objects = 100_000
	lists := make([][]any, 2)
	for v := range lists {
		for i := range objects {
			pod := podAt(i, v+1)
			if i%100 == v {
				pod.Labels = map[string]string{"changed": "true"}
			}
			lists[v] = append(lists[v], pod)
		}
	}
	byLabel := byNamespace()
	byLabel["changed"] = func(obj any) ([]string, error) { return []string{obj.(*v1.Pod).Labels["changed"]}, nil }
	for name, indexers := range map[string]Indexers{"none": {}, "namespace": byNamespace(), "namespace+label": byLabel} {
		for _, im := range impls {
			b.Run(fmt.Sprintf("indexers=%s/impl=%s", name, im.name), func(b *testing.B) {
				indexer := im.newIndexer(MetaNamespaceKeyFunc, copyOf(indexers))
				if err := indexer.Replace(lists[0], "1"); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				b.ResetTimer()
				for n := range b.N {
					if err := indexer.Replace(lists[(n+1)%2], "2"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func copyOf(indexers Indexers) Indexers {
	c := Indexers{}
	for name, fn := range indexers {
		c[name] = fn
	}
	return c
}

// BenchmarkStore measures single operations on a store of 10,000 objects.
func BenchmarkStore(b *testing.B) {
	const objects = 10_000
	versions := [][]*v1.Pod{podsAt(objects, 1), podsAt(objects, 2)}
	for _, op := range []struct {
		name string
		run  func(indexer Indexer, n int) error
	}{
		{"update", func(x Indexer, n int) error { return x.Update(versions[n/objects%2][n%objects]) }},
		{"addDelete", func(x Indexer, n int) error {
			pod := versions[0][n%objects]
			if err := x.Delete(pod); err != nil {
				return err
			}
			return x.Add(pod)
		}},
		{"getByKey", func(x Indexer, n int) error {
			_, _, err := x.GetByKey("namespace-1/pod-000001")
			return err
		}},
		{"byIndex", func(x Indexer, n int) error {
			_, err := x.ByIndex(NamespaceIndex, "namespace-1")
			return err
		}},
		{"indexKeys", func(x Indexer, n int) error {
			_, err := x.IndexKeys(NamespaceIndex, "namespace-1")
			return err
		}},
		{"list", func(x Indexer, n int) error { x.List(); return nil }},
	} {
		for _, im := range impls {
			b.Run(fmt.Sprintf("op=%s/impl=%s", op.name, im.name), func(b *testing.B) {
				indexer := im.newIndexer(MetaNamespaceKeyFunc, byNamespace())
				for _, pod := range versions[0] {
					if err := indexer.Add(pod); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				b.ResetTimer()
				for n := range b.N {
					if err := op.run(indexer, n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkStoreParallel measures parallel readers with one writer.
func BenchmarkStoreParallel(b *testing.B) {
	const objects = 10_000
	pods := podsAt(objects, 1)
	for _, im := range impls {
		b.Run("impl="+im.name, func(b *testing.B) {
			indexer := im.newIndexer(MetaNamespaceKeyFunc, byNamespace())
			for _, pod := range pods {
				if err := indexer.Add(pod); err != nil {
					b.Fatal(err)
				}
			}
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Microsecond):
						_ = indexer.Update(pods[n%objects])
					}
				}
			})
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := indexer.GetByKey("namespace-1/pod-000001"); err != nil {
						b.Error(err)
					}
					if _, err := indexer.ByIndex(NamespaceIndex, "namespace-1"); err != nil {
						b.Error(err)
					}
				}
			})
			close(stop)
			wg.Wait()
		})
	}
}

// BenchmarkQueue writes one delta and pops it.
func BenchmarkQueue(b *testing.B) {
	pods := podsAt(1000, 1)
	nothing := func(any, bool) error { return nil }
	for _, im := range impls {
		b.Run("queue=atomic/impl="+im.name, func(b *testing.B) {
			q := im.newQueue(RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
			b.ReportAllocs()
			for n := range b.N {
				if err := q.Update(pods[n%len(pods)]); err != nil {
					b.Fatal(err)
				}
				if _, err := q.Pop(nothing); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("queue=batch/impl="+im.name, func(b *testing.B) {
			q := im.newQueue(RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true})
			batch := func([]Delta, bool) error { return nil }
			b.ReportAllocs()
			for n := range b.N {
				if err := q.Update(pods[n%len(pods)]); err != nil {
					b.Fatal(err)
				}
				if n%100 == 99 || n == b.N-1 {
					if err := q.PopBatch(batch, nothing); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run("queue=delta/impl="+im.name, func(b *testing.B) {
			q := im.newDelta(DeltaFIFOOptions{EmitDeltaTypeReplaced: true})
			b.ReportAllocs()
			for n := range b.N {
				if err := q.Update(pods[n%len(pods)]); err != nil {
					b.Fatal(err)
				}
				if _, err := q.Pop(nothing); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
