package library

import (
	"errors"
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

// firstLists gives a queue its first list, of which its store has some objects, and others, too, and then something that is not part of it.
// The queue has synced once the deletions were popped as well.
func (c *check) firstLists() {
	name, q, known := c.either()
	var list []any
	want := []string{}
	for _, key := range keys {
		draw := c.IntN(4)
		if draw > 1 {
			list = append(list, object(key, 2))
			want = append(want, "Replaced "+text(object(key, 2)))
		}
		if draw%2 == 1 {
			c.no("Add", known.Add(object(key, 1)))
		}
		if draw == 1 {
			want = append(want, "Deleted cache.DeletedFinalStateUnknown")
		}
	}
	c.no("Replace of "+name, q.Replace(list, "2"))
	c.no("Update of "+name, q.Update(object("ns3/later", 3)))
	q.Close() // what it has comes all the same
	batched, batches := q.(cache.QueueWithBatch)
	batches = batches && c.IntN(2) == 0
	got, later := []string{}, ""
	process := func(deltas []cache.Delta, isInInitialList bool) error {
		for _, d := range deltas {
			of := delta(cache.Deltas{d})
			if of == "Updated ns3/later@3" {
				later = of
				c.is("whether what comes after the first list is part of it", false, isInInitialList)
				continue
			}
			got = append(got, of)
			c.is(fmt.Sprintf("whether %s of the first list of %s is part of it, and the queue has synced", of, name), [2]bool{true, false}, [2]bool{isInInitialList, synced(q) && len(got) < len(want)})
		}
		return nil
	}
	single := func(deltas any, isInInitialList bool) error { return process(deltas.(cache.Deltas), isInInitialList) }
	for later == "" {
		c.is(fmt.Sprintf("HasSynced of %s after %d of %d of the first list", name, len(got), len(want)), len(got) == len(want), q.HasSynced())
		var err error
		if batches {
			err = batched.PopBatch(process, single)
		} else {
			_, err = q.Pop(single)
		}
		c.no("Pop of "+name, err)
		if err != nil {
			return
		}
	}
	c.is("what comes of the first list of "+name, fmt.Sprintf("%q", sorted(want)), fmt.Sprintf("%q", sorted(got)))
}

// closes has two wait for an empty queue that is closed.
func (c *check) closes() {
	name, q, _ := c.either()
	gone := make(chan error, 2)
	for range cap(gone) {
		go func() {
			_, err := q.Pop(func(any, bool) error { return nil })
			gone <- err
		}()
	}
	c.quiesce()
	c.is("how many of two have left the Pop of an empty "+name, 0, len(gone))
	q.Close()
	c.quiesce()
	c.is("how many of two have left the Pop of "+name+" that was closed", cap(gone), len(gone))
	for range len(gone) {
		c.is("whether Pop of "+name+" that was closed says so", true, errors.Is(<-gone, cache.ErrFIFOClosed))
	}
	q.Close()
	c.quiesce()
}

// synced reports whether a queue has synced, of somebody who processes what it has popped, while it is locked.
func synced(q cache.Queue) bool { return cache.IsDone(q.HasSyncedChecker()) }

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
