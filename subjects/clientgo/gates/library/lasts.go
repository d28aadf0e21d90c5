package library

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// told is a limiter that notes what it is told. It counts nothing.
type told struct{ calls []string }

// When implements workqueue.TypedRateLimiter.
func (l *told) When(key string) time.Duration {
	l.calls = append(l.calls, "when "+key)
	return time.Hour
}

// Forget implements workqueue.TypedRateLimiter.
func (l *told) Forget(key string) { l.calls = append(l.calls, "forget "+key) }

// NumRequeues implements workqueue.TypedRateLimiter.
func (l *told) NumRequeues(string) int { return 0 }

// passedOn has a rate limited queue pass on to its limiter whatever it is told, if it is shut down, too.
func (c *check) passedOn() {
	l := &told{}
	q := workqueue.NewTypedRateLimitingQueue[string](l)
	want := []string{}
	for n := range 8 {
		if n == 4 {
			q.ShutDown()
		}
		key := c.key()
		if c.IntN(2) == 0 {
			q.AddRateLimited(key)
			want = append(want, "when "+key)
		} else {
			q.Forget(key)
			want = append(want, "forget "+key)
		}
	}
	c.is("what the limiter of a queue is told", want, l.calls)
	c.quiesce()
}

// renames are stores whose transform changes the names of objects: those are under the keys that they came with.
func (c *check) renames() {
	s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}, cache.WithTransformer(func(obj any) (any, error) {
		o := obj.(*metav1.PartialObjectMetadata).DeepCopy()
		o.Name = "b"
		return o, nil
	}))
	call := []string{"Add", "Update", "Replace"}[c.IntN(3)]
	obj := object("ns2/a", 1)
	c.no(call, map[string]func() error{ // the order does not matter: one is called
		"Add": func() error { return s.Add(obj) }, "Update": func() error { return s.Update(obj) }, "Replace": func() error { return s.Replace([]any{obj}, "1") },
	}[call]())
	c.is("ListKeys after "+call+" of what is renamed", []string{"ns2/a"}, s.ListKeys())
	c.is("List after "+call+" of what is renamed", []string{"ns2/b@1"}, texts(s.List()))
}

// losesKey has a RealFIFO transform an object into something that has no key. Whoever processes it says so.
func (c *check) losesKey() {
	q := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, Transformer: func(any) (any, error) { return "no object", nil }})
	c.no("Add of what has no key once it is transformed", q.Add(object("c", 1)))
	popped, err := q.Pop(func(any, bool) error { return nil })
	c.no("Pop of that", err)
	c.is("Pop of that", fmt.Sprint(cache.Deltas{{Type: cache.Added, Object: "no object"}}), fmt.Sprint(popped))
	q.Close()
}
