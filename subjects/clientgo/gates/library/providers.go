package library

import (
	"fmt"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// Those who count for a whole process may be set once. A check has its own, and puts back who was there.
//
//go:linkname queueProvider k8s.io/client-go/util/workqueue.globalMetricsProvider
var queueProvider workqueue.MetricsProvider

//go:linkname queueProviderOnce k8s.io/client-go/util/workqueue.setGlobalMetricsProviderOnce
var queueProviderOnce sync.Once

//go:linkname informerProvider k8s.io/client-go/tools/cache.globalInformerMetricsProvider
var informerProvider cache.InformerMetricsProvider

//go:linkname informerProviderOnce k8s.io/client-go/tools/cache.setInformerMetricsProviderOnce
var informerProviderOnce sync.Once

// queueProviders are set for the whole process, of which the first counts, for queues with a name that have no provider of their own.
func (c *check) queueProviders() {
	defer func(before workqueue.MetricsProvider) {
		queueProvider, queueProviderOnce = before, sync.Once{}
	}(queueProvider)
	queueProviderOnce = sync.Once{}
	first, second, own := &queueMeters{names: map[string]int{}}, &queueMeters{names: map[string]int{}}, &queueMeters{names: map[string]int{}}
	workqueue.SetProvider(first)
	workqueue.SetProvider(second)
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	for _, config := range []workqueue.DelayingQueueConfig{{Name: "q", Clock: now}, {Clock: now}, {Name: "own", Clock: now, MetricsProvider: own}} {
		q := workqueue.NewDelayingQueueWithConfig(config)
		q.AddAfter("a", 0)
		q.ShutDown()
		c.quiesce()
	}
	c.is("for which names how many metrics are asked for that the first provider of a process counts", map[string]int{"q": 7}, first.names)
	c.is("for which names how many metrics are asked for that the second provider of a process counts", map[string]int{}, second.names)
	c.is("for which names how many metrics are asked for that a provider of their own counts", map[string]int{"own": 7}, own.names)
	c.is("how many adds and retries both count", [4]int{1, 1, 1, 1}, [4]int{first.adds.n, first.retries.n, own.adds.n, own.retries.n})
}

// informerProviders are set for the whole process, of which the first counts, for stores and queues that have no provider of their own.
func (c *check) informerProviders() {
	defer func(before cache.InformerMetricsProvider) {
		informerProvider, informerProviderOnce = before, sync.Once{}
	}(informerProvider)
	informerProviderOnce = sync.Once{}
	first, second := &informerMeters{}, &informerMeters{}
	cache.SetInformerMetricsProvider(first)
	cache.SetInformerMetricsProvider(second)
	name, err := cache.NewInformerName(fmt.Sprintf("informersim global %p", c))
	c.no("NewInformerName", err)
	if err != nil {
		return
	}
	defer name.Release()
	id := name.WithResource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	s := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithStoreMetrics(id, nil))
	f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: s, Identifier: id})
	c.no("Add of a store", s.Add(object("c", 5)))
	c.no("Add of a queue", f.Add(object("c", 6)))
	f.Close()
	_, err = f.Pop(func(any, bool) error { return nil })
	c.no("Pop of a queue", err)
	c.is("how many metrics the first and the second provider of a process are asked for", [2]int{3, 0}, [2]int{len(first.of), len(second.of)})
	c.is("the revision, the most that was queued, and how often it took a time to process, as the first counts", [3]float64{5, 1, 1},
		[3]float64{first.revision.last, first.longest, float64(first.latency.n)})
}
