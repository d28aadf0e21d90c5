package library

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/cache/synctrack"
	"k8s.io/client-go/util/workqueue"
)

// together makes calls at the same time. Where the seed interleaves goroutines, it says which of them takes a lock first; elsewhere they hardly meet.
func (c *check) together(calls ...func()) {
	var all sync.WaitGroup
	for _, n := range c.Perm(len(calls)) {
		all.Go(calls[n])
	}
	all.Wait()
}

// meetings have two calls of a queue meet, again and again: what comes of them is the same as if one had come after the other.
func (c *check) meetings() {
	for range 8 {
		c.addedWhenDone()
		c.takenWhenAdded()
		c.shutDownWhenDrained()
		c.poppedWhenReplaced()
		c.poppedWhenResynced()
		c.finishedWhenSynced()
		c.askedTogether()
		c.readWhenChanged()
	}
	for range 4 {
		c.addedWhenStarted()
		c.readWhenReplaced()
	}
}

// askedTogether has two ask a Lazy that has computed nothing yet: one of them computes.
func (c *check) askedTogether() {
	var computed atomic.Int32
	z := synctrack.Lazy[int32]{Evaluate: func() (int32, error) { return computed.Add(1), nil }}
	var got [2]int32
	c.together(func() { got[0], _ = z.Get() }, func() { got[1], _ = z.Get() })
	c.is("what two get who ask a Lazy at once, and how often it has computed", [3]int32{1, 1, 1}, [3]int32{got[0], got[1], computed.Load()})
}

// addedWhenDone adds a key while somebody is done with it: it is ready once.
func (c *check) addedWhenDone() {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	key, _ := q.Get()
	calls := []func(){func() { q.Add(key) }, func() { q.Done(key) }}
	if c.IntN(2) == 0 {
		calls = append(calls, func() { q.Add(key) })
	}
	c.together(calls...)
	c.is("how many keys are ready, one of which was added when it was done", 1, q.Len())
	if q.Len() > 0 {
		q.Get()
		q.Done(key)
		c.is("how many keys are ready once that is done, too", 0, q.Len())
	}
	q.ShutDown()
}

// takenWhenAdded adds a key twice while two wait for one: one of them gets it.
func (c *check) takenWhenAdded() {
	q := workqueue.NewTyped[string]()
	got := make(chan string, 2)
	for range cap(got) {
		go func() {
			key, _ := q.Get()
			got <- key
		}()
	}
	if c.IntN(2) == 0 {
		c.quiesce()
	}
	c.together(func() { q.Add("a") }, func() { q.Add("a") })
	c.quiesce()
	c.is("how many of two who wait get a key that is added twice", 1, len(got))
	q.ShutDown()
	c.quiesce()
	c.is("how many of two have left the Get of a queue that was shut down", 2, len(got))
}

// shutDownWhenDrained has one wait for a queue to drain while somebody else shuts it down for good: who comes last decides whether there is anything to wait
// for (k119554).
func (c *check) shutDownWhenDrained() {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	key, _ := q.Get()
	left := make(chan struct{})
	calls := []func(){q.ShutDown, func() {
		defer close(left)
		q.ShutDownWithDrain()
	}}
	for _, n := range c.Perm(len(calls)) {
		go calls[n]()
	}
	c.quiesce()
	if drains := held(reflect.ValueOf(q)).FieldByName("drain"); drains.IsValid() && drains.Kind() == reflect.Bool {
		c.is("whether somebody waits for a queue to drain, if nobody has shut it down for good since", drains.Bool(), !closed(left))
	}
	q.Done(key)
	c.quiesce()
	c.is("whether somebody has waited for a queue to drain once it has", true, closed(left))
}

// poppedWhenReplaced pops the first list of a queue as soon as it comes. All of it is part of the initial list, and then the queue has synced.
func (c *check) poppedWhenReplaced() {
	name, q, _ := c.either()
	var list []any
	for _, key := range keys[:1+c.IntN(len(keys))] {
		list = append(list, object(key, 1))
	}
	popped, initial := []string{}, 0
	c.together(func() {
		c.no("Replace of "+name, q.Replace(list, "1"))
		q.Close()
	}, func() {
		popAll(q, func(deltas any, isInInitialList bool) error {
			popped = append(popped, delta(deltas))
			if isInInitialList {
				initial++
			}
			return nil
		})
	})
	want := texts(list)
	for n := range want {
		want[n] = "Replaced " + want[n]
	}
	slices.Sort(popped)
	c.is("what is popped of "+name+" while it gets its first list", fmt.Sprintf("%q", want), fmt.Sprintf("%q", popped))
	c.is("how much of it is part of the initial list", len(list), initial)
	c.is("HasSynced of "+name+" whose first list was popped while it came", true, q.HasSynced())
}

// poppedWhenResynced pops a deletion while there is a resync. Nothing is told of the object after that.
func (c *check) poppedWhenResynced() {
	name, q, known := c.either()
	c.no("Replace of "+name, q.Replace(nil, "1"))
	for _, key := range keys[:2] {
		c.no("Add", known.Add(object(key, 1)))
	}
	c.no("Delete of "+name, q.Delete(object(keys[0], 2)))
	popped := []string{}
	c.together(func() {
		c.no("Resync of "+name, q.Resync())
		q.Close()
	}, func() {
		popAll(q, func(deltas any, _ bool) error {
			of := delta(deltas)
			popped = append(popped, of)
			if of == "Deleted "+keys[0]+"@2" {
				return known.Delete(object(keys[0], 2))
			}
			return nil
		})
	})
	c.is("what is popped of "+name+" that is resynced meanwhile", fmt.Sprintf("%q", []string{"Deleted " + keys[0] + "@2", "Sync " + keys[1] + "@1"}), fmt.Sprintf("%q", popped))
}

// addedWhenStarted adds a handler to an informer that is just starting, and sets a transform. The transform is refused, or used. The handler is told of the
// list, of one object after the other, or is removed again. The informer can be stopped all the same, before the list comes, too (k137282).
func (c *check) addedWhenStarted() {
	from := &late{source: *newSource(object("ns1/a", 1), object("ns1/b", 2), object("c", 3)), answers: make(chan struct{})}
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	told, busy, twice := &notes{}, atomic.Int32{}, atomic.Bool{}
	h := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if busy.Add(1) > 1 {
			twice.Store(true)
		}
		runtime.Gosched()
		told.add(text(obj))
		busy.Add(-1)
	}}
	ctx, cancel := context.WithCancel(context.Background())
	ended, removes, lists := make(chan struct{}), c.IntN(3) == 0, c.IntN(3) > 0
	var set error
	calls := []func(){func() {
		defer close(ended)
		inf.RunWithContext(ctx)
	}, func() {
		reg, err := inf.AddEventHandler(h)
		if c.no("AddEventHandler", err); removes {
			c.no("RemoveEventHandler", inf.RemoveEventHandler(reg))
		}
	}, func() {
		set = inf.SetTransform(func(obj any) (any, error) {
			changed := obj.(*metav1.PartialObjectMetadata).DeepCopy()
			changed.Labels = map[string]string{"transformed": ""}
			return changed, nil
		})
	}}
	for _, n := range c.Perm(len(calls)) {
		go calls[n]()
	}
	c.quiesce()
	if lists {
		close(from.answers)
		c.quiesce()
		for _, obj := range inf.GetStore().List() {
			c.is("whether an informer uses a transform that it has not refused", set == nil, obj.(*metav1.PartialObjectMetadata).Labels != nil)
		}
		want := []string{"c@3", "ns1/a@1", "ns1/b@2"}
		if removes {
			want = nil
		}
		c.is("what a handler is told that is added when its informer starts", fmt.Sprintf("%q", want), fmt.Sprintf("%q", sorted(told.all())))
		c.is("whether a handler is called twice at once", false, twice.Load())
	}
	cancel()
	c.quiesce()
	c.is("whether an informer has ended that is stopped, and to which a handler was added when it started", true, closed(ended))
	if !lists {
		close(from.answers)
		c.quiesce()
	}
}

// popAll pops until the queue is closed, and empty.
func popAll(q cache.Queue, process cache.PopProcessFunc) {
	for {
		if _, err := q.Pop(process); errors.Is(err, cache.ErrFIFOClosed) {
			return
		}
	}
}

// finishedWhenSynced handles the last object of trackers while their upstream syncs: then both have synced.
func (c *check) finishedWhenSynced() {
	async, single := synctrack.NewAsyncTracker[string]("async"), synctrack.NewSingleFileTracker("single")
	for _, key := range keys[:2] {
		async.Start(key)
		single.Start()
	}
	c.together(async.UpstreamHasSynced, func() { async.Finished(keys[0]) }, func() { async.Finished(keys[1]) })
	c.is("HasSynced of an AsyncTracker whose upstream synced while the last was finished", true, async.HasSynced())
	c.together(single.UpstreamHasSynced, func() {
		single.Finished()
		single.Finished()
	})
	c.is("HasSynced of a SingleFileTracker whose upstream synced while the last was finished", true, single.HasSynced())
}

// readWhenChanged reads an index while the only object that is under a value leaves it. It is there, as it was, or it is not there.
func (c *check) readWhenChanged() {
	s, obj := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"revision": func(obj any) ([]string, error) {
		return []string{obj.(*metav1.PartialObjectMetadata).ResourceVersion}, nil
	}}), object("c", 1)
	c.no("Add", s.Add(obj))
	name, read := "ByIndex", func() ([]any, error) { return s.ByIndex("revision", "1") }
	if c.IntN(2) == 0 {
		name, read = "Index", func() ([]any, error) { return s.Index("revision", obj) }
	}
	leaves := func() error { return s.Update(object("c", 2)) }
	if c.IntN(2) == 0 {
		leaves = func() error { return s.Delete(obj) }
	}
	var got []any
	var err error
	c.together(func() { got, err = read() }, func() { c.no("a change of an Indexer", leaves()) })
	c.no(name, err)
	c.is("whether "+name+" gives nothing but what is under a value that an object leaves meanwhile", true, len(got) == 0 || len(got) == 1 && got[0] == any(obj))
}

// readWhenReplaced reads an index while a list comes that has nothing. What was under a value is there, or nothing is.
func (c *check) readWhenReplaced() {
	s, obj := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}), object("ns1/a", 1)
	c.no("Add", s.Add(obj))
	for name, read := range byName(map[string]func() ([]any, error){
		"ByIndex": func() ([]any, error) { return s.ByIndex(cache.NamespaceIndex, "ns1") }, "Index": func() ([]any, error) { return s.Index(cache.NamespaceIndex, obj) },
	}) {
		c.no("Update", s.Update(obj))
		var got []any
		var err error
		c.together(func() { got, err = read() }, func() { c.no("Replace", s.Replace(nil, "2")) })
		c.no(name, err)
		c.is("whether "+name+" gives nothing but what is under a value while a list comes", true, len(got) == 0 || len(got) == 1 && got[0] == any(obj))
	}
}

// either makes one of the queues of informers that know their store.
func (c *check) either() (name string, q cache.Queue, known cache.Store) {
	known = cache.NewStore(cache.MetaNamespaceKeyFunc)
	if c.IntN(2) == 0 {
		return "a DeltaFIFO", cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true}), known
	}
	return "a RealFIFO", cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known}), known
}
