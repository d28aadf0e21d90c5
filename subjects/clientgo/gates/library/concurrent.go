package library

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// crowd has the goroutines that were started go on until each waits. One that waits for a lock does not rest, so that there is nothing to wait for.
func crowd() {
	for range 100 {
		runtime.Gosched()
	}
}

// meanwhile makes a call while somebody else is held, and then lets that go on. The call has returned when all rests.
func (c *check) meanwhile(leave chan struct{}, call func()) {
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		call()
	}()
	crowd()
	close(leave)
	<-returned
	c.quiesce()
}

// inOrderQueues pop objects while another one arrives. Only an atomic queue that is told so lets it in meanwhile.
func inOrderQueues(c *check) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: cache.MetaNamespaceKeyFunc, KnownObjects: known})
	initial := 1 + c.IntN(3)
	var list []any
	for _, key := range keys[:initial] {
		list = append(list, object(key, 1))
	}
	c.is("whether a RealFIFO has synced before its first list", false, cache.IsDone(f))
	c.no("Replace of a RealFIFO", f.Replace(list, "1"))
	inside, added := false, false
	process := func(any, bool) error {
		c.is("whether a RealFIFO has synced while the first list is processed", false, cache.IsDone(f))
		inside = true
		go func() {
			if err := f.Update(object("c", 2)); err == nil && inside {
				added = true
			}
		}()
		crowd()
		inside = false
		return nil
	}
	if c.IntN(2) == 0 {
		c.no("PopBatch", f.PopBatch(func(deltas []cache.Delta, initial bool) error { return process(deltas, initial) }, process))
	} else {
		for n := range initial {
			if n > 0 {
				process = func(any, bool) error {
					c.is("whether a RealFIFO has synced while the first list is processed", false, cache.IsDone(f))
					return nil
				}
			}
			_, err := f.Pop(process)
			c.no("Pop", err)
		}
	}
	c.quiesce()
	c.is("whether a RealFIFO takes an object while it processes another", false, added)
	c.is(fmt.Sprintf("whether a RealFIFO has synced after the %d objects of its first list", initial), true, cache.IsDone(f))
	f.Close()
	for range 4 {
		c.inOrder()
		c.resyncs()
		c.firstLists()
		c.closes()
		c.doubts()
	}
	c.misconfigured()
	c.keepsLists()
	c.listedTwice()
	if c.IntN(8) == 0 {
		c.longBatches()
	}
}

// inOrder queues bookmarks, and objects of which one cannot be transformed: all that was queued comes in its order, and the one that was not does not.
func (c *check) inOrder() {
	bookmarks := c.IntN(2) == 0
	options := cache.RealFIFOOptions{AtomicEvents: bookmarks, EmitDeltaTypeBookmark: bookmarks, Transformer: func(obj any) (any, error) {
		if o, ok := obj.(*metav1.PartialObjectMetadata); ok && o.Name == "b" {
			return nil, errors.New("b cannot be transformed")
		}
		return obj, nil
	}}
	if !bookmarks {
		options.KnownObjects = cache.NewStore(cache.MetaNamespaceKeyFunc)
	}
	f, want := cache.NewRealFIFOWithOptions(options), []string{}
	for n := range 8 {
		call := []string{"Add", "Update", "Delete", "Bookmark", "Replace"}[c.IntN(5)]
		obj := object(c.key(), n+1)
		err := map[string]func() error{
			"Add": func() error { return f.Add(obj) }, "Update": func() error { return f.Update(obj) }, "Delete": func() error { return f.Delete(obj) },
			"Bookmark": func() error { return f.Bookmark(fmt.Sprint(n + 1)) }, "Replace": func() error { return f.Replace([]any{obj}, fmt.Sprint(n+1)) },
		}[call]()
		switch {
		case call == "Bookmark" && bookmarks:
			want = append(want, fmt.Sprint("Bookmark ", n+1))
		case call == "Bookmark":
		case obj.Name == "b":
			c.is(fmt.Sprintf("the error of %s of what cannot be transformed", call), true, err != nil)
			return // what else a list has brought is queued, or is not
		case call == "Replace" && bookmarks:
			want = append(want, fmt.Sprintf("ReplacedAll %d %v", n+1, []string{text(obj)}))
		case call == "Replace":
			return // it deletes what is queued, which is another check's
		default:
			want = append(want, map[string]string{"Add": "Added ", "Update": "Updated ", "Delete": "Deleted "}[call]+text(obj))
		}
		c.no(call+" of a RealFIFO", err)
	}
	f.Close()
	got := deltasOf(f, len(want)+1)
	c.is("what comes of a RealFIFO", fmt.Sprintf("%q", want), fmt.Sprintf("%q", got))
}

// resyncs has a queue resync while something is queued. It tells what else the store has.
func (c *check) resyncs() {
	name, q, known := c.either()
	want := []string{}
	queued := 0
	for _, key := range keys {
		draw := c.IntN(4)
		if draw < 3 {
			c.no("Add", known.Add(object(key, 1)))
		}
		if draw > 1 {
			queued++
			c.no("Update of "+name, q.Update(object(key, 2)))
			want = append(want, "Updated "+text(object(key, 2)))
		} else {
			want = append(want, "Sync "+text(object(key, 1)))
		}
	}
	c.no("Resync of "+name, q.Resync())
	q.Close()
	got := deltasOf(q, len(want)+1)
	slices.Sort(want)
	c.is(fmt.Sprintf("what comes of %s that is resynced while it has %d of %d keys", name, queued, len(keys)), fmt.Sprintf("%q", want), fmt.Sprintf("%q", sorted(got)))
}

// deltasOf pops what a queue has that is closed, but not more than so many.
func deltasOf(q cache.Queue, most int) []string {
	got := []string{}
	for len(got) < most {
		deltas, err := q.Pop(func(any, bool) error { return nil })
		if err != nil {
			break
		}
		got = append(got, delta(deltas))
	}
	return got
}

// delta describes the newest of what was popped.
func delta(popped any) string {
	of, ok := popped.(cache.Deltas)
	if !ok || len(of) == 0 {
		return fmt.Sprintf("%T", popped)
	}
	what := string(of.Newest().Type)
	switch o := of.Newest().Object.(type) {
	case cache.BookmarkInfo:
		return what + " " + o.ResourceVersion
	case cache.ReplacedAllInfo:
		return fmt.Sprint(what, " ", o.ResourceVersion, " ", texts(o.Objects))
	default:
		return what + " " + text(o)
	}
}

// transactions change two objects at once, while somebody reads an index.
func transactions(c *check) {
	arrived, leave := make(chan struct{}), make(chan struct{})
	first := true
	store := cache.NewThreadSafeStore(cache.Indexers{"all": func(any) ([]string, error) {
		if first {
			first = false
			close(arrived)
			<-leave
		}
		return []string{"x"}, nil
	}}, cache.Indices{}).(cache.ThreadSafeStoreWithTransaction)
	var txns []cache.ThreadSafeStoreTransaction
	for _, key := range keys[:2] {
		kind := []cache.TransactionType{cache.TransactionTypeAdd, cache.TransactionTypeUpdate}[c.IntN(2)]
		txns = append(txns, cache.ThreadSafeStoreTransaction{Transaction: cache.Transaction{Type: kind, Object: object(key, 1)}, Key: key})
	}
	go store.Transaction(txns...)
	if !c.comes("the call of an index function in a transaction", arrived) {
		return
	}
	var found []string
	c.meanwhile(leave, func() { found, _ = store.IndexKeys("all", "x") })
	c.is("what an index has during a transaction of two objects", keys[:2], found)
	left := []cache.ThreadSafeStoreTransaction{{Transaction: cache.Transaction{Type: cache.TransactionTypeDelete, Object: object(keys[0], 2)}, Key: keys[0]}}
	store.Transaction(left...)
	found, _ = store.IndexKeys("all", "x")
	c.is("what an index has after a transaction that deletes", keys[1:2], found)
	c.is("ListKeys after a transaction that deletes", keys[1:2], store.ListKeys())
	c.unindexed()
	c.readersWait()
}

// waiters wait for a key of a work queue, while others are done with theirs, and then for its end.
func waiters(c *check) {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	held, _ := q.Get()
	c.is("Get", "a", held)
	var key string
	var shutdown bool
	get := func() { key, shutdown = q.Get() }
	again := c.IntN(2) == 0
	before, after := c.waits(get, func() {
		q.Done(held)
		c.quiesce()
		c.is("Get, which has no key, once another key is done", "", fmt.Sprint(key, map[bool]string{true: "shut down"}[shutdown]))
		if again {
			q.Add("b")
		} else {
			q.ShutDown()
		}
	})
	c.is("Get of an empty queue waits", true, before)
	c.is("Get waits although there is a key, or the queue is shut down", false, after)
	if !after {
		c.is("Get: the queue is shut down", !again, shutdown)
	}
	q.ShutDown()
	c.quiesce()

	c.ends()
	c.meetings()
	c.manyKeys()
}

// ends has several wait for the keys of a work queue that is shut down.
func (c *check) ends() {
	q := workqueue.NewTyped[string]()
	end := []func(){q.ShutDown, q.ShutDownWithDrain}[c.IntN(2)]
	gone := make(chan bool, 3)
	for range cap(gone) {
		go func() {
			_, shutdown := q.Get()
			gone <- shutdown
		}()
	}
	c.quiesce()
	c.is("how many have left the Get of an empty queue", 0, len(gone))
	end()
	c.quiesce()
	c.is(fmt.Sprintf("how many of %d have left the Get of a queue that was shut down", cap(gone)), cap(gone), len(gone))
	for range len(gone) {
		c.is("Get: the queue is shut down", true, <-gone)
	}
	q.ShutDown()
	c.quiesce()
}
