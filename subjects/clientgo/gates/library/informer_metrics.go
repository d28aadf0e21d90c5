package library

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// informerMeters are the metrics of an informer, and for whom they were asked for.
type informerMeters struct {
	queued, latency, revision meter
	longest                   float64 // what was queued at most
	of                        []cache.InformerNameAndResource
}

// gauge is the metric of queued items, of which the most is kept, too.
type gauge struct{ *informerMeters }

// Set implements cache.GaugeMetric.
func (g gauge) Set(to float64) {
	g.queued.Set(to)
	g.longest = max(g.longest, to)
}

// NewQueuedItemMetric implements cache.InformerMetricsProvider.
func (m *informerMeters) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	m.of = append(m.of, id)
	return gauge{m}
}

// NewProcessingLatencyMetric implements cache.InformerMetricsProvider.
func (m *informerMeters) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	m.of = append(m.of, id)
	return &m.latency
}

// NewStoreResourceVersionMetric implements cache.InformerMetricsProvider.
func (m *informerMeters) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	m.of = append(m.of, id)
	return &m.revision
}

// informerMetrics run an informer with metrics of its own: the queue's are those of an in-order queue, the store's are any informer's. One whose
// name and resource another one has, or whose name was released before, has none.
func informerMetrics(c *check) {
	name, err := cache.NewInformerName(fmt.Sprintf("informersim %p", c))
	c.no("NewInformerName", err)
	if err != nil {
		return
	}
	defer name.Release()
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	id, got := name.WithResource(pods), &informerMeters{}
	unpublished := c.IntN(4)
	switch unpublished {
	case 0:
		id = quietly(func() cache.InformerNameAndResource { return name.WithResource(pods) })
	case 1:
		name.Release()
	}
	from := newSource(object("ns1/a", 1), object("ns1/b", 2))
	s, run := c.measuredInformer(from, id, got)
	ctx, cancel := context.WithCancel(context.Background())
	go run(ctx)
	c.quiesce()
	inOrder := features.FeatureGates().Enabled(features.InOrderInformers)
	own, asks := 0, map[bool]int{true: 3, false: 1}[inOrder]
	if unpublished < 2 {
		asks = 0
	}
	for _, of := range got.of {
		if of == id {
			own++
		}
	}
	c.is("how many metrics an informer asks for, and how many of them as its own", [2]int{asks, asks}, [2]int{len(got.of), own})
	long := object("c", 0)
	long.ResourceVersion = "1234567890123456789"
	steps := []struct {
		what string
		f    func()
		want float64
	}{
		{"a list", func() {}, map[bool]float64{true: 5, false: 2}[inOrder && features.FeatureGates().Enabled(features.AtomicFIFO)]}, // of the list, or of its last object
		{"an update", func() { from.watch.Modify(object("ns1/a", 6)) }, 6},
		{"an addition", func() { from.watch.Add(object("c", 7)) }, 7},
		{"a deletion", func() { from.watch.Delete(object("ns1/b", 8)) }, 8},
		{"two updates", func() { from.watch.Modify(object("ns1/a", 9)); from.watch.Modify(object("c", 10)) }, 10},
		{"a Bookmark of the store", func() { s.Bookmark("77") }, 77},
		{"a revision of more digits than a number has", func() { s.Bookmark("1234567890123456789") }, 567890123456789},
		{"a revision that is no number", func() { s.Bookmark("seven") }, 567890123456789},
		{"no revision", func() { s.Bookmark("") }, 0},
		{"Replace of the store", func() { c.no("Replace", s.Replace(nil, "78")) }, 78},
		{"Replace of the store without a revision", func() { c.no("Replace", s.Replace(nil, "")) }, 0},
		{"an object whose revision has more digits than a number has", func() { c.no("Update", s.Update(long)) }, 567890123456789},
	}
	if unpublished < 2 {
		steps = nil
	}
	for _, step := range steps {
		step.f()
		c.quiesce()
		c.is("the metric of the store's revision after "+step.what, step.want, got.revision.last)
		c.is("the metric of queued items after "+step.what, 0.0, got.queued.last)
	}
	if unpublished >= 2 && inOrder {
		c.is("whether an item was ever queued, by its metric", true, got.longest > 0)
	}
	cancel()
	c.quiesce()
	if unpublished >= 2 {
		c.deletesByKey(id)
	}
	c.timed(id, unpublished < 2)
	c.informerProviders()
}

// deletesByKey deletes an object from a store with metrics by its key, of which no revision follows.
func (c *check) deletesByKey(id cache.InformerNameAndResource) {
	got := &informerMeters{}
	s := cache.NewThreadSafeStore(cache.Indexers{}, cache.Indices{}, cache.WithThreadSafeStoreMetrics(id, got))
	s.Add("c", object("c", 5))
	s.Delete("c")
	c.is("the metric of the revision of a store from which an object was deleted by its key", 5.0, got.revision.last)
}

// measuredInformer makes an informer with metrics, which need an in-order queue.
func (c *check) measuredInformer(from *source, id cache.InformerNameAndResource, to *informerMeters) (cache.Store, func(context.Context)) {
	kind, h := &metav1.PartialObjectMetadata{}, cache.ResourceEventHandlerFuncs{}
	by := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	if c.IntN(2) == 0 {
		options := cache.InformerOptions{ListerWatcher: from, ObjectType: kind, Handler: h, Identifier: id, InformerMetricsProvider: to}
		if c.IntN(2) == 0 {
			options.Indexers = by
		}
		s, control := cache.NewInformerWithOptions(options)
		return s, control.RunWithContext
	}
	inf := cache.NewSharedIndexInformerWithOptions(from, kind, cache.SharedIndexInformerOptions{Indexers: by, Identifier: id, InformerMetricsProvider: to})
	return inf.GetStore(), func(ctx context.Context) {
		inf.RunWithContext(ctx)
	}
}

// timed pops what takes a nanosecond from a queue of its own, alone or in a batch, and then fails.
func (c *check) timed(id cache.InformerNameAndResource, unpublished bool) {
	got := &informerMeters{}
	f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc), Identifier: id, MetricsProvider: got})
	c.no("Replace", f.Replace([]any{object("ns1/a", 1), object("ns1/b", 2)}, "2"))
	f.Close()
	left, want := 0.0, 1.0
	process := func(any, bool) error {
		left = got.queued.last
		time.Sleep(time.Nanosecond)
		return fmt.Errorf("it cannot be processed")
	}
	var err error
	if c.IntN(2) == 0 {
		want = 0
		err = f.PopBatch(func(deltas []cache.Delta, initial bool) error { return process(deltas, initial) }, process)
	} else {
		_, err = f.Pop(process)
	}
	c.refused("Pop of what cannot be processed", err)
	if unpublished {
		c.is("how many metrics a queue has whose informer's name is another one's, or was released", 0, len(got.of))
		return
	}
	c.is("the metric of queued items while what was taken is processed", want, left)
	c.is("how many seconds it took to process what takes a nanosecond", time.Nanosecond.Seconds(), got.latency.last)
	c.countsResyncs(id)
}
