package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
)

// shortest adds a key to a delaying queue for as short a time as there is. It waits all the same.
func (c *check) shortest() {
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: now})
	q.AddAfter("a", 1)
	c.quiesce()
	c.is("how many keys are ready that were added for 1 ns", 0, q.Len())
	now.Step(1)
	c.quiesce()
	c.is("how many keys are ready that were added for 1 ns, after that time", 1, q.Len())
	q.ShutDown()
	c.quiesce()
}

// listed reads all of an ExpirationCache, which makes nothing young.
func (c *check) listed(ttl time.Duration) {
	later := &ahead{}
	s := cache.NewExpirationStore(cache.MetaNamespaceKeyFunc, &cache.TTLPolicy{TTL: ttl, Clock: later})
	c.no("Add", s.Add(object("c", 1)))
	time.Sleep(time.Nanosecond) // the store has a clock of its own
	c.is("List of an ExpirationCache", []string{"c@1"}, texts(s.List()))
	c.is("ListKeys of an ExpirationCache", []string{"c"}, s.ListKeys())
	later.by = ttl
	c.is("List of an ExpirationCache behind the TTL, which was listed meanwhile", []string{}, texts(s.List()))
}

// renamedDeltas has a DeltaFIFO give two objects another name, which is one for both. They are queued under the keys that they came with.
func (c *check) renamedDeltas() {
	q := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{EmitDeltaTypeReplaced: true, KnownObjects: stored{}, Transformer: func(obj any) (any, error) {
		o := obj.(*metav1.PartialObjectMetadata).DeepCopy()
		o.Name = "z"
		return o, nil
	}})
	a, b := object("ns1/a", 1), object("ns1/b", 2)
	want := []string{"Added ns1/z@1", "Added ns1/z@2"}
	if c.IntN(2) == 0 {
		c.no("Replace", q.Replace([]any{a, b}, "2"))
		want = []string{"Replaced ns1/z@1", "Replaced ns1/z@2"}
	} else {
		c.no("Add", q.Add(a))
		c.no("Add", q.Add(b))
	}
	q.Close()
	for _, want := range want {
		popped, err := q.Pop(func(any, bool) error { return nil })
		c.no("Pop of a DeltaFIFO that renames", err)
		deltas, _ := popped.(cache.Deltas) // none says so below
		c.is("what comes of one of two objects that a DeltaFIFO gives one name", want, delta(deltas))
	}
}

// batchEnds has a RealFIFO transform an object into something that has no key, between others. Before v0.38 a batch ends with it.
func (c *check) batchEnds() {
	lost := c.key()
	q := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, Transformer: func(obj any) (any, error) {
		if key, _ := cache.MetaNamespaceKeyFunc(obj); key == lost {
			return "no object", nil
		}
		return obj, nil
	}})
	for _, key := range keys {
		c.no("Add", q.Add(object(key, 1)))
	}
	q.Close()
	at := slices.Index(keys, lost) + 1
	want := []int{at}
	switch {
	case c.minor >= 38:
		want = []int{len(keys)}
	case at < len(keys):
		want = append(want, len(keys)-at)
	}
	var got []int
	for range want {
		c.no("PopBatch", q.PopBatch(func(deltas []cache.Delta, _ bool) error { got = append(got, len(deltas)); return nil }, func(any, bool) error { got = append(got, 1); return nil }))
	}
	c.is(fmt.Sprintf("how many of %d objects come at once, of which number %d has no key", len(keys), at), want, got)
}

// takesWhenClosed gives a queue that was closed something. It comes, and then the queue says that it is closed.
func (c *check) takesWhenClosed() {
	name, q, _ := c.either()
	q.Close()
	c.no("Add to "+name+" that was closed", q.Add(object("c", 1)))
	q.Close()
	for _, want := range []string{"Added c@1", "<nil>"} {
		popped, err := q.Pop(func(any, bool) error { return nil })
		c.is("Pop of "+name+" that was closed, and given an object then", want, delta(popped))
		c.is("whether it says then that it is closed", want == "<nil>", errors.Is(err, cache.ErrFIFOClosed))
	}
}

// repeatedValue has a mutation cache ask an index function that says a value twice.
func (c *check) repeatedValue() {
	backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"twice": func(obj any) ([]string, error) {
		name := obj.(*metav1.PartialObjectMetadata).Name
		return []string{name, "all", name, "all"}, nil
	}})
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, time.Hour, true)
	c.no("Add", backing.Add(object("ns1/b", 1)))
	s.Mutation(object("ns1/a", 2))
	for value, want := range byName(map[string][]string{"all": {"ns1/a@2", "ns1/b@1"}, "a": {"ns1/a@2"}, "b": {"ns1/b@1"}}) {
		objs, err := s.ByIndex("twice", value)
		c.no("ByIndex", err)
		c.is("ByIndex of a mutation cache with a value that each object has twice", want, texts(objs))
	}
}

// nothing asks a store for what it does not have: that is an empty list, as of what it does have, and not none at all.
func (c *check) nothing() {
	x := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	objs, err := x.ByIndex(cache.NamespaceIndex, "absent")
	c.no("ByIndex", err)
	c.is("ByIndex of a value that nothing has", []any{}, objs)
	objs, err = x.Index(cache.NamespaceIndex, object("ns1/a", 1))
	c.no("Index", err)
	c.is("Index of a value that nothing has", []any{}, objs)
	c.is("List and ListKeys of an empty store", [2]any{[]any{}, []string{}}, [2]any{x.List(), x.ListKeys()})
}

// refusedWatch is a server whose watch cannot be opened. If it is not that the server is busy, or gone, a list follows.
func (t *trouble) refusedWatch() func() {
	of := []error{
		apierrors.NewServerTimeout(schema.GroupResource{Resource: "things"}, "watch", 0), apierrors.NewTimeoutError("it takes too long", 0), apierrors.NewServiceUnavailable("it is away"),
		apierrors.NewInternalError(errors.New("it is broken")), apierrors.NewUnauthorized("who is it?"), errors.New("it is broken"),
	}[t.IntN(6)]
	t.from.watch1 = of
	return func() {
		t.requests(fmt.Sprintf("after a watch that could not be opened because %v", of), 2, 2)
	}
}

// unorderedTold is a store that is told of revisions, once what its watch begins with, in no order, is over.
func (t *trouble) unorderedTold() func() {
	t.from.list.ResourceVersion = ""
	s := &noted{Store: t.s}
	t.r = cache.NewReflectorWithOptions(t.from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{Name: "r", Clock: t.now, Backoff: &wait.Backoff{}})
	return func() {
		t.from.watch.Add(object("c", 6))
		t.from.watch.Modify(object("ns1/a", 7))
		t.from.watch.Add(object("ns1/b", 8))
		t.quiesce()
		t.is("what a store is told of an addition, an update, and another addition, behind a list of no revision",
			[]string{"Add c@6", "Update ns1/a@7", "revision 7", "Add ns1/b@8", "revision 8"}, s.calls)
	}
}

// onlyForeign is a server whose watch has nothing but objects of a kind that was not asked for, and ends at once: that is a watch without events, behind
// which a list follows.
func (t *trouble) onlyForeign() func() {
	return func() {
		for range 1 + t.IntN(2) {
			t.from.watch.Add(&metav1.Status{})
		}
		t.quiesce()
		t.from.watch.Stop()
		t.quiesce()
		t.requests("after a watch with nothing but objects of another kind, which ended at once", 2, 2)
	}
}

// foreignBookmark is a server that has a bookmark of a kind that was not asked for, which counts no more than other events, and one that was.
func (t *trouble) foreignBookmark() func() {
	own := runtime.Object(object("", 10))
	mark := &unstructured.Unstructured{}
	mark.SetAPIVersion("v1")
	mark.SetKind("Service")
	mark.SetResourceVersion("9")
	of := "a type"
	if t.IntN(2) == 0 {
		pod := &unstructured.Unstructured{}
		pod.SetAPIVersion("v1")
		pod.SetKind("Pod")
		marks := pod.DeepCopy()
		marks.SetResourceVersion("10")
		own, of, t.from.list.Items = marks, "a kind", nil
		t.r = cache.NewReflectorWithOptions(t.from, pod, t.s, cache.ReflectorOptions{Name: "r", Clock: t.now, Backoff: &wait.Backoff{}})
	}
	return func() {
		t.from.watch.Action(watch.Bookmark, mark)
		t.quiesce()
		t.is("LastSyncResourceVersion after a bookmark of "+of+" that was not asked for", "5", t.r.LastSyncResourceVersion())
		t.from.watch.Action(watch.Bookmark, own)
		t.quiesce()
		t.is("LastSyncResourceVersion after a bookmark of "+of+" that was asked for", "10", t.r.LastSyncResourceVersion())
	}
}

// leftOver shuts a work queue down of which several keys are processed. Those that are left come all the same, and then it says so.
func (c *check) leftOver() {
	q := workqueue.NewTyped[string]()
	for _, key := range keys {
		q.Add(key)
	}
	taken := c.IntN(len(keys) + 1)
	for n, key := range keys {
		if n == taken {
			q.ShutDown()
		}
		got, shutdown := q.Get()
		c.is(fmt.Sprintf("Get of key %d of a queue that is shut down when %d are processed", n+1, taken), [2]any{key, false}, [2]any{got, shutdown})
	}
	q.ShutDown()
	_, shutdown := q.Get()
	c.is("whether Get of a queue that is shut down, and empty, says so", true, shutdown)
}

// seenBeforeSynced is an informer that still writes its first list into its store. It has not synced, and says which revision its reflector has seen.
func (c *check) seenBeforeSynced() {
	from := newSource(object("ns1/a", 1), object("ns1/b", 2))
	var first sync.Once
	arrived, leave := make(chan struct{}), make(chan struct{})
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{"gate": func(any) ([]string, error) {
		first.Do(func() {
			close(arrived)
			<-leave
		})
		return nil, nil
	}})
	stop, ended := running(inf.RunWithContext)
	if c.comes("the call of an index function for a list", arrived) {
		time.Sleep(1) // until the reflector has nothing left to do
		c.is("HasSynced of an informer that writes its first list", false, inf.HasSynced())
		var at string
		if c.returns("LastSyncResourceVersion", func() { at = inf.LastSyncResourceVersion() }) {
			c.is("LastSyncResourceVersion of an informer that writes its first list", from.list.ResourceVersion, at)
		}
	}
	close(leave)
	stop()
	c.quiesce()
	c.is("whether an informer returns that is stopped while it writes its first list", true, closed(ended))
}

// runsAgain runs an informer that has ended. That does nothing, and returns.
func (c *check) runsAgain() {
	from := newSource(object("ns1/a", 1))
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	stop, _ := running(inf.RunWithContext)
	c.quiesce()
	stop()
	c.quiesce()
	again, ended := running(func(ctx context.Context) { quietly(func() bool { inf.RunWithContext(ctx); return true }) })
	c.quiesce()
	c.is("whether Run of an informer returns that has ended", true, closed(ended))
	c.is("how many lists there were of an informer that ran twice", 1, len(from.listed))
	again()
	c.quiesce()
}

// shutsBusy removes a handler that has synced, and is busy with a change, and waits for it.
func (c *check) shutsBusy() {
	from, leave := newSource(object("ns1/a", 1)), make(chan struct{})
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	reg, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { <-leave }})
	c.no("AddEventHandler", err)
	stop, _ := running(inf.RunWithContext)
	c.quiesce()
	from.watch.Modify(object("ns1/a", 6))
	c.quiesce()
	c.is("HasSynced of a handler that is busy with a change", true, reg.HasSynced())
	before, after := c.waits(func() { err = cache.ShutDownEventHandler(inf, reg) }, func() { close(leave) })
	c.is("whether ShutDownEventHandler waits for a handler that is busy with a change, and when it is not", [2]bool{true, false}, [2]bool{before, after})
	stop()
	c.quiesce()
}

// sameGeneration has an object change beside its spec. A handler that is not resynced is told all the same. One that comes late has a resync period of a
// second at least, if the informer looks for resyncs more often, too.
func (c *check) sameGeneration() {
	obj := func(revision int) *metav1.PartialObjectMetadata {
		o := object("ns1/a", revision)
		o.Generation = 3
		return o
	}
	from, all := newSource(obj(1)), []string{}
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 400*time.Millisecond, cache.Indexers{})
	_, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, now any) { all = append(all, text(old)+" "+text(now)) }}, 0)
	c.no("AddEventHandlerWithResyncPeriod", err)
	stop, _ := running(inf.RunWithContext)
	time.Sleep(time.Second) // until the informer has looked who is resynced: before that, all are
	c.quiesce()
	from.watch.Modify(obj(6))
	c.quiesce()
	late, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, 100*time.Millisecond)
	c.no("AddEventHandlerWithResyncPeriod of an informer that runs", err)
	c.inside("the resync period of a handler that comes late, and asks for less than an informer that looks every 400 ms", time.Second, late, "resyncPeriod")
	stop()
	c.quiesce()
	c.is("what a handler is told of a change with the same generation", []string{"ns1/a@1 ns1/a@6"}, all)
}

// goesOnUnindexed has a store write an object that cannot be indexed. That panics, and no more: the store has the object, under no value of the index, and goes on.
func (c *check) goesOnUnindexed() {
	x := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"odd": func(obj any) ([]string, error) {
		if obj.(*metav1.PartialObjectMetadata).ResourceVersion == unmade {
			return nil, errRefused
		}
		return []string{"all"}, nil
	}})
	odd := object("ns1/b", 0)
	odd.ResourceVersion = unmade
	call := []func(any) error{x.Add, x.Update}[c.IntN(2)]
	var broken any
	func() {
		defer func() { broken = recover() }()
		c.no("a write of what cannot be indexed", call(odd))
	}()
	c.is("a write of what cannot be indexed panics", `unable to calculate an index entry for key "ns1/b" on index "odd": `+errRefused.Error(), fmt.Sprint(broken))
	if !c.returns("Add to a store with what could not be indexed", func() { c.no("Add", x.Add(object("ns1/a", 1))) }) {
		return
	}
	c.is("ListKeys of a store with what could not be indexed", []string{"ns1/a", "ns1/b"}, sorted(x.ListKeys()))
	of, err := x.IndexKeys("odd", "all")
	c.no("IndexKeys", err)
	c.is("IndexKeys of a store with what could not be indexed", []string{"ns1/a"}, of)
}

// keepsKnown has a store refuse a list of an object that it has, since that cannot be transformed. It keeps what it has.
func (c *check) keepsKnown() {
	s := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(made))
	m := model{}
	for _, key := range keys {
		m[key] = object(key, 1)
		c.no("Add", s.Add(m[key]))
	}
	bad := object(c.key(), 0)
	bad.ResourceVersion = unmade
	c.refused("Replace by what cannot be transformed", s.Replace([]any{object("c", 2), bad}, "2"))
	c.holds(" that has refused a list", s, m)
}
