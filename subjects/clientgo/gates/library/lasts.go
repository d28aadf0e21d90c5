package library

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// wakesTwo has two wait for a heap that gets two objects at once.
func (c *check) wakesTwo() {
	h := cache.NewHeap(cache.MetaNamespaceKeyFunc, earlier)
	got := make(chan any, 2)
	for range cap(got) {
		go func() {
			obj, _ := h.Pop()
			got <- obj
		}()
	}
	c.quiesce()
	c.no("BulkAdd", h.BulkAdd([]any{object("c", 1), object("ns1/a", 2)}))
	c.quiesce()
	c.is("how many of two have left the Pop of a Heap that got two objects", cap(got), len(got))
	h.Close()
	c.quiesce()
}

// counted is a work queue that counts what is added to it.
type counted struct {
	workqueue.TypedInterface[string]
	added int
}

// Add implements workqueue.TypedInterface.
func (q *counted) Add(key string) {
	q.added++
	q.TypedInterface.Add(key)
}

// outlives drains a delaying queue of which a key waits. Its loop ends when it is woken next (I98), and adds nothing.
func (c *check) outlives() {
	now, under := clocktesting.NewFakeClock(time.Unix(1000, 0)), &counted{TypedInterface: workqueue.NewTyped[string]()}
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: now, Queue: under})
	q.AddAfter("a", time.Second)
	c.quiesce()
	q.ShutDownWithDrain()
	q.AddAfter("b", 0)
	now.Step(time.Second)
	c.quiesce()
	c.is("how many keys are added by a delaying queue that was drained", 0, under.added)
	q.ShutDown()
	c.quiesce()
}

// leaves gives a FIFO its first list, in which an object may be twice, deletes some of it, and closes it. What is left comes, and then it has synced.
func (c *check) leaves() {
	f, m := cache.NewFIFO(cache.MetaNamespaceKeyFunc), model{}
	var list []any
	for n := range 1 + c.IntN(6) {
		key := c.key()
		m[key] = object(key, n+1)
		list = append(list, m[key])
	}
	c.no("Replace of a FIFO", f.Replace(list, "6"))
	for range c.IntN(3) {
		key := c.key()
		c.no("Delete of a FIFO", f.Delete(object(key, 7)))
		delete(m, key)
	}
	f.Close()
	got := []any{}
	for {
		obj, err := f.Pop(func(any, bool) error { return nil })
		if err != nil {
			c.is("whether Pop of a FIFO that is closed says so", true, errors.Is(err, cache.ErrFIFOClosed))
			break
		}
		got = append(got, obj)
	}
	c.is("what comes of a FIFO that was closed", m.texts(), texts(got))
	c.is(fmt.Sprintf("HasSynced of a FIFO whose first list had %d objects, of which %d were left", len(list), len(m)), true, f.HasSynced())
}

// renewed replaces what an ExpirationCache has when half of its time is over: that is young again.
func (c *check) renewed(ttl time.Duration) {
	later := &ahead{}
	s := cache.NewExpirationStore(cache.MetaNamespaceKeyFunc, &cache.TTLPolicy{TTL: ttl, Clock: later})
	for _, key := range keys {
		c.no("Add", s.Add(object(key, 1)))
	}
	time.Sleep(time.Nanosecond) // the store has a clock of its own
	kept := c.key()
	c.no("Replace", s.Replace([]any{object(kept, 1+c.IntN(2))}, "3"))
	later.by = ttl
	c.is("how many objects are left of a list, at the end of the TTL of what was there before it", 1, len(s.List()))
	later.by++
	c.is("how many are left at the end of its own", 0, len(s.List()))
}
