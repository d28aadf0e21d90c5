package library

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// constructors are functions that make a part of what they are given, and the little that such parts say of themselves.
func (c *check) constructors() {
	period := time.Duration(c.IntN(3)) * time.Hour
	c.madeReflectors(period)
	c.madeHandlers(period)
	c.madeQueues()
	c.closedQueues()

	first, last := cache.Delta{Type: cache.Added, Object: object("c", 1)}, cache.Delta{Type: cache.Updated, Object: object("c", 2)}
	some := cache.Deltas{first, cache.Delta{Type: cache.Deleted}, last}
	c.is("the oldest and the newest of some deltas", [2]cache.Delta{first, last}, [2]cache.Delta{*some.Oldest(), *some.Newest()})
	c.is("whether no deltas have an oldest or a newest", false, cache.Deltas{}.Oldest() != nil || cache.Deltas{}.Newest() != nil)
}

// madeReflectors does not wait for resyncs: only the period shows whether it was passed on.
func (c *check) madeReflectors(period time.Duration) {
	from, kind := newSource(object("ns1/a", 1)), &metav1.PartialObjectMetadata{}
	s := cache.NewStore(cache.MetaNamespaceKeyFunc)
	plain := cache.NewReflector(from, kind, s, period)
	c.inside("the resync period of NewReflector", period, plain, "resyncPeriod")
	c.runs("NewReflector", plain, s)
	described := cache.NewReflectorWithOptions(from, kind, s, cache.ReflectorOptions{TypeDescription: "things"})
	c.is("whether a reflector that was given no name has none, or that of its type", [2]bool{false, false}, [2]bool{described.Name() == "", described.Name() == "things"})
	named := cache.NewNamedReflector("r", from, kind, s, period)
	c.is("Name of NewNamedReflector", "r", named.Name())
	c.inside("the resync period of NewNamedReflector", period, named, "resyncPeriod")
	x, r := cache.NewNamespaceKeyedIndexerAndReflector(from, kind, period)
	c.inside("the resync period of NewNamespaceKeyedIndexerAndReflector", period, r, "resyncPeriod")
	c.runs("NewNamespaceKeyedIndexerAndReflector", r, x)
	found, err := x.IndexKeys(cache.NamespaceIndex, "ns1")
	c.no("IndexKeys of NewNamespaceKeyedIndexerAndReflector", err)
	c.is("IndexKeys of NewNamespaceKeyedIndexerAndReflector", []string{"ns1/a"}, found)
}

// runs has a reflector fill its store, by one of its functions that do.
func (c *check) runs(of string, r *cache.Reflector, s cache.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	_, after := c.waits(func() {
		switch c.IntN(4) {
		case 0:
			c.no("ListAndWatch of "+of, r.ListAndWatch(ctx.Done()))
		case 1:
			c.no("ListAndWatchWithContext of "+of, r.ListAndWatchWithContext(ctx))
		case 2:
			r.Run(ctx.Done())
		default:
			r.RunWithContext(ctx)
		}
	}, func() {
		c.is("what the reflector of "+of+" has filled its store with", []string{"ns1/a@1"}, texts(s.List()))
		cancel()
	})
	c.is("whether the reflector of "+of+" goes on although it is stopped", false, after)
}

// madeHandlers are typed ones, with options of their own.
func (c *check) madeHandlers(period time.Duration) {
	type T = *metav1.PartialObjectMetadata
	inf := cache.NewTypedSharedIndexInformer[T](cache.NewSharedIndexInformer(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, time.Hour, cache.Indexers{}))
	reg, err := inf.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[T]{}, cache.HandlerOptions{ResyncPeriod: &period})
	c.no("AddTypedEventHandler", err)
	c.inside("the resync period of AddTypedEventHandler", period, reg, "resyncPeriod")
	_, err = inf.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[T]{}, cache.HandlerOptions{}, cache.HandlerOptions{})
	c.refused("AddTypedEventHandler with two sets of options", err)
}

// madeQueues are made of one another: a key that is added to the last is in the first.
func (c *check) madeQueues() {
	q := workqueue.New()
	delaying := workqueue.NewDelayingQueueWithCustomQueue(q, "")
	limited := workqueue.NewRateLimitingQueueWithDelayingInterface(delaying, workqueue.DefaultItemBasedRateLimiter())
	delaying.Add("a")
	c.is("how many keys the queue of NewDelayingQueueWithCustomQueue has", 1, q.Len())
	limited.Add("b")
	c.is("how many keys the queue of NewRateLimitingQueueWithDelayingInterface has", 2, delaying.Len())
	limited.ShutDown()
	delaying.ShutDown()
	c.is("ShuttingDown of the queue that they are made of", true, q.ShuttingDown())
	q.ShutDown()
	c.quiesce()
}

// closedQueues say that they are, whether they have something left or not.
func (c *check) closedQueues() {
	known, left := cache.NewStore(cache.MetaNamespaceKeyFunc), c.IntN(2) == 0
	for _, q := range []interface {
		Add(any) error
		Close()
		IsClosed() bool
	}{
		cache.NewFIFO(cache.MetaNamespaceKeyFunc),
		cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known}),
		cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known}),
		cache.NewHeap(cache.MetaNamespaceKeyFunc, earlier),
	} {
		if left {
			c.no("Add", q.Add(object("c", 1)))
		}
		c.is("IsClosed", false, q.IsClosed())
		q.Close()
		c.is("IsClosed after Close", true, q.IsClosed())
	}
}
