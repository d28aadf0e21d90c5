package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/cache/synctrack"
	"k8s.io/client-go/util/workqueue"
)

// earlier orders objects by their revisions, which all differ.
func earlier(a, b any) bool {
	one, other := a.(*metav1.PartialObjectMetadata).ResourceVersion, b.(*metav1.PartialObjectMetadata).ResourceVersion
	if len(one) != len(other) {
		return len(one) < len(other)
	}
	return one < other
}

func heaps(c *check) {
	h, m := cache.NewHeap(cache.MetaNamespaceKeyFunc, earlier), model{}
	revisions := c.Perm(64)
	for _, n := range revisions[:24] {
		key := c.key()
		obj := object(key, n)
		switch c.IntN(6) {
		case 0:
			c.is("Delete of "+key+" has an error", m[key] == nil, h.Delete(obj) != nil)
			delete(m, key)
		case 1:
			if len(m) > 0 {
				c.pops(h, m)
			}
		case 2:
			other := object(c.key(), n+64)
			c.no("BulkAdd", h.BulkAdd([]any{obj, other}))
			m[key] = obj
			otherKey, _ := cache.MetaNamespaceKeyFunc(other)
			m[otherKey] = other
		case 3:
			c.no("AddIfNotPresent", h.AddIfNotPresent(obj))
			if m[key] == nil {
				m[key] = obj
			}
		case 4:
			c.no("Update", h.Update(obj))
			m[key] = obj
		default:
			c.no("Add", h.Add(obj))
			m[key] = obj
		}
		c.is("List", m.texts(), texts(h.List()))
		c.is("ListKeys", m.keys(), sorted(h.ListKeys()))
		got, exists, err := h.Get(object(key, 0))
		c.no("Get", err)
		c.found("Get of "+key, m[key], got, exists)
	}
	for len(m) > 0 && len(c.wrong) == 0 {
		c.pops(h, m)
	}
	c.wakes(h)
}

// unordered changes an object of a heap in which none comes before another.
func (c *check) unordered() {
	h := cache.NewHeap(cache.MetaNamespaceKeyFunc, func(_, _ any) bool { return false })
	c.no("Add", h.Add(object("c", 1)))
	c.no("Update", h.Update(object("c", 2)))
	c.is("List of a heap whose object has changed, but not its place", []string{"c@2"}, texts(h.List()))
}

// pops takes the first object of a heap that has some.
func (c *check) pops(h *cache.Heap, m model) {
	first := slices.MinFunc(m.objects(), func(a, b *metav1.PartialObjectMetadata) int {
		if earlier(a, b) {
			return -1
		}
		return 1
	})
	got, err := h.Pop()
	c.no("Pop", err)
	c.is("Pop", text(first), text(got))
	key, _ := cache.MetaNamespaceKeyFunc(first)
	delete(m, key)
}

// wakes lets a Pop wait for an empty heap, and closes it.
func (c *check) wakes(h *cache.Heap) {
	if len(h.ListKeys()) > 0 {
		return
	}
	add := []struct {
		name string
		f    func() error
	}{
		{"Add", func() error { return h.Add(object("c", 1)) }},
		{"BulkAdd", func() error { return h.BulkAdd([]any{object("c", 1)}) }},
		{"AddIfNotPresent", func() error { return h.AddIfNotPresent(object("c", 1)) }},
	}[c.IntN(3)]
	before, after := c.waits(func() { _, _ = h.Pop() }, func() { c.no(add.name, add.f()) })
	c.is("Pop of an empty Heap waits", true, before)
	c.is("Pop waits although there was "+add.name, false, after)
	if after {
		c.waits(h.Close, func() {})
		return
	}
	var err error
	_, after = c.waits(func() { _, err = h.Pop() }, h.Close)
	c.is("Pop waits although there was Close", false, after)
	if !after {
		c.refused("Pop of a Heap that is closed", err)
	}
	c.refused("Add to a Heap that is closed", h.Add(object("c", 1)))
	c.wakesTwo()
	c.unordered()
	c.leavesHeap()
	c.readsHeap()
	left := cache.NewHeap(cache.MetaNamespaceKeyFunc, earlier)
	c.no("BulkAdd", left.BulkAdd([]any{object("c", 1), object("gone", 2)}))
	left.Close()
	c.no("Delete from a Heap that is closed", left.Delete(object("gone", 2)))
	got, err := left.Pop()
	c.no("Pop of a Heap that was closed with an object", err)
	c.is("Pop of a Heap that was closed with an object", "c@1", text(got))
}

func fifos(c *check) {
	f, m := cache.NewFIFO(cache.MetaNamespaceKeyFunc), model{}
	listing := true
	pop := func() string {
		got, err := f.Pop(func(_ any, isInInitialList bool) error {
			c.is("whether what is popped is part of the initial list, and the FIFO has synced", [2]bool{listing, !listing}, [2]bool{isInInitialList, cache.IsDone(f)})
			return nil
		})
		c.no("Pop", err)
		return text(got)
	}
	initial := c.IntN(len(keys)) + 1
	var list []any
	for n, key := range keys[:initial] {
		m[key] = object(key, n+1)
		list = append(list, m[key])
	}
	c.is("HasSynced before the first list", false, f.HasSynced())
	c.no("Replace", f.Replace(list, "1"))
	for n := range initial {
		c.is(fmt.Sprintf("HasSynced after %d of %d objects of the first list", n, initial), false, f.HasSynced())
		got := pop()
		c.is("Pop gives an object of the list once", true, slices.Contains(m.texts(), got))
		for _, obj := range m.objects() {
			if text(obj) == got {
				key, _ := cache.MetaNamespaceKeyFunc(obj)
				delete(m, key)
			}
		}
	}
	c.is("HasSynced after the first list", true, f.HasSynced())
	listing = false

	var places []string // a key that is deleted leaves its place, which counts again once it is added
	first := func() string {
		for m[places[0]] == nil {
			places = places[1:]
		}
		key := places[0]
		places = places[1:]
		want := text(m[key])
		delete(m, key)
		return want
	}
	for n := range 24 {
		key := c.key()
		obj := object(key, n+10)
		switch draw := c.IntN(6); {
		case draw == 0:
			c.no("Delete", f.Delete(obj))
			delete(m, key)
		case draw < 3 && len(m) > 0:
			c.is("Pop", first(), pop())
		default:
			c.no("Update", f.Update(obj))
			if m[key] == nil {
				places = append(places, key)
			}
			m[key] = obj
		}
		if c.IntN(4) == 0 {
			c.no("Resync", f.Resync())
		}
		if len(c.wrong) > 0 {
			return
		}
	}
	c.no("Add", f.Add(object("c", 50)))
	c.no("Replace", f.Replace([]any{object("ns1/a", 51)}, "51"))
	c.no("Add", f.Add(object("c", 52)))
	c.is("Pop after a Replace", "ns1/a@51", pop())
	c.is("Pop after a Replace and an Add", "c@52", pop())
	before, after := c.waits(func() { _, _ = f.Pop(func(any, bool) error { return nil }) }, f.Close)
	c.is("Pop of an empty FIFO waits", true, before)
	c.is("Pop waits although there was Close", false, after)
	c.oddFIFOs()
}

// oddFIFOs have something happen that the others do not meet.
func (c *check) oddFIFOs() {
	c.unlisted()
	c.leaves()
	c.unlistedQueues()
	c.withoutKey()
	c.unprocessed()
	c.listedAgain()
	c.busyFIFO()
}

// listedAgain has a second list come before the first one is popped. A FIFO has synced when it was popped as often as the first was long.
func (c *check) listedAgain() {
	f := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
	c.no("Replace", f.Replace([]any{object("ns1/a", 1), object("ns1/b", 1), object("c", 1)}, "1"))
	c.no("Replace", f.Replace([]any{object("ns1/a", 2)}, "2"))
	for n := range 3 {
		c.is(fmt.Sprintf("HasSynced after %d of 3 objects of a list that another one has replaced", n), false, f.HasSynced())
		c.no("Add", f.Add(object("ns1/a", 3+n)))
		got, err := f.Pop(func(any, bool) error { return nil })
		c.is("Pop of a FIFO after two lists", [2]string{fmt.Sprint("ns1/a@", 3+n)}, [2]string{text(got), message(err)})
	}
	c.is("HasSynced after as many objects as the first list had", true, f.HasSynced())
}

// unprocessed pops what cannot be processed, by an error or a panic. It has left a FIFO all the same.
func (c *check) unprocessed() {
	f := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
	c.no("Add", f.Add(object("ns1/a", 1)))
	got, err := f.Pop(func(any, bool) error { return errNoNetwork })
	c.is("Pop of what cannot be processed", [2]string{"ns1/a@1", message(errNoNetwork)}, [2]string{text(got), message(err)})
	c.no("Add", f.Add(object("ns1/b", 2)))
	c.is("whether Pop panics with what processes", true, panics(func() { _, _ = f.Pop(func(any, bool) error { panic("it is broken") }) }))
	c.no("Resync", f.Resync())
	waits, _ := c.waits(func() { _, _ = f.Pop(func(any, bool) error { return nil }) }, f.Close)
	c.is("whether Pop waits once all has been popped that cannot be processed", true, waits)
}

// unlisted deletes an object of a FIFO's first list before it is popped. Its place is left: the FIFO has synced when all places were come to.
func (c *check) unlisted() {
	f := cache.NewFIFO(cache.MetaNamespaceKeyFunc)
	c.no("Replace", f.Replace([]any{object("ns1/a", 1), object("ns1/b", 2), object("c", 3)}, "3"))
	c.no("Delete", f.Delete(object("ns1/b", 4)))
	c.is("HasSynced after an object of the first list was deleted", false, f.HasSynced())
	c.no("Add", f.Add(object("ns2/a", 5)))
	for n := range 2 {
		c.is(fmt.Sprintf("HasSynced after %d of 2 objects that are left of the first list", n), false, f.HasSynced())
		_, err := f.Pop(func(any, bool) error { return nil })
		c.no("Pop", err)
	}
	got, err := f.Pop(func(any, bool) error { return nil })
	c.no("Pop", err)
	c.is("Pop after what is left of the first list", "ns2/a@5", text(got))
	c.is("HasSynced after what is left of the first list", true, f.HasSynced())
	f.Close()
	_, err = f.Pop(func(any, bool) error { return nil })
	c.is("whether Pop of a FIFO that is closed says so", true, errors.Is(err, cache.ErrFIFOClosed))
}

func trackers(c *check) {
	async, single := synctrack.NewAsyncTracker[string]("async"), synctrack.NewSingleFileTracker("single")
	waiting, upstream := map[string]bool{}, false
	synced, singleSynced, open := false, false, 0
	for range 12 {
		key := c.key()
		switch c.IntN(4) {
		case 0:
			if !upstream && c.IntN(2) == 0 {
				upstream = true
				async.UpstreamHasSynced()
				single.UpstreamHasSynced()
				synced, singleSynced = len(waiting) == 0, open == 0
			}
		case 1:
			async.Finished(key)
			delete(waiting, key)
			synced = synced || upstream && len(waiting) == 0
			if open > 0 {
				single.Finished()
				open--
				singleSynced = singleSynced || upstream && open == 0
			}
		default:
			async.Start(key)
			single.Start()
			waiting[key] = true
			open++
		}
		c.is(fmt.Sprintf("HasSynced of an AsyncTracker with %d to go, upstream %t", len(waiting), upstream), synced, async.HasSynced())
		c.is("Done of an AsyncTracker", synced, cache.IsDone(async))
		c.is(fmt.Sprintf("HasSynced of a SingleFileTracker with %d to go, upstream %t", open, upstream), singleSynced, single.HasSynced())
		c.is("Done of a SingleFileTracker", singleSynced, cache.IsDone(single))
	}
	for range open {
		single.Finished()
	}
	c.is("the names of trackers", [2]string{"async", "single"}, [2]string{async.Name(), single.Name()})
	c.is("whether a SingleFileTracker takes more ends than beginnings", true, panics(single.Finished))
	c.lazy()
}

// panics reports whether a call does.
func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// notifiedMeanwhile is a Lazy that is notified while it computes, by what it computes from. It computes anew for whoever asks then.
func (c *check) notifiedMeanwhile() {
	computed := 0
	var z synctrack.Lazy[int]
	z.Evaluate = func() (int, error) {
		if computed++; computed == 1 {
			z.Notify()
		}
		return computed, nil
	}
	for n := range 3 {
		got := 0
		if !c.returns("Get of a Lazy that is notified while it computes", func() { got, _ = z.Get() }) {
			return
		}
		c.is(fmt.Sprintf("Get %d of a Lazy that was notified while it computed for the first", n+1), min(n+1, 2), got)
	}
}

func (c *check) lazy() {
	c.notifiedMeanwhile()
	calls, fails := 0, false
	z := synctrack.Lazy[int]{Evaluate: func() (int, error) {
		calls++
		if fails {
			return 0, errors.New("it fails")
		}
		return calls, nil
	}}
	want, stale := 0, true
	for range 10 {
		if c.IntN(3) == 0 {
			z.Notify()
			stale = true
		}
		fails = c.IntN(3) == 0
		got, err := z.Get()
		if stale {
			want++
		}
		c.is("how often Lazy has evaluated", want, calls)
		if stale && fails {
			c.refused("Get of a Lazy that cannot evaluate", err)
			continue
		}
		if stale {
			stale = false
			c.is("Get of a Lazy after Notify", calls, got)
		}
		c.no("Get of a Lazy", err)
	}
}

// parallel is about ParallelizeUntil, which has few calls: each round makes them twice.
func parallel(c *check) {
	for range 2 {
		c.parallel(c.IntN(12), c.IntN(5), 1+c.IntN(4))
	}
	nobody := 0
	workqueue.ParallelizeUntil(context.Background(), 0, 3, func(int) { nobody++ })
	c.is("how many of 3 pieces are done without workers", 0, nobody)
	c.negativeChunk()
}

// parallel does some work in pieces, of which several are under way at once.
func (c *check) parallel(pieces, chunk, workers int) {
	var mu sync.Mutex
	done, beyond := make([]int, pieces), false
	workqueue.ParallelizeUntil(context.Background(), workers, pieces, func(piece int) {
		mu.Lock()
		defer mu.Unlock()
		if piece >= pieces {
			beyond = true
			return
		}
		done[piece]++
	}, workqueue.WithChunkSize(chunk))
	c.is(fmt.Sprintf("whether a piece beyond %d is done, in chunks of %d", pieces, chunk), false, beyond)
	once := slices.Repeat([]int{1}, pieces)
	c.is(fmt.Sprintf("how often each of %d pieces was done, in chunks of %d", pieces, chunk), once, done)
	var none context.Context // which is allowed
	alone := 0
	workqueue.ParallelizeUntil(none, 1, pieces, func(int) { alone++ }, workqueue.WithChunkSize(chunk))
	c.is(fmt.Sprintf("how many of %d pieces are done without a context", pieces), pieces, alone)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	workqueue.ParallelizeUntil(ctx, workers, pieces, func(int) { done = nil }, workqueue.WithChunkSize(chunk))
	c.is("what is done once the context is", once, done)
	ctx, cancel = context.WithCancel(context.Background())
	begun := 0
	workqueue.ParallelizeUntil(ctx, 1, pieces, func(int) {
		cancel()
		begun++
	}, workqueue.WithChunkSize(chunk))
	cancel()
	c.is(fmt.Sprintf("how many of %d pieces are done, in chunks of %d, if the first ends the context", pieces, chunk), min(1, pieces), begun)
	c.besides(pieces, workers, max(1, chunk))
}

// besides has the pieces of some work wait, until as many are under way as there are workers for. One worker does a chunk of them.
func (c *check) besides(pieces, workers, chunk int) {
	var begun atomic.Int64
	leave := make(chan struct{})
	_, after := c.waits(func() {
		workqueue.ParallelizeUntil(context.Background(), workers, pieces, func(int) {
			begun.Add(1)
			<-leave
		}, workqueue.WithChunkSize(chunk))
	}, func() {
		c.is(fmt.Sprintf("how many of %d pieces %d workers do at once, in chunks of %d", pieces, workers, chunk), int64(min((pieces+chunk-1)/chunk, workers)), begun.Load())
		close(leave)
	})
	c.is("whether ParallelizeUntil waits although nobody is at work", false, after)
}
