package library

import (
	"context"
	"runtime"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/subjects"
)

type item = metav1.PartialObjectMetadata

// forgotten are parts that have had objects, and do not need them any more.
type forgotten struct {
	*check
	of   subjects.Forgotten
	kept []any // the parts: they live until all have been asked
	ends []func()
}

// object makes one that is to be forgotten.
func (f *forgotten) object(by, key string, revision int) *item {
	return subjects.ToForget(&f.of, by, object(key, revision))
}

// memory has parts forget objects, and looks whether they are collected as garbage: what a part keeps by mistake grows as long as a controller lives (k113305).
func memory(c *check) {
	if c.IntN(4) > 0 {
		return // to collect garbage takes as long as a dozen other rounds
	}
	f := &forgotten{check: c}
	f.queues()
	f.stores()
	f.fifos()
	f.informer()
	c.is("what is still held of what is needed no more", "nothing", f.of.Held())
	runtime.KeepAlive(f.kept)
	for _, end := range f.ends {
		end()
	}
	c.quiesce()
}

// queues hand out items that do not come again, and keep one that waits.
func (f *forgotten) queues() {
	q := workqueue.NewTyped[*item]()
	for n := range 3 {
		q.Add(f.object("what a work queue has handed out", "ns1/a", n))
	}
	q.Add(object("ns1/b", 9))
	for range 3 {
		obj, _ := q.Get()
		q.Done(obj)
	}
	f.kept = append(f.kept, q)

	limited := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[*item]())
	obj := f.object("what a rate limited queue was told to forget", "ns1/a", 1)
	limited.AddRateLimited(obj)
	time.Sleep(time.Second)
	f.quiesce()
	obj, _ = limited.Get()
	limited.Forget(obj)
	limited.Done(obj)
	limited.AddAfter(object("ns1/b", 9), time.Second) // the place of what has waited is used again, and until then keeps it
	time.Sleep(2 * time.Second)
	f.quiesce()
	f.kept, f.ends = append(f.kept, limited), append(f.ends, limited.ShutDown)
}

// stores are told of changes and deletions.
func (f *forgotten) stores() {
	for name, s := range byName(map[string]cache.Store{
		"NewStore":    cache.NewStore(cache.MetaNamespaceKeyFunc),
		"NewIndexer":  cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		"NewTTLStore": cache.NewTTLStore(cache.MetaNamespaceKeyFunc, time.Hour),
	}) {
		f.no("Add", s.Add(f.object("what "+name+" has a newer one of", "ns1/a", 1)))
		f.no("Update", s.Update(f.object("what a list that "+name+" was told has not", "ns1/a", 2)))
		f.no("Replace", s.Replace([]any{f.object("what was deleted from "+name, "ns1/b", 3), object("c", 3)}, "3"))
		f.no("Delete", s.Delete(object("ns1/b", 4)))
		f.kept = append(f.kept, s)
	}
}

// fifos hand out objects, and keep one that waits.
func (f *forgotten) fifos() {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for name, q := range byName(map[string]cache.Queue{
		"NewDeltaFIFO": cache.NewDeltaFIFO(cache.MetaNamespaceKeyFunc, known),
		"NewRealFIFO":  cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, known, nil),
	}) {
		for n := range 2 {
			f.no("Add", q.Add(f.object("what "+name+" has handed out", keys[n], n)))
		}
		f.no("Add", q.Add(object("c", 9)))
		for range 2 {
			_, err := q.Pop(func(any, bool) error { return nil })
			f.no("Pop", err)
		}
		f.kept = append(f.kept, q)
	}
	h := cache.NewHeap(cache.MetaNamespaceKeyFunc, func(a, b any) bool { return text(a) < text(b) })
	f.no("Add", h.Add(f.object("what a Heap has handed out", "ns1/a", 1)))
	f.no("Add", h.Add(f.object("what was deleted from a Heap", "ns1/b", 1)))
	f.no("Add", h.Add(object("z", 1)))
	_, err := h.Pop()
	f.no("Pop", err)
	f.no("Delete", h.Delete(object("ns1/b", 2)))
	f.kept = append(f.kept, h)
}

// forgetful is a server that keeps nothing of what it has sent.
type forgetful struct {
	*forgotten
	streams, paged bool
	watch          *watch.FakeWatcher
}

// IsWatchListSemanticsUnSupported is asked by reflectors.
func (s *forgetful) IsWatchListSemanticsUnSupported() bool { return !s.streams }

// List implements cache.ListerWatcher. Who keeps a pointer to one item of a list keeps all of them.
func (s *forgetful) List(options metav1.ListOptions) (kruntime.Object, error) {
	list := &metav1.PartialObjectMetadataList{Items: []item{*object("ns1/a", 1), *object("ns1/b", 2), *object("c", 3)}}
	list.ResourceVersion = "5"
	switch {
	case options.Continue != "":
		list.Items = []item{*object("ns3/a", 1), *object("ns3/b", 1)}
	case s.paged:
		list.Continue = "more"
	}
	subjects.ToForget(&s.of, "a list of which an informer has copies", &list.Items[0])
	return list, nil
}

// Watch implements cache.ListerWatcher.
func (s *forgetful) Watch(options metav1.ListOptions) (watch.Interface, error) {
	if s.watch = watch.NewFakeWithChanSize(8, false); options.SendInitialEvents != nil {
		s.watch.Add(s.object("what an informer has a newer one of", "ns1/a", 1))
		s.watch.Add(s.object("what an informer was told is deleted", "ns1/b", 2))
		s.watch.Add(object("c", 3))
		last := object("", 5)
		last.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		s.watch.Action(watch.Bookmark, last)
	}
	return s.watch, nil
}

// listens is a handler that keeps nothing of what it is told.
type listens struct{ *check }

// OnAdd implements cache.ResourceEventHandler.
func (*listens) OnAdd(any, bool) {}

// OnUpdate implements cache.ResourceEventHandler.
func (*listens) OnUpdate(_, _ any) {}

// OnDelete implements cache.ResourceEventHandler.
func (*listens) OnDelete(any) {}

// informer is one with two handlers, one of which is removed.
func (f *forgotten) informer() {
	from := &forgetful{forgotten: f, streams: f.IntN(3) == 0, paged: f.IntN(2) == 0}
	inf := cache.NewSharedIndexInformer(from, &item{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	_, err := inf.AddEventHandler(&listens{f.check})
	f.no("AddEventHandler", err)
	removed := f.removed(inf)
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	f.quiesce()
	removed()
	for n, key := range []string{"ns1/a", "ns1/a"} {
		from.watch.Modify(f.object("what an informer has a newer one of", key, 6+n))
	}
	from.watch.Delete(f.object("what an informer was told is deleted", "ns1/b", 8))
	f.quiesce()
	for n := range 2 {
		from.watch.Modify(object("ns1/a", 9+n)) // what was told last is kept until something follows; c stays what it was in the list
		f.quiesce()
	}
	f.kept, f.ends = append(f.kept, inf), append(f.ends, cancel)
}

// removed adds a handler, and returns how to remove it.
func (f *forgotten) removed(inf cache.SharedIndexInformer) func() {
	reg, err := inf.AddEventHandler(subjects.ToForget(&f.of, "a handler that was removed", &listens{f.check}))
	f.no("AddEventHandler", err)
	return func() { f.no("RemoveEventHandler", inf.RemoveEventHandler(reg)) }
}
