package library

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
)

// stillBusy is a server that refuses a watch, and another one after a calm of not quite two minutes, by the reflector's clock, or of two minutes. Only then is the
// pause short again.
func (t *trouble) stillBusy() func() {
	const first = time.Second
	t.r = cache.NewReflectorWithOptions(t.from, &metav1.PartialObjectMetadata{}, t.s, cache.ReflectorOptions{
		Name: "r", Clock: t.now, Backoff: &wait.Backoff{Duration: first, Factor: 2, Steps: 8, Cap: time.Hour},
	})
	later := apierrors.NewTooManyRequests("later", 0)
	t.from.watch1 = later
	return func() {
		t.now.Step(first)
		t.quiesce()
		t.requests("after the first pause", 1, 2)
		pause, calm := 2*first, 2*time.Minute-first // counted from when the reflector was made
		if t.IntN(2) == 0 {
			pause, calm = first, calm+1
		}
		t.now.Step(calm)
		t.from.watch.Error(&later.ErrStatus)
		t.quiesce()
		t.now.Step(pause - 1)
		t.quiesce()
		t.requests(fmt.Sprintf("just before a pause ends that follows a calm of %v", calm), 1, 2)
		t.now.Step(1)
		t.quiesce()
		t.requests(fmt.Sprintf("after a pause that follows a calm of %v", calm), 1, 3)
	}
}

// brief is a server whose watches end without an event. Behind one that has lasted for a second there is another watch; one that has lasted for less was none, and
// there is a list.
func (t *trouble) brief() func() {
	return func() {
		lists, watches := 1, 1
		for _, lasts := range []time.Duration{time.Minute, []time.Duration{time.Second, time.Second - 1, 0}[t.IntN(3)]} {
			t.now.Step(lasts)
			t.from.watch.Stop()
			t.quiesce()
			if watches++; lasts < time.Second {
				lists++
			}
			t.requests(fmt.Sprintf("after a watch without events that has lasted for %v", lasts), lists, watches)
		}
	}
}

// unreachable is a server that refuses the connection of a watch. It is asked again later, for a watch from where the list was.
func (t *trouble) unreachable() func() {
	const pause = 10 * time.Second
	t.reflects(&metav1.PartialObjectMetadata{}, pause)
	t.from.watch1 = fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	return func() {
		t.requests("before a pause after a connection that was refused", 1, 1)
		t.now.Step(pause)
		t.quiesce()
		t.requests("after that pause", 1, 2)
	}
}

// undetailed is a list that takes too long, of which the server says nothing else.
func (c *check) undetailed() {
	late := apierrors.NewTimeoutError("it takes too long", 1)
	late.ErrStatus.Details = nil
	from := &refusing{source: *newSource(), list1: late}
	r := cache.NewReflector(from, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	var err error
	if c.returns("ListAndWatch of a list that takes too long", func() { err = r.ListAndWatchWithContext(context.Background()) }) {
		c.is("whether ListAndWatch says that a list takes too long", true, errors.Is(err, late))
	}
}

// streamsSlowly is a reflector that waits for the end of a streaming list, and looks at it from time to time. It looks no more once the list has ended; if it is stopped
// before, it leaves the list, and asks for nothing else.
func (c *check) streamsSlowly() {
	from, now := &stream{end: 5, plan: []string{"slow"}}, &ticking{FakeClock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	from.list = &metav1.PartialObjectMetadataList{}
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), cache.ReflectorOptions{
		Name: "r", Clock: now, Backoff: &wait.Backoff{},
	})
	stop, ended := running(r.RunWithContext)
	c.quiesce()
	c.is("how many tickers a reflector has that waits for the end of a streaming list", int32(1), now.tickers.Load())
	if c.IntN(2) == 0 {
		from.ends()
		c.quiesce()
		c.is("how many tickers a reflector has whose streaming list has ended", int32(0), now.tickers.Load())
	}
	stop()
	c.quiesce()
	c.is("whether a reflector has ended that is stopped in a stream", true, closed(ended))
	c.is("how many lists and watches there were of a reflector that is stopped in a stream", [2]int{0, 1}, [2]int{len(from.listed), len(from.watched)})
	c.is("whether a reflector has left its stream that is stopped", true, from.watch.IsStopped())
	c.is("how many tickers a reflector has that is stopped", int32(0), now.tickers.Load())
}

// readersWait has somebody read a store by each of the ways there are, while two objects are written at once: there are both of them, or there is none.
func (c *check) readersWait() {
	for call, read := range byName(map[string]func(cache.ThreadSafeStore) (int, error){
		"List":     func(s cache.ThreadSafeStore) (int, error) { return len(s.List()), nil },
		"ListKeys": func(s cache.ThreadSafeStore) (int, error) { return len(s.ListKeys()), nil },
		"Get": func(s cache.ThreadSafeStore) (found int, err error) {
			for _, key := range keys[:2] {
				if _, exists := s.Get(key); exists {
					found++
				}
			}
			return found, nil
		},
		"ByIndex": func(s cache.ThreadSafeStore) (int, error) {
			objs, err := s.ByIndex("name", "all")
			return len(objs), err
		},
		"Index":               func(s cache.ThreadSafeStore) (int, error) { objs, err := s.Index("name", "any"); return len(objs), err },
		"IndexKeys":           func(s cache.ThreadSafeStore) (int, error) { of, err := s.IndexKeys("name", "all"); return len(of), err },
		"ListIndexFuncValues": func(s cache.ThreadSafeStore) (int, error) { return len(s.ListIndexFuncValues("name")) - 1, nil },
		"LastStoreSyncResourceVersion": func(s cache.ThreadSafeStore) (int, error) {
			if s.LastStoreSyncResourceVersion() == "" && features.FeatureGates().Enabled(features.AtomicFIFO) {
				return 0, nil
			}
			return 2, nil
		},
	}) {
		arrived, leave, written := make(chan struct{}), make(chan struct{}), 0
		s := cache.NewThreadSafeStore(cache.Indexers{"name": func(obj any) ([]string, error) {
			o, ok := obj.(*metav1.PartialObjectMetadata)
			if !ok {
				return []string{"all"}, nil
			}
			if written++; written == 1 { // the store has the one already, and nothing of the other
				close(arrived)
				<-leave
			}
			return []string{"all", o.Name}, nil
		}}, cache.Indices{}).(cache.ThreadSafeStoreWithTransaction)
		var txns []cache.ThreadSafeStoreTransaction
		for _, key := range keys[:2] {
			txns = append(txns, cache.ThreadSafeStoreTransaction{Transaction: cache.Transaction{Type: cache.TransactionTypeAdd, Object: object(key, 1)}, Key: key})
		}
		go s.Transaction(txns...)
		if !c.comes("the call of an index function for the first of two objects", arrived) {
			return
		}
		var found int
		var err error
		c.meanwhile(leave, func() { found, err = read(s) })
		c.no(call, err)
		c.is("how much of two objects that are written at once "+call+" finds", 2, found)
	}
}

// addedInWrite adds a handler to an informer that was told to stop, and still writes its store. Neither waits for the other for ever.
func (c *check) addedInWrite() {
	from, arrived, leave := newSource(object("ns1/a", 1)), make(chan struct{}), make(chan struct{})
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{"gate": func(obj any) ([]string, error) {
		if obj.(*metav1.PartialObjectMetadata).ResourceVersion == "6" {
			close(arrived)
			<-leave
		}
		return nil, nil
	}})
	stop, ended := running(inf.RunWithContext)
	c.quiesce()
	from.watch.Modify(object("ns1/a", 6))
	if !c.comes("the call of an index function for an update", arrived) {
		stop()
		return
	}
	stop()
	crowd()
	added := make(chan struct{})
	go func() {
		defer close(added)
		_, _ = inf.AddEventHandler(cache.ResourceEventHandlerFuncs{}) // which may be too late
	}()
	crowd()
	close(leave)
	c.quiesce()
	c.is("whether an informer has ended that was stopped while it wrote its store, and whether a handler was added meanwhile", [2]bool{true, true}, [2]bool{closed(ended), closed(added)})
}

// stamps is a policy that notes when an entry was made.
type stamps struct {
	at      time.Time
	expired bool
}

// IsExpired implements cache.ExpirationPolicy.
func (p *stamps) IsExpired(entry *cache.TimestampedEntry) bool {
	p.at = entry.Timestamp
	return p.expired
}

// stamped is a store for tests with a clock of its own, which need not tell anybody of what expires.
func (c *check) stamped() {
	later, policy := &ahead{by: time.Hour}, &stamps{}
	s := cache.NewFakeExpirationStore(cache.MetaNamespaceKeyFunc, nil, policy, later)
	c.no("Add", s.Add(object("c", 1)))
	for _, policy.expired = range []bool{false, true} {
		var exists bool
		if !c.returns("GetByKey of a store that tells nobody of what expires", func() { _, exists, _ = s.GetByKey("c") }) {
			return
		}
		c.is("whether a store has what has expired", !policy.expired, exists)
		c.is("when an object was added to a store with a clock of its own", later.Now(), policy.at)
	}
}

// leavesHeap has two wait for an empty heap, which is closed.
func (c *check) leavesHeap() {
	h := cache.NewHeap(cache.MetaNamespaceKeyFunc, earlier)
	gone := make(chan error, 2)
	for range cap(gone) {
		go func() {
			_, err := h.Pop()
			gone <- err
		}()
	}
	c.quiesce()
	h.Close()
	c.quiesce()
	c.is("how many of two have left the Pop of a Heap that was closed", cap(gone), len(gone))
	h.Close()
	c.quiesce()
}

// typedIndices adds two indices to an informer at once. Each has its own function.
func (c *check) typedIndices() {
	type T = *metav1.PartialObjectMetadata
	inf := cache.NewTypedSharedIndexInformer[T](cache.NewSharedIndexInformer(newSource(), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{}))
	c.no("AddTypedIndexers of an informer", inf.AddTypedIndexers(cache.TypedIndexers[T]{
		"name":     func(obj T) ([]string, error) { return []string{obj.Name}, nil },
		"revision": func(obj T) ([]string, error) { return []string{obj.ResourceVersion}, nil },
	}))
	x := inf.GetTypedIndexer()
	c.no("Add", x.Add(object("ns1/a", 7)))
	for index, value := range byName(map[string]string{"name": "a", "revision": "7"}) {
		found, err := x.IndexKeys(index, value)
		c.no("IndexKeys", err)
		c.is("IndexKeys of the index "+index+", which was added with another one", []string{"ns1/a"}, found)
	}
}

// buried is a mutation cache without an indexer. What it was told the end of is not there, nor another object at that version; and it can be asked for keys only.
func (c *check) buried() {
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), cache.NewStore(cache.MetaNamespaceKeyFunc), nil, time.Hour, true)
	gone, other := object("ns1/a", 6), object("ns1/a", 6)
	gone.UID, other.UID = "one", "another"
	finds := func(when string, want bool) {
		_, exists, err := s.GetByKey("ns1/a")
		c.no("GetByKey of a mutation cache", err)
		c.is("whether a mutation cache finds an object "+when, want, exists)
	}
	s.OnDelete(gone)
	finds("of which it was told the end", false)
	if c.IntN(2) == 0 { // what an informer tells late ends nothing
		late := object("ns1/a", 5)
		late.UID = gone.UID
		s.OnAddOrUpdate(late)
		s.Mutation(late)
		finds("that was written before its end", false)
		s.Mutation(gone)
		finds("at the version of its end", false)
	}
	s.Mutation(other)
	finds("at the version of the end of another one", false)
	other = object("ns1/a", 7)
	other.UID = "another"
	s.Mutation(other)
	finds("that is newer than the end of another one", true)
	_, err := s.ByIndex(cache.NamespaceIndex, "ns1")
	c.refused("ByIndex of a mutation cache without an indexer", err)
}

// noDeltas gives queues an object that is no deltas, which have no key.
func (c *check) noDeltas() {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for name, q := range byName(map[string]cache.Queue{
		"a DeltaFIFO": cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known}), "a RealFIFO": cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known}),
	}) {
		c.is("whether "+name+" says that no deltas have no key", true, errors.Is(q.Add(cache.Deltas{}), cache.ErrZeroLengthDeltasObject))
		q.Close()
	}
}

// countsResyncs is a queue with metrics that is named after its informer. A resync is queued as a list is.
func (c *check) countsResyncs(id cache.InformerNameAndResource) {
	got := &informerMeters{}
	f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{Name: "another name", AtomicEvents: true, Identifier: id, MetricsProvider: got})
	c.is("the name of a queue with the name of an informer", id.Name(), f.HasSyncedChecker().Name())
	c.no("Resync", f.Resync())
	c.is("the metric of queued items after a resync", 1.0, got.queued.last)
	c.no("Replace", f.Replace([]any{object("ns1/a", 1), object("ns1/b", 2)}, "2"))
	c.is("the metric of queued items after a resync, and a list", 2.0, got.queued.last)
	f.Close()
}

// negativeChunk does work in chunks of less than nothing, which are of one piece.
func (c *check) negativeChunk() {
	done := 0
	if c.returns("ParallelizeUntil in chunks of less than nothing", func() {
		workqueue.ParallelizeUntil(context.Background(), 1, 3, func(int) { done++ }, workqueue.WithChunkSize(-2))
	}) {
		c.is("how many of 3 pieces are done in chunks of less than nothing", 3, done)
	}
}

// inheritsKeys is a work queue with an order that has a key already.
func (c *check) inheritsKeys() {
	order := workqueue.DefaultQueue[string]()
	order.Push("a")
	q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: order})
	c.is("how many keys a work queue has whose order has one", 1, q.Len())
	q.ShutDown()
}

// neverBegun lists for somebody who has gone before. Nothing is asked for.
func (c *check) neverBegun() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := &book{objects: 6}
	for call, f := range byName(map[string]func() error{
		"List": func() error { _, _, err := pager.New(b.page).List(ctx, metav1.ListOptions{}); return err },
		"EachListItem": func() error {
			return pager.New(b.page).EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error { return nil })
		},
	}) {
		var err error
		if c.returns(call+" for somebody who has gone", func() { err = f() }) {
			c.is("whether "+call+" says that whom it is for has gone", true, errors.Is(err, context.Canceled))
		}
	}
	c.quiesce()
	c.is("how many pages are asked for when whom they are for has gone", 0, len(b.asked))
}

// endsInPage reads a list object by object, and is canceled while the first page is made. There is no second one.
func (c *check) endsInPage() {
	for range 4 {
		ctx, cancel := context.WithCancel(context.Background())
		b, read := &book{objects: 6, cancels: 1, cancel: cancel}, 0
		p := pager.New(b.page)
		p.PageSize = 2
		var err error
		if !c.returns("EachListItem", func() {
			err = p.EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error { read++; return nil })
		}) {
			return
		}
		c.quiesce()
		c.is("how many pages EachListItem asks for that is canceled in the first, and how many objects it gives", [2]int{1, 0}, [2]int{len(b.asked), read})
		c.is("whether EachListItem says that it was canceled in the first page", true, errors.Is(err, context.Canceled))
	}
}

// fakeLimiters are those that client-go has for tests: one lets all pass, the other nobody until it is stopped.
func (c *check) fakeLimiters() {
	for name, l := range byName(map[string]flowcontrol.RateLimiter{"always": flowcontrol.NewFakeAlwaysRateLimiter(), "never": flowcontrol.NewFakeNeverRateLimiter()}) {
		lets := name == "always"
		c.is("TryAccept of the limiter that lets pass "+name, lets, l.TryAccept())
		c.is("whether Wait of the limiter that lets pass "+name+" has no error", lets, l.Wait(silent) == nil)
		c.is("QPS of the limiter that lets pass "+name, float32(1), l.QPS())
		before, after := c.waits(l.Accept, l.Stop)
		c.is("whether Accept of the limiter that lets pass "+name+" waits, and once it is stopped", [2]bool{!lets, false}, [2]bool{before, after})
	}
}

// resyncedFirst resyncs a DeltaFIFO before its first list, which has one of the two objects that are queued then. It has synced when both were popped.
func (c *check) resyncedFirst() {
	q := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: stored{"ns1/a": object("ns1/a", 1), "ns1/b": object("ns1/b", 1)}, EmitDeltaTypeReplaced: true})
	c.no("Resync of a DeltaFIFO", q.Resync())
	c.no("Replace of a DeltaFIFO", q.Replace([]any{object("ns1/a", 2)}, "2"))
	q.Close()
	for n := range 2 {
		c.is(fmt.Sprintf("HasSynced of a DeltaFIFO that was resynced before its first list, after %d of 2 objects", n), false, q.HasSynced())
		_, err := q.Pop(func(any, bool) error { return nil })
		c.no("Pop of a DeltaFIFO", err)
	}
	c.is("HasSynced of a DeltaFIFO that was resynced before its first list, after both objects", true, q.HasSynced())
}

// listsKeyless is an informer whose transform makes an object of its first list into something without a key. It tells of the others, unless a list is one event.
func (c *check) listsKeyless() {
	var objects []*metav1.PartialObjectMetadata
	want, lost := []string{}, c.IntN(len(keys))
	for n, key := range keys {
		if n == lost {
			objects = append(objects, object("ns1/lost", 9))
		}
		objects, want = append(objects, object(key, n+1)), append(want, text(object(key, n+1)))
	}
	if gates := features.FeatureGates(); gates.Enabled(features.InOrderInformers) && gates.Enabled(features.AtomicFIFO) {
		want = []string{}
	}
	inf := cache.NewSharedIndexInformer(newSource(objects...), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	c.no("SetTransform", inf.SetTransform(func(obj any) (any, error) {
		if o, ok := obj.(*metav1.PartialObjectMetadata); ok && o.Name == "lost" {
			return "it has no key", nil
		}
		return obj, nil
	}))
	told := &notes{}
	_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { told.add(text(obj)) }})
	c.no("AddEventHandler", err)
	stop, ended := running(inf.RunWithContext)
	c.quiesce()
	c.is("what a handler is told of a list one of whose objects has no key", fmt.Sprintf("%q", sorted(want)), fmt.Sprintf("%q", sorted(told.all())))
	stop()
	c.quiesce()
	c.is("whether an informer has ended that is stopped, and whose list had an object without a key", true, closed(ended))
}

// slowResync is a store whose resync takes until somebody says so.
type slowResync struct {
	cache.Store
	came, leave chan struct{}
}

// Resync implements cache.ReflectorStore.
func (s *slowResync) Resync() error {
	close(s.came)
	<-s.leave
	return nil
}

// stoppedInResync is a reflector that is stopped while its store resyncs. It has ended when that has.
func (t *trouble) stoppedInResync() func() {
	s := &slowResync{Store: t.s, came: make(chan struct{}), leave: make(chan struct{})}
	t.r = cache.NewReflectorWithOptions(t.from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{
		Name: "r", Clock: t.now, Backoff: &wait.Backoff{}, ResyncPeriod: time.Minute,
	})
	return func() {
		t.now.Step(time.Minute)
		if !t.comes("a resync", s.came) {
			return
		}
		t.stop()
		t.quiesce()
		t.is("whether Run of a reflector returns that is stopped while its store resyncs", false, closed(t.ended))
		close(s.leave)
	}
}
