package library

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// largestBatch is how many objects a RealFIFO gives at once.
const largestBatch = 1000

// longBatches queues more than fits into a batch.
func (c *check) longBatches() {
	f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
	for n := range largestBatch + 1 {
		c.no("Update of a RealFIFO", f.Update(object(fmt.Sprint("ns1/", n), 1)))
	}
	f.Close() // what it has comes all the same, and nobody waits for more
	for _, want := range []int{largestBatch, 1} {
		got := 0
		err := f.PopBatch(func(deltas []cache.Delta, _ bool) error { got = len(deltas); return nil }, func(any, bool) error { got = 1; return nil })
		c.no("PopBatch", err)
		c.is(fmt.Sprintf("how many of %d objects come in a batch", largestBatch+1), want, got)
	}
}

// keepsLists has a queue transform a list, which is the caller's still.
func (c *check) keepsLists() {
	replaced := object("ns1/b", 2)
	o := cache.RealFIFOOptions{AtomicEvents: c.IntN(2) == 0, Transformer: func(any) (any, error) { return replaced, nil }}
	if !o.AtomicEvents {
		o.KnownObjects = cache.NewStore(cache.MetaNamespaceKeyFunc)
	}
	f := cache.NewRealFIFOWithOptions(o)
	list := []any{object("ns1/a", 1)}
	c.no("Replace of a RealFIFO", f.Replace(list, "1"))
	c.is(fmt.Sprintf("what is in a list that a RealFIFO has transformed, whether its events are atomic: %t", o.AtomicEvents), []string{"ns1/a@1"}, texts(list))
	f.Close()
}

// listedTwice replaces what a DeltaFIFO has by a list in which an object is twice. It comes once, and then the queue has synced.
func (c *check) listedTwice() {
	q := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc), EmitDeltaTypeReplaced: true})
	c.no("Replace of a DeltaFIFO", q.Replace([]any{object("ns1/a", 1), object("ns1/a", 2)}, "2"))
	c.is("whether a DeltaFIFO has synced before what its first list has twice is popped", false, q.HasSynced())
	popped, err := q.Pop(func(any, bool) error { return nil })
	c.no("Pop of a DeltaFIFO", err)
	c.is("what is popped of a list that has it twice", "Replaced ns1/a@2", delta(popped))
	c.is("whether a DeltaFIFO has synced once what its first list has twice is popped", true, q.HasSynced())
	q.Close()
}
