package stack_test

import (
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// An event in these benchmarks is an update of one of N pods, from the write to the return of every handler. Run them side by
// side:
//
//	go test ./subjects/stack -run '^$' -bench 'StackEvent|ClientGoEvent' -benchmem

func podNamespace(i int) string { return "ns-" + strconv.Itoa(i%10) }

func newPod(i int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: podNamespace(i), Name: "pod-" + strconv.Itoa(i), Labels: map[string]string{"app": "bench"},
		UID: types.UID("uid-" + strconv.Itoa(i)),
	}}
}

// podRing supplies the objects of a benchmark without allocating while the clock runs: there are two of every pod, which take
// turns as the newest version of their key. By the time one is reused, nothing refers to it any more: its twin has replaced it.
type podRing struct {
	pods []corev1.Pod
	next int
}

func newPodRing(objects int) *podRing {
	r := &podRing{pods: make([]corev1.Pod, 2*objects)}
	for i := range r.pods {
		r.pods[i] = *newPod(i % objects)
	}
	return r
}

func (r *podRing) get() *corev1.Pod {
	p := &r.pods[r.next]
	if r.next++; r.next == len(r.pods) {
		r.next = 0
	}
	p.ResourceVersion = ""
	return p
}

func benchmarkSizes(b *testing.B, run func(b *testing.B, handlers, objects int)) {
	for _, objects := range []int{1_000, 100_000} {
		for _, handlers := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("objects=%d/handlers=%d", objects, handlers), func(b *testing.B) { run(b, handlers, objects) })
		}
	}
}

// BenchmarkStackEvent measures the step engine: Store commit, replica, connection, Reflector, DeltaFIFO, Indexer with a namespace
// index, handlers; each a choice of its own, hashed and, with tracing on, written to a trace.
func BenchmarkStackEvent(b *testing.B) {
	for _, traced := range []bool{false, true} {
		b.Run(fmt.Sprintf("trace=%v", traced), func(b *testing.B) {
			benchmarkSizes(b, func(b *testing.B, handlers, objects int) { benchmarkStack(b, handlers, objects, traced) })
		})
	}
}

func benchmarkStack(b *testing.B, handlers, objects int, traced bool) {
	k := sim.NewKernel(sim.Options{Strategy: sim.NewFIFO(), Start: sim.Header{}.Digest()})
	w := &benchWriter{k: k, maker: newPodRing(objects), objects: objects}
	w.id = k.Register(w)
	w.cluster = fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})
	res, err := w.cluster.AddResource(store.Resource{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true,
		New: func() runtime.Object { return &corev1.Pod{} }})
	if err != nil {
		b.Fatal(err)
	}
	w.res = res
	w.handlers = handlers
	if traced {
		tw, err := sim.NewTraceWriter(k, io.Discard, sim.Header{})
		if err != nil {
			b.Fatal(err)
		}
		k.Observe(tw)
	}
	k.Clock().Freeze()
	k.Offer(w.id, kindWrite, opFill)
	for k.Step() {
	}
	k.Offer(w.id, kindWrite, opStart)
	for k.Step() {
	}
	if err := k.Err(); err != nil || w.informer.Len() != objects {
		b.Fatalf("the informer has %d of %d objects: %v", w.informer.Len(), objects, err)
	}
	before := k.Steps()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		k.Offer(w.id, kindWrite, opUpdate)
		for k.Step() {
		}
	}
	b.StopTimer()
	// A write, an apply, a delivery, a pop, and the handlers.
	if got, want := k.Steps()-before, uint64(b.N*(4+handlers)); got != want {
		b.Fatalf("%d events took %d steps, want %d: %v", b.N, got, want, k.Err())
	}
	told := &tally{kind: subjects.KindNotify}
	k.Observe(told)
	k.Offer(w.id, kindWrite, opUpdate)
	for k.Step() {
	}
	if told.n != handlers || told.rv != w.cluster.Store().Revision() {
		b.Fatalf("%d handlers were called %d times, last for revision %d; the store is at %d", handlers, told.n, told.rv, w.cluster.Store().Revision())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

var kindWrite = sim.RegisterKind("bench-write", sim.ClassAction)

// The operations of a benchWriter's choices.
const (
	opFill = iota
	opStart
	opUpdate
)

// benchWriter is the actor that fills the store, starts the informer, and writes the updates.
type benchWriter struct {
	k        *sim.Kernel
	id       sim.ActorID
	cluster  *fakeapiserver.Cluster
	res      store.ResourceID
	maker    *podRing
	objects  int
	handlers int
	updates  int
	informer subjects.Informer
}

// compactEvery is the number of updates between compactions, and the number of revisions that each of them keeps.
const compactEvery = 5000

func (*benchWriter) Name() string { return "writer" }

func (w *benchWriter) Apply(c sim.Choice) {
	var err error
	switch c.Target {
	case opFill:
		for i := range w.objects {
			if _, err = w.cluster.Create(w.res, newPod(i)); err != nil {
				break
			}
		}
	case opStart:
		spec := subjects.InformerSpec{Name: "i1", Resource: w.res, Queue: subjects.QueueDelta}
		for h := range w.handlers {
			spec.Handlers = append(spec.Handlers, subjects.HandlerSpec{Name: "h" + strconv.Itoa(h)})
		}
		w.informer, err = stack.Kind.New(subjects.Dependencies{Kernel: w.k, Cluster: w.cluster}).AddInformer(spec)
	case opUpdate:
		_, err = w.cluster.Update(w.res, w.maker.get())
		// Clusters are compacted every few minutes. Without that, this would measure a log that grows for ever.
		if w.updates++; err == nil && w.updates%compactEvery == 0 {
			err = w.cluster.CompactStore(w.cluster.Store().Revision() - compactEvery)
		}
	}
	if err != nil {
		w.k.Fail(err)
	}
}

type tally struct {
	kind sim.Kind
	n    int
	rv   int64 // of the last one
}

func (t *tally) Record(r *sim.Record) {
	if r.Kind == t.kind {
		t.n++
		t.rv = r.RV
	}
}
func (*tally) StepEnd(*sim.StepInfo) {}

// BenchmarkClientGoEvent measures client-go's own shared informer with the same objects, index and handlers, fed from an
// in-memory watch as fast as it takes them.
func BenchmarkClientGoEvent(b *testing.B) {
	benchmarkSizes(b, benchmarkClientGo)
}

func benchmarkClientGo(b *testing.B, handlers, objects int) {
	ring := newPodRing(objects)
	events := make(chan watch.Event, 100)
	stop := make(chan struct{})
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range objects {
		c := ring.pods[i]
		c.ResourceVersion = "1"
		list.Items = append(list.Items, c)
	}
	lw := &cache.ListWatch{
		ListFunc: func(metav1.ListOptions) (runtime.Object, error) { return list, nil },
		WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) {
			return watch.NewProxyWatcher(events), nil
		},
		DisableChunking: true,
	}
	inf := cache.NewSharedIndexInformer(listOnly{lw}, &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	var told atomic.Int64
	for range handlers {
		if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { told.Add(1) }}); err != nil {
			b.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() { inf.Run(stop); close(done) }()
	if !cache.WaitForCacheSync(stop, inf.HasSynced) {
		b.Fatal("the informer does not sync")
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if i%256 == 0 {
			// The ring's pods may be reused only after every handler has returned.
			for told.Load() < int64((i-objects/2)*handlers) {
				time.Sleep(10 * time.Microsecond)
			}
		}
		p := ring.get()
		p.ResourceVersion = strconv.Itoa(i + 2)
		events <- watch.Event{Type: watch.Modified, Object: p}
	}
	for told.Load() < int64(b.N*handlers) {
		time.Sleep(10 * time.Microsecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	close(stop)
	<-done
}

// listOnly keeps the informer from asking for a streaming list, which this source does not support.
type listOnly struct{ cache.ListerWatcher }

func (listOnly) IsWatchListSemanticsUnSupported() bool { return true }
