package library

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// source is what an informer lists, and watches. It does not stream lists.
type source struct {
	list    *metav1.PartialObjectMetadataList
	watch   *watch.FakeWatcher
	listed  []metav1.ListOptions
	watched []metav1.ListOptions
	paged   bool // a list without a continue token is the first of two pages, the other one of which is empty
}

// newSource makes a source that lists these objects at revision 5.
func newSource(objects ...*metav1.PartialObjectMetadata) *source {
	s := &source{list: &metav1.PartialObjectMetadataList{}, watch: watch.NewFakeWithChanSize(8, false)}
	s.list.ResourceVersion = "5"
	for _, obj := range objects {
		s.list.Items = append(s.list.Items, *obj)
	}
	return s
}

// IsWatchListSemanticsUnSupported is asked by reflectors.
func (*source) IsWatchListSemanticsUnSupported() bool { return true }

// List implements cache.ListerWatcher.
func (s *source) List(options metav1.ListOptions) (runtime.Object, error) {
	s.listed = append(s.listed, options)
	list := s.list.DeepCopy()
	if s.paged && options.Continue == "" {
		list.Continue = "more"
	} else if s.paged {
		list.Items = nil
	}
	return list, nil
}

// Watch implements cache.ListerWatcher.
func (s *source) Watch(options metav1.ListOptions) (watch.Interface, error) {
	s.watched = append(s.watched, options)
	if s.watch.IsStopped() {
		s.watch = watch.NewFakeWithChanSize(8, false)
	}
	return s.watch, nil
}

// listener is the handler of an informer that is not shared. It is told what is in the store already: both are one goroutine's.
type listener struct {
	*check
	s       cache.Store
	told    model
	initial bool // what is added is part of the initial list
	deleted []string
	whole   []string // what the store has when the handler is told of the first of a list that comes in a batch, or at once; nil for no such list
}

// stored compares what the store has of a key with what the handler is told.
func (l *listener) stored(key string, want any) {
	if l.whole != nil {
		l.is("what the store has when the handler is told of the first of a batch", l.whole, sorted(l.s.ListKeys()))
		l.whole = nil
	}
	obj, exists, _ := l.s.GetByKey(key)
	l.is("whether the store has "+key+" when the handler is told of it", want != nil, exists)
	l.is("whether it is what the handler is told of "+key, true, obj == want)
}

func (l *listener) note(obj any) {
	o := obj.(*metav1.PartialObjectMetadata)
	key, _ := cache.MetaNamespaceKeyFunc(o)
	l.stored(key, obj)
	l.told[key] = o
}

func (l *listener) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(obj any, isInInitialList bool) {
		l.is("whether "+text(obj)+" is told as part of the initial list", l.initial, isInInitialList)
		l.note(obj)
	}, UpdateFunc: func(old, obj any) {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		l.is("the old object of an update, of which the handler was told before", true, any(l.told[key]) == old)
		l.note(obj)
	}, DeleteFunc: func(obj any) {
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		l.stored(key, nil)
		delete(l.told, key)
		l.deleted = append(l.deleted, key)
	}}
}

// plainInformers are informers that are not shared, as older controllers have them: one list, three events, and the end.
func plainInformers(c *check) {
	from := newSource()
	m := model{}
	for n, key := range keys[:2+c.IntN(2)] {
		m[key] = object(key, n+1)
		from.list.Items = append(from.list.Items, *m[key])
	}
	told := &listener{check: c, told: model{}, initial: true}
	shortest := time.Duration(c.IntN(15)) * time.Minute
	period := time.Duration(c.IntN(3)) * time.Hour // too long to come
	s, control, transforms, indexes := c.plain(c.IntN(8), from, told.handler(), period, &shortest)
	told.s = s
	c.inside("the resync period of an informer that is not shared", period, control, "config", "FullResyncPeriod")
	c.plainPeriods()
	c.someFunctions()

	for _, key := range []string{"ns1/a", "c"}[c.IntN(3):] { // what the store has before, of which the list has ns1/a
		told.told[key] = object(key, 0)
		c.no("Add", s.Add(told.told[key]))
	}
	c.is("HasSynced before Run", false, control.HasSynced())
	c.is("LastSyncResourceVersion before Run", "", control.LastSyncResourceVersion())
	if gates := features.FeatureGates(); gates.Enabled(features.InOrderInformers) && (gates.Enabled(features.AtomicFIFO) || gates.Enabled(features.InOrderInformersBatchProcess)) {
		told.whole = m.keys() // I67
	}
	run := control.RunWithContext
	if c.IntN(2) == 0 {
		run = func(ctx context.Context) { control.Run(ctx.Done()) }
	}
	cancel, ended := running(run)
	c.quiesce()
	c.is("HasSynced after the list", true, control.HasSynced())
	c.is("LastSyncResourceVersion after the list", "5", control.LastSyncResourceVersion())
	c.asked(from, shortest)
	c.plainHolds(" after the list", s, m, told.told, transforms)
	told.initial, told.deleted = false, nil

	changed, added, gone := object("ns1/a", 6), object("ns2/b", 7), object("ns1/b", 8)
	from.watch.Modify(changed)
	from.watch.Add(added)
	from.watch.Delete(object("ns3/unknown", 7))
	from.watch.Delete(gone)
	m["ns1/a"] = changed
	delete(m, "ns1/b")
	c.quiesce()
	c.is("LastSyncResourceVersion after the watch", "8", control.LastSyncResourceVersion())
	ends := []string{"ns3/unknown", "ns1/b"}
	if !features.FeatureGates().Enabled(features.InOrderInformers) {
		ends = ends[1:] // a DeltaFIFO drops the end of what its store does not have
	}
	c.is("what the handler is told the end of, that of an object which was never there being the first", ends, told.deleted)
	mark := object("", 9)
	if c.IntN(2) == 0 {
		mark.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	from.watch.Action(watch.Bookmark, mark)
	c.quiesce()
	c.is("LastSyncResourceVersion after a bookmark", "9", control.LastSyncResourceVersion())
	if gates := features.FeatureGates(); gates.Enabled(features.AtomicFIFO) {
		want := map[bool]string{true: "9", false: "8"}[gates.Enabled(features.InOrderInformers)]
		c.is("LastStoreSyncResourceVersion after a bookmark", want, s.LastStoreSyncResourceVersion())
	}
	if x, ok := s.(cache.Indexer); ok && indexes {
		objs, err := x.ByIndex(cache.NamespaceIndex, "ns2")
		c.no("ByIndex", err)
		c.is("how many objects ByIndex finds in the namespace ns2", len(m.in("ns2"))+1, len(objs))
	}
	c.no("Delete", s.Delete(added))
	delete(told.told, "ns2/b")
	c.plainHolds(" after the watch", s, m, told.told, transforms)
	cancel()
	c.quiesce()
	select {
	case <-ended:
	default:
		c.is("Run of an informer that is stopped", "it returns", "it does not")
	}
}

// plainPeriods makes informers by each of the functions, which never run: one that runs shows only one of them.
func (c *check) plainPeriods() {
	for by := range 5 {
		_, control, _, _ := c.plain(by, newSource(), cache.ResourceEventHandlerFuncs{}, time.Hour, new(time.Duration))
		c.inside("the resync period of an informer that is not shared", time.Hour, control, "config", "FullResyncPeriod")
	}
}

// in returns the keys of a namespace.
func (m model) in(namespace string) (of []string) {
	for _, key := range m.keys() {
		if ns, _ := split(key); ns == namespace {
			of = append(of, key)
		}
	}
	return of
}

// plain makes an informer by one of the functions that there are. Only one of them takes the shortest timeout of watches; it is 0 for the others.
func (c *check) plain(by int, from *source, h cache.ResourceEventHandler, period time.Duration, shortest *time.Duration) (s cache.Store, control cache.Controller, transforms, indexes bool) {
	kind, indexers := &metav1.PartialObjectMetadata{}, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	mark := func(obj any) (any, error) {
		o := obj.(*metav1.PartialObjectMetadata).DeepCopy()
		o.Labels = map[string]string{"transformed": "once" + o.Labels["transformed"]}
		return o, nil
	}
	options := cache.InformerOptions{ListerWatcher: from, ObjectType: kind, Handler: h, ResyncPeriod: period, MinWatchTimeout: *shortest}
	if by < 4 {
		*shortest = 0
	}
	switch by {
	case 0:
		s, control = cache.NewInformer(from, kind, period, h)
	case 1:
		s, control = cache.NewIndexerInformer(from, kind, period, h, indexers)
		indexes = true
	case 2:
		s, control = cache.NewTransformingInformer(from, kind, period, h, mark)
		transforms = true
	case 3:
		s, control = cache.NewTransformingIndexerInformer(from, kind, period, h, indexers, mark)
		transforms, indexes = true, true
	default:
		if transforms = c.IntN(2) == 0; transforms {
			options.Transform = mark
		}
		if indexes = c.IntN(2) == 0; indexes {
			options.Indexers = indexers
		}
		s, control = cache.NewInformerWithOptions(options)
	}
	return s, control, transforms, indexes
}

// plainHolds compares the store, and what the handler was told, with the model.
func (c *check) plainHolds(when string, s cache.Store, m, told model, transforms bool) {
	c.holds(when, s, m)
	c.is("what the handler was told"+when, m.texts(), told.texts())
	want := ""
	if transforms {
		want = "once"
	}
	for _, obj := range s.List() {
		if o, ok := obj.(*metav1.PartialObjectMetadata); ok {
			c.is("the transform of "+text(o)+when, want, o.Labels["transformed"])
		}
	}
}
