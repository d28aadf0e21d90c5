package library

import (
	"runtime"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects"
)

type item = metav1.PartialObjectMetadata

// forgotten are parts that have had objects, and do not need them any more.
type forgotten struct {
	*check
	of   subjects.Forgotten
	kept []any // the parts: they live until all have been asked
}

// object makes one that is to be forgotten.
func (f *forgotten) object(what, key string, revision int) *item {
	return subjects.ToForget(&f.of, what, object(key, revision))
}

// memory has parts forget objects, and looks whether they are collected as garbage: what a part keeps by mistake grows as long as a controller lives (k113305).
func memory(c *check) {
	if !c.oneIn(8) {
		return // to collect garbage takes as long as a dozen other rounds
	}
	f := &forgotten{check: c}
	f.queues()
	f.fifos()
	f.indexer()
	f.informer()
	c.is("what is still held of what is needed no more", "nothing", f.of.Held())
	runtime.KeepAlive(f.kept)
}

// queues hand out items that do not come again, and keep one that waits.
func (f *forgotten) queues() {
	q := workqueue.NewRateLimitingQueue(nil, workqueue.NewItemExponentialFailure[*item](time.Second, time.Minute))
	for n := range 3 {
		q.Add(f.object("what a work queue has handed out", "ns1/a", n))
	}
	q.AddRateLimited(start, f.object("what a queue that was to add it later has handed out", "ns1/b", 4))
	q.AddRateLimited(start.Add(time.Hour), object("ns1/b", 9))
	q.Advance(start.Add(time.Minute))
	f.takes(q, 4)
	f.kept = append(f.kept, q)
}

// takes has a queue hand out the next n items.
func (f *forgotten) takes(q *workqueue.RateLimitingQueue[*item], n int) {
	for range n {
		obj, ok, _ := q.TryGet()
		f.is("TryGet of a queue that is not empty", true, ok)
		q.Forget(obj)
		q.Done(obj)
	}
}

// fifos hand out objects, and keep one that waits.
func (f *forgotten) fifos() {
	store := known{}
	for _, of := range []struct {
		name string
		q    informer.Queue
	}{
		{"DeltaFIFO", informer.NewDeltaFIFO(informer.DeltaFIFOOptions{KnownObjects: store})},
		{"RealFIFO", informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: store})},
	} {
		for n := range 3 {
			f.is("Add", nil, of.q.Add(f.object("what "+of.name+" has handed out", keys[n], n)))
		}
		for n := range 2 { // it has what it has handed out last until something follows
			f.is("Add", nil, of.q.Add(object(keys[3], 9+n)))
		}
		var p informer.Popped
		for range 4 {
			f.is("Pop of "+of.name, true, of.q.Pop(&p))
			of.q.Done()
		}
		f.kept = append(f.kept, of.q)
	}
}

// indexer is told of changes and deletions.
func (f *forgotten) indexer() {
	x := informer.NewIndexer(informer.IndexerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
	f.is("Add", nil, x.Add(f.object("what an Indexer has a newer one of", "ns1/a", 1)))
	f.is("Update", nil, x.Update(f.object("what a list that an Indexer was told has not", "ns1/a", 2)))
	f.is("Replace", nil, x.Replace([]any{f.object("what was deleted from an Indexer", "ns1/b", 3), object("ns2/a", 3)}, "3"))
	f.is("Delete", nil, x.Delete(object("ns1/b", 4)))
	f.kept = append(f.kept, x)
}

// informer is one with two handlers, one of which is removed.
func (f *forgotten) informer() {
	streams := f.oneIn(3)
	i := informer.NewInformer(informer.InformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, NewQueue: f.queue(), Reflector: informer.ReflectorOptions{WatchList: streams}})
	stays, err := i.AddHandler(&cache.ResourceEventHandlerFuncs{}, informer.ListenerOptions{}, start)
	f.is("AddHandler", nil, err)
	goes, err := i.AddHandler(subjects.ToForget(&f.of, "a handler that was removed", &cache.ResourceEventHandlerFuncs{}), informer.ListenerOptions{}, start)
	f.is("AddHandler", nil, err)
	drain := func() {
		for stepped := true; stepped; {
			stepped, err = i.Controller.Step()
			f.is("Step", nil, err)
		}
		for stays.Deliver() {
		}
	}
	i.Start(start)
	if !streams {
		f.listed(i.Reflector)
	}
	i.Reflector.OnWatchOpened()
	if streams {
		f.streamed(i.Reflector)
	}
	drain()
	i.Processor.RemoveListener(goes)
	told := func(t watch.EventType, what string, n int) {
		i.Reflector.OnEvent(watch.Event{Type: t, Object: f.object("what an informer "+what, keys[n], 6)})
	}
	told(watch.Modified, "has a newer one of", 0)
	told(watch.Deleted, "was told is deleted", 1)
	drain()
	for n := range 2 { // what was told last is kept until something follows; ns2/a stays what it was in the list
		i.Reflector.OnEvent(watch.Event{Type: watch.Modified, Object: object(keys[0], 9+n)})
		drain()
	}
	f.is("how many objects an informer has", 2, i.Indexer.Len())
	f.kept = append(f.kept, i)
}

// queue is that of an informer, nil for its usual one.
func (f *forgotten) queue() func(*informer.Indexer) informer.Queue {
	switch f.IntN(3) {
	case 0:
		return nil
	case 1:
		return func(known *informer.Indexer) informer.Queue {
			return informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: known, Batch: true})
		}
	}
	return func(*informer.Indexer) informer.Queue {
		return informer.NewRealFIFO(informer.RealFIFOOptions{Atomic: true, Batch: true, EmitBookmarks: true, UnlockWhileProcessing: true})
	}
}

// listed answers a list, in one page or two. Who keeps a pointer to one item of it keeps all of them.
func (f *forgotten) listed(r *informer.Reflector) {
	first := &metav1.PartialObjectMetadataList{}
	for n := range 3 {
		first.Items = append(first.Items, *object(keys[n], 1+n))
	}
	subjects.ToForget(&f.of, "a list of which an informer has copies", &first.Items[0])
	first.ResourceVersion = "5"
	if f.oneIn(2) {
		last := &metav1.PartialObjectMetadataList{}
		first.Continue, last.ResourceVersion = "more", "5"
		defer r.OnList(last)
	}
	r.OnList(first)
}

// streamed sends a streaming list.
func (f *forgotten) streamed(r *informer.Reflector) {
	for n, what := range []string{"what an informer has a newer one of", "what an informer was told is deleted"} {
		r.OnEvent(watch.Event{Type: watch.Added, Object: f.object(what, keys[n], 1+n)})
	}
	r.OnEvent(watch.Event{Type: watch.Added, Object: object(keys[2], 3)})
	end := &item{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "5", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
	r.OnEvent(watch.Event{Type: watch.Bookmark, Object: end})
}
