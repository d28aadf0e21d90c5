package library

import (
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// alone is an order of keys, which is used by one at a time. Its next use may take until somebody says so.
type alone struct {
	workqueue.Queue[string]
	inside      atomic.Int32
	met, slow   atomic.Bool
	came, leave chan struct{}
}

func (q *alone) use(f func()) {
	if q.inside.Add(1) > 1 {
		q.met.Store(true)
	}
	if q.slow.CompareAndSwap(true, false) {
		close(q.came)
		<-q.leave
	}
	f()
	q.inside.Add(-1)
}

// Touch implements workqueue.Queue.
func (q *alone) Touch(key string) { q.use(func() { q.Queue.Touch(key) }) }

// Push implements workqueue.Queue.
func (q *alone) Push(key string) { q.use(func() { q.Queue.Push(key) }) }

// Len implements workqueue.Queue.
func (q *alone) Len() (n int) {
	q.use(func() { n = q.Queue.Len() })
	return n
}

// Pop implements workqueue.Queue.
func (q *alone) Pop() (key string) {
	q.use(func() { key = q.Queue.Pop() })
	return key
}

// ordersAlone makes two calls of a work queue, the first of which takes its time in the queue's order: the second one waits for that.
func (c *check) ordersAlone() {
	calls := map[string]func(workqueue.TypedInterface[string]){
		"Add": func(q workqueue.TypedInterface[string]) { q.Add("new") }, "Add of a key that is ready": func(q workqueue.TypedInterface[string]) { q.Add("ready") },
		"Len": func(q workqueue.TypedInterface[string]) { q.Len() }, "Get": func(q workqueue.TypedInterface[string]) { q.Get() },
		"Done": func(q workqueue.TypedInterface[string]) { q.Done("processed") },
	}
	for first, before := range byName(calls) {
		for second, after := range byName(calls) {
			order := &alone{Queue: workqueue.DefaultQueue[string](), came: make(chan struct{}), leave: make(chan struct{})}
			q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: order})
			q.Add("processed")
			q.Get()
			for _, key := range []string{"processed", "ready", "ready, too"} {
				q.Add(key)
			}
			order.slow.Store(true)
			go before(q)
			if !c.comes("a use of a work queue's order by "+first, order.came) {
				return
			}
			go after(q)
			crowd()
			c.is(fmt.Sprintf("whether %s and %s of a work queue use its order at once", first, second), false, order.met.Load())
			close(order.leave)
			c.quiesce()
		}
	}
}

// readsHeap reads a heap to which three objects are added at once. There are all of them.
func (c *check) readsHeap() {
	for call, read := range byName(map[string]func(*cache.Heap) int{
		"List": func(h *cache.Heap) int { return len(h.List()) }, "ListKeys": func(h *cache.Heap) int { return len(h.ListKeys()) },
		"GetByKey": func(h *cache.Heap) (found int) {
			for _, key := range keys[:3] {
				if _, exists, _ := h.GetByKey(key); exists {
					found++
				}
			}
			return found
		},
	}) {
		var once sync.Once
		arrived, leave, found := make(chan struct{}), make(chan struct{}), 0
		h := cache.NewHeap(cache.MetaNamespaceKeyFunc, func(a, b any) bool {
			once.Do(func() {
				close(arrived)
				<-leave
			})
			return earlier(a, b)
		})
		go func() { _ = h.BulkAdd([]any{object(keys[0], 1), object(keys[1], 2), object(keys[2], 3)}) }()
		if !c.comes("the comparison of two objects of three", arrived) {
			return
		}
		c.meanwhile(leave, func() { found = read(h) })
		c.is("how much of three objects that are added to a Heap at once "+call+" finds", 3, found)
	}
}

// busyFIFO calls a FIFO while it processes an object. All calls wait until that is over.
func (c *check) busyFIFO() {
	other := object("c", 2)
	for name, call := range byName(map[string]func(*cache.FIFO) error{
		"Add": func(f *cache.FIFO) error { return f.Add(other) }, "Update": func(f *cache.FIFO) error { return f.Update(other) }, "Delete": func(f *cache.FIFO) error { return f.Delete(other) },
		"Replace": func(f *cache.FIFO) error { return f.Replace([]any{other}, "2") }, "Resync": (*cache.FIFO).Resync, "Close": func(f *cache.FIFO) error { f.Close(); return nil },
		"HasSynced": func(f *cache.FIFO) error { f.HasSynced(); return nil }, "IsClosed": func(f *cache.FIFO) error { f.IsClosed(); return nil },
	}) {
		f := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
		c.no("Add", f.Add(object("ns1/a", 1)))
		var over atomic.Bool
		early, returned := false, make(chan struct{})
		_, err := f.Pop(func(any, bool) error {
			go func() {
				defer close(returned)
				c.no(name+" of a FIFO", call(f))
				early = !over.Load()
			}()
			crowd()
			over.Store(true)
			return nil
		})
		<-returned
		c.no("Pop", err)
		c.is("whether "+name+" of a FIFO returns while it processes an object", false, early)
		f.Close()
	}
}

// hesitates is a policy by which the first entry that it is asked about has expired, as it says when it is told to.
type hesitates struct {
	once        sync.Once
	came, leave chan struct{}
}

// IsExpired implements cache.ExpirationPolicy.
func (p *hesitates) IsExpired(*cache.TimestampedEntry) (yes bool) {
	p.once.Do(func() {
		close(p.came)
		<-p.leave
		yes = true
	})
	return yes
}

// renewedInRead renews an entry of an ExpirationCache while somebody reads it who finds that it has expired. The new one stays.
func (c *check) renewedInRead() {
	for name, call := range byName(map[string]func(cache.Store) error{
		"Add": func(s cache.Store) error { return s.Add(object("c", 2)) }, "Replace": func(s cache.Store) error { return s.Replace([]any{object("c", 2)}, "2") },
	}) {
		policy := &hesitates{came: make(chan struct{}), leave: make(chan struct{})}
		s := cache.NewExpirationStore(cache.MetaNamespaceKeyFunc, policy)
		c.no("Add", s.Add(object("c", 1)))
		go func() { _, _, _ = s.GetByKey("c") }()
		if !c.comes("the question whether an entry has expired", policy.came) {
			return
		}
		var err error
		go func() { err = call(s) }()
		crowd()
		close(policy.leave)
		c.quiesce()
		c.no(name, err)
		got, _, err := s.GetByKey("c")
		c.no("GetByKey", err)
		c.is("what an ExpirationCache has after "+name+" of an entry that was found to have expired meanwhile", "c@2", text(got))
	}
}
