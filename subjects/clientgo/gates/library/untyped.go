package library

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// older are the constructors that there were before types had parameters, and functions that pass on what they are given.
func (c *check) older() {
	c.olderQueues()
	c.olderLimiters()
	c.olderInformers()
	c.wrappers()
	c.fakes()
	c.watchErrors()
}

// olderQueues say by their metrics which name they were given; each hands out what it is given, if only later.
func (c *check) olderQueues() {
	defer func(before workqueue.MetricsProvider) { queueProvider = before }(queueProvider)
	named := &queueMeters{names: map[string]int{}}
	queueProvider = named
	now := clocktesting.NewFakeClock(time.Unix(1000, 0)) // of one queue only: at a tick, each of several would count by the same meters
	stands := clocktesting.NewFakeClock(time.Unix(1000, 0))
	limiter := workqueue.NewItemExponentialFailureRateLimiter(time.Second, time.Minute)
	want := map[string]int{}
	for _, of := range []struct {
		name    string
		q       workqueue.Interface
		metrics int
	}{
		{"New", workqueue.New(), 0},
		{"NewNamed", workqueue.NewNamed("NewNamed"), 6},
		{"NewWithConfig", workqueue.NewWithConfig(workqueue.QueueConfig{Name: "NewWithConfig", Clock: stands}), 6},
		{"NewDelayingQueue", workqueue.NewDelayingQueue(), 0},
		{"NewNamedDelayingQueue", workqueue.NewNamedDelayingQueue("NewNamedDelayingQueue"), 7},
		{"NewDelayingQueueWithCustomClock", workqueue.NewDelayingQueueWithCustomClock(now, "NewDelayingQueueWithCustomClock"), 7},
		{"NewTypedDelayingQueue", workqueue.NewTypedDelayingQueue[any](), 0},
		{"TypedNewDelayingQueue", workqueue.TypedNewDelayingQueue[any](), 0},
		{"NewRateLimitingQueue", workqueue.NewRateLimitingQueue(limiter), 0},
		{"NewTypedRateLimitingQueue", workqueue.NewTypedRateLimitingQueue[any](limiter), 0},
		{"NewNamedRateLimitingQueue", workqueue.NewNamedRateLimitingQueue(limiter, "NewNamedRateLimitingQueue"), 7},
		{"NewRateLimitingQueueWithConfig", workqueue.NewRateLimitingQueueWithConfig(limiter, workqueue.RateLimitingQueueConfig{Name: "NewRateLimitingQueueWithConfig", Clock: stands}), 7},
	} {
		if of.metrics > 0 {
			want[of.name] = of.metrics
		}
		of.q.Add("a")
		c.is("Len of the queue of "+of.name, 1, of.q.Len())
		if limited, ok := of.q.(workqueue.RateLimitingInterface); ok {
			limited.AddRateLimited(of.name)
			c.is("NumRequeues of the queue of "+of.name, 1, limited.NumRequeues(of.name))
		}
		if delaying, ok := of.q.(workqueue.DelayingInterface); ok && of.name == "NewDelayingQueueWithCustomClock" {
			delaying.AddAfter("b", time.Second)
			c.quiesce()
			c.is("Len of the queue of "+of.name+" before its clock moves", 1, of.q.Len())
			now.Step(time.Second)
			c.quiesce()
			c.is("Len of the queue of "+of.name+" after that", 2, of.q.Len())
		}
		of.q.ShutDown()
		c.quiesce()
	}
	c.is("how many metrics queues have by the names that they were given", want, named.names)
}

// olderLimiters are asked for three delays each.
func (c *check) olderLimiters() {
	const base, slow = time.Second, time.Minute
	exponential := func() workqueue.RateLimiter { return workqueue.NewItemExponentialFailureRateLimiter(base, slow) }
	fastSlow := func() workqueue.RateLimiter { return workqueue.NewItemFastSlowRateLimiter(base, slow, 2) }
	for _, of := range []struct {
		name string
		l    workqueue.RateLimiter
		want [3]time.Duration
	}{
		{"NewItemExponentialFailureRateLimiter", exponential(), [3]time.Duration{base, 2 * base, 4 * base}},
		{"NewItemFastSlowRateLimiter", fastSlow(), [3]time.Duration{base, base, slow}},
		{"NewMaxOfRateLimiter", workqueue.NewMaxOfRateLimiter(exponential(), fastSlow()), [3]time.Duration{base, 2 * base, slow}},
		{"NewWithMaxWaitRateLimiter", workqueue.NewWithMaxWaitRateLimiter(exponential(), 3*base), [3]time.Duration{base, 2 * base, 3 * base}},
		{"DefaultControllerRateLimiter", workqueue.DefaultControllerRateLimiter(), [3]time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond}},
		{"DefaultItemBasedRateLimiter", workqueue.DefaultItemBasedRateLimiter(), [3]time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond}},
	} {
		got := [3]time.Duration{}
		for n := range got {
			got[n] = of.l.When("a")
		}
		c.is("When of "+of.name, of.want, got)
	}
}

// olderInformers are an informer and the queues of one, made of what they are given.
func (c *check) olderInformers() {
	period := time.Duration(1+c.IntN(3)) * time.Hour
	inf := cache.NewSharedInformer(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, period)
	c.inside("how often an informer of NewSharedInformer looks for resyncs", period, inf, "resyncCheckPeriod")
	c.inside("the period of the handlers of NewSharedInformer", period, inf, "defaultEventHandlerResyncPeriod")
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	c.no("Add", known.Add(object("c", 1)))
	mark := func(obj any) (any, error) { return object("ns2/a", 3), nil }
	q, tombstone := cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, known), cache.DeletedFinalStateUnknown{Key: "ns2/b", Obj: object("c", 1)}
	for want, obj := range byName(map[string]any{"c": object("c", 1), "ns2/b": tombstone, "ns1/a": cache.Deltas{{Object: tombstone}, {Object: object("ns1/a", 2)}}}) {
		key, err := q.KeyOf(obj)
		c.no("KeyOf of a DeltaFIFO", err)
		c.is("KeyOf of a DeltaFIFO", want, key)
	}
	_, err := q.KeyOf(cache.Deltas{})
	c.refused("KeyOf of a DeltaFIFO, of no deltas", err)
	c.is("whether no deltas are told by their error", true, errors.Is(err, cache.ErrZeroLengthDeltasObject))
	for name, of := range byName(map[string]struct {
		q    cache.Queue
		want string
	}{
		"NewDeltaFIFO": {cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, known), `["Deleted cache.DeletedFinalStateUnknown" "Sync ns1/a@2"]`},
		"NewRealFIFO":  {cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, mark), `["Deleted cache.DeletedFinalStateUnknown" "Replaced ns2/a@3"]`},
	}) {
		c.no("Replace of "+name, of.q.Replace([]any{object("ns1/a", 2)}, "2"))
		of.q.Close()
		got := []string{}
		for range 2 {
			deltas, err := of.q.Pop(func(any, bool) error { return nil })
			c.no("Pop of "+name, err)
			got = append(got, delta(deltas))
		}
		c.is("what comes of "+name, of.want, fmt.Sprintf("%q", sorted(got)))
	}
}

// with is a ListerWatcher that has contexts.
type with struct{ source }

func (*with) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return nil, errNoNetwork
}

func (*with) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errNoNetwork
}

// withList and withWatch are ListerWatchers of which one half has contexts.
type (
	withList  struct{ source }
	withWatch struct{ source }
)

func (*withList) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return nil, errNoNetwork
}

func (*withWatch) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errNoNetwork
}

// wrappers give a ListerWatcher contexts, if it has none, or only for one half.
func (c *check) wrappers() {
	ctx, options := context.Background(), metav1.ListOptions{ResourceVersion: fmt.Sprint(c.IntN(9))}
	plain := &source{list: &metav1.PartialObjectMetadataList{}, watch: watch.NewFakeWithChanSize(1, false)}
	for _, lists := range []cache.ListerWithContext{cache.ToListerWithContext(plain), cache.ToListerWatcherWithContext(plain)} {
		_, err := lists.ListWithContext(ctx, options)
		c.no("ListWithContext of what has none", err)
	}
	for _, watches := range []cache.WatcherWithContext{cache.ToWatcherWithContext(plain), cache.ToListerWatcherWithContext(plain)} {
		_, err := watches.WatchWithContext(ctx, options)
		c.no("WatchWithContext of what has none", err)
	}
	twice := fmt.Sprint([]metav1.ListOptions{options, options})
	c.is("the options of lists and watches without a context", [2]string{twice, twice}, [2]string{fmt.Sprint(plain.listed), fmt.Sprint(plain.watched)})
	own := &with{}
	_, err := cache.ToListerWithContext(own).ListWithContext(ctx, options)
	c.is("whether ToListerWithContext keeps what has a context", true, err == errNoNetwork)
	_, err = cache.ToWatcherWithContext(own).WatchWithContext(ctx, options)
	c.is("whether ToWatcherWithContext keeps what has a context", true, err == errNoNetwork)
	c.is("whether ToListerWatcherWithContext keeps what has a context", true, cache.ToListerWatcherWithContext(own) == cache.ListerWatcherWithContext(own))
	for _, half := range []string{"list", "watch"} {
		var of cache.ListerWatcher = &withList{*plain}
		if half == "watch" {
			of = &withWatch{*plain}
		}
		both := cache.ToListerWatcherWithContext(of)
		_, err := both.ListWithContext(ctx, options)
		c.is("whether ToListerWatcherWithContext keeps the list of what has a context for the "+half, half == "list", err == errNoNetwork)
		_, err = both.WatchWithContext(ctx, options)
		c.is("whether ToListerWatcherWithContext keeps the watch of what has a context for the "+half, half == "watch", err == errNoNetwork)
	}
}

// fakes are stores that client-go has for tests.
func (c *check) fakes() {
	deleted := make(chan string, len(keys))
	policy := &cache.FakeExpirationPolicy{NeverExpire: sets.New("c"), RetrieveKeyFunc: func(obj any) (string, error) {
		return cache.MetaNamespaceKeyFunc(obj.(*cache.TimestampedEntry).Obj)
	}}
	s := cache.NewFakeExpirationStore(cache.MetaNamespaceKeyFunc, deleted, policy, clock.RealClock{})
	for _, key := range keys {
		c.no("Add", s.Add(object(key, 1)))
	}
	c.is("List of a store of which only c does not expire", []string{"c@1"}, texts(s.List()))
	c.is("how many keys it has told of that have expired", len(keys)-1, len(deleted))

	var called []string
	note := func(call string) error { called = append(called, call); return errNoNetwork }
	for _, f := range []*cache.FakeCustomStore{{}, {
		AddFunc: func(any) error { return note("Add") }, UpdateFunc: func(any) error { return note("Update") }, DeleteFunc: func(any) error { return note("Delete") },
		ListFunc: func() []any { _ = note("List"); return []any{1} }, ListKeysFunc: func() []string { _ = note("ListKeys"); return []string{"k"} },
		GetFunc: func(any) (any, bool, error) { return 1, true, note("Get") }, GetByKeyFunc: func(string) (any, bool, error) { return 1, true, note("GetByKey") },
		ReplaceFunc: func([]any, string) error { return note("Replace") }, ResyncFunc: func() error { return note("Resync") },
		BookmarkFunc: func(string) { _ = note("Bookmark") }, LastStoreSyncResourceVersionFunc: func() string { _ = note("LastStoreSyncResourceVersion"); return "5" },
	}} {
		called = nil
		var want error
		calls, n, revision := []string(nil), 0, ""
		if f.AddFunc != nil {
			want, n, revision = errNoNetwork, 1, "5"
			calls = []string{"Add", "Update", "Delete", "Replace", "Resync", "Get", "GetByKey", "List", "ListKeys", "LastStoreSyncResourceVersion", "Bookmark"}
		}
		errs := []error{f.Add(1), f.Update(1), f.Delete(1), f.Replace(nil, ""), f.Resync()}
		_, got, err := f.Get(1)
		_, gotByKey, errByKey := f.GetByKey("k")
		for _, err := range append(errs, err, errByKey) {
			c.is("the error of a FakeCustomStore", true, err == want)
		}
		c.is("whether a FakeCustomStore finds an object", [2]bool{n == 1, n == 1}, [2]bool{got, gotByKey})
		c.is("how many objects and keys a FakeCustomStore has", [2]int{n, n}, [2]int{len(f.List()), len(f.ListKeys())})
		c.is("LastStoreSyncResourceVersion of a FakeCustomStore", revision, f.LastStoreSyncResourceVersion())
		f.Bookmark("6")
		c.is("which of its functions a FakeCustomStore has called", calls, called)
	}
}

// watchErrors are told to the process unless they are a watch's usual end.
func (c *check) watchErrors() {
	told := 0
	defer func(before []utilruntime.ErrorHandler) { utilruntime.ErrorHandlers = before }(utilruntime.ErrorHandlers)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(context.Context, error, string, ...any) { told++ }}
	r := cache.NewReflector(&source{}, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	for _, of := range []struct {
		err  error
		want int
	}{
		{io.EOF, 0}, {io.ErrUnexpectedEOF, 0}, {apierrors.NewResourceExpired("it has expired"), 0}, {apierrors.NewGone("it is gone"), 0},
		{errors.New("it is broken"), 1}, {apierrors.NewInternalError(io.EOF), 1},
	} {
		told = 0
		cache.DefaultWatchErrorHandler(context.Background(), r, of.err)
		c.is("how often DefaultWatchErrorHandler tells the process of "+of.err.Error(), of.want, told)
	}
}
