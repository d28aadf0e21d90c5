package informer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// TestRealFIFOAgainstClientGo compares every answer with client-go's RealFIFO in plain and atomic mode, popped singly or in
// batches.
func TestRealFIFOAgainstClientGo(t *testing.T) {
	for _, atomic := range []bool{false, true} {
		for _, batch := range []bool{false, true} {
			t.Run(fmt.Sprintf("atomic=%v,batch=%v", atomic, batch), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { realFIFOAgainstClientGo(t, atomic, batch) })
			})
		}
	}
}

func realFIFOAgainstClientGo(t *rapid.T, atomic, batch bool) {
	known := NewIndexer(IndexerOptions{})
	mine := RealFIFOOptions{Atomic: atomic, EmitBookmarks: atomic, Batch: batch}
	other := cache.RealFIFOOptions{AtomicEvents: atomic, EmitDeltaTypeBookmark: atomic, KeyFunction: cache.MetaNamespaceKeyFunc}
	if !atomic {
		mine.KnownObjects, other.KnownObjects = known, orderedKnown{known}
	}
	if rapid.Bool().Draw(t, "transform") {
		mine.Transformer, other.Transformer = markTransformed, markTransformed
	}
	ours, theirs := NewRealFIFO(mine), cache.NewRealFIFOWithOptions(other)
	rv := 0
	next := func() *v1.Pod { rv++; return genPod(t, rv) }
	pop := func(t *rapid.T) { popRealBoth(t, ours, theirs, batch, known) }
	t.Repeat(map[string]func(*rapid.T){
		"add":         func(t *rapid.T) { p := next(); agree(t, ours.Add(p), theirs.Add(p)) },
		"update":      func(t *rapid.T) { p := next(); agree(t, ours.Update(p), theirs.Update(p)) },
		"delete":      func(t *rapid.T) { p := next(); agree(t, ours.Delete(p), theirs.Delete(p)) },
		"addKeyed":    func(t *rapid.T) { p := next(); agree(t, writeKeyed(ours, cache.Added, p), theirs.Add(p)) },
		"updateKeyed": func(t *rapid.T) { p := next(); agree(t, writeKeyed(ours, cache.Updated, p), theirs.Update(p)) },
		"deleteKeyed": func(t *rapid.T) { p := next(); agree(t, writeKeyed(ours, cache.Deleted, p), theirs.Delete(p)) },
		"tombstone": func(t *rapid.T) {
			p := next()
			key, _ := MetaNamespaceKey(p)
			d := cache.DeletedFinalStateUnknown{Key: key, Obj: p}
			agree(t, ours.Delete(d), theirs.Delete(d))
		},
		"noKey": func(t *rapid.T) {
			agree(t, ours.Add("x"), theirs.Add("x"))
			if !atomic {
				p := next()
				agree(t, ours.Replace([]any{p, "x"}, ""), theirs.Replace([]any{p, "x"}, ""))
			}
		},
		"replace": func(t *rapid.T) {
			var list []any
			for range rapid.IntRange(0, 6).Draw(t, "n") {
				list = append(list, next())
			}
			agree(t, ours.Replace(slices.Clone(list), "7"), theirs.Replace(slices.Clone(list), "7"))
		},
		"resync":   func(t *rapid.T) { agree(t, ours.Resync(), theirs.Resync()) },
		"bookmark": func(t *rapid.T) { agree(t, ours.Bookmark("9"), theirs.Bookmark("9")) },
		"pop":      pop,
		"popMany": func(t *rapid.T) {
			for range 5 {
				pop(t)
			}
		},
		"": func(t *rapid.T) {
			if o, c := ours.HasSynced(), theirs.HasSynced(); o != c {
				t.Fatalf("HasSynced: ours %v, client-go %v", o, c)
			}
		},
	})
	theirs.Close()
	for ours.Len() > 0 {
		pop(t)
	}
	if _, err := theirs.Pop(func(any, bool) error { return nil }); !errors.Is(err, cache.ErrFIFOClosed) {
		t.Fatalf("our queue is empty, but client-go's Pop returned %v", err)
	}
}

func popRealBoth(t *rapid.T, ours *RealFIFO, theirs *cache.RealFIFO, batch bool, known *Indexer) {
	var p Popped
	if !ours.Pop(&p) {
		return
	}
	gotOurs := fmt.Sprint(showDeltas(p.Deltas), p.IsInInitialList, ours.HasSynced(), p.Keys != nil)
	gotTheirs := ""
	// HasSynced cannot be called inside: unless it unlocks, client-go holds its lock there. The channel of IsDone can be
	// read.
	single := func(obj any, initial bool) error {
		gotTheirs = fmt.Sprint(showDeltas(obj.(cache.Deltas)), initial, cache.IsDone(theirs.HasSyncedChecker()), false)
		return nil
	}
	var err error
	if batch {
		err = theirs.PopBatch(func(ds []cache.Delta, initial bool) error {
			gotTheirs = fmt.Sprint(showDeltas(ds), initial, cache.IsDone(theirs.HasSyncedChecker()), true)
			return nil
		}, single)
	} else {
		_, err = theirs.Pop(single)
	}
	if err != nil || gotOurs != gotTheirs {
		t.Fatalf("popped: ours %s, client-go %s (%v)", gotOurs, gotTheirs, err)
	}
	for i, d := range p.Deltas {
		key := p.Key
		if p.Keys != nil {
			key = p.Keys[i]
		}
		if want, _ := ours.KeyOf(d); batchable(d.Type) && key != want {
			t.Fatalf("wrong key %q for %s", key, show(d.Object))
		}
		if batchable(d.Type) {
			applyKnown(known, &Popped{Deltas: cache.Deltas{d}})
		}
	}
	ours.Done()
}

func plainQueue(x *Indexer) Queue { return NewRealFIFO(RealFIFOOptions{KnownObjects: x}) }

func plainBatchQueue(x *Indexer) Queue {
	return NewRealFIFO(RealFIFOOptions{KnownObjects: x, Batch: true})
}

func atomicQueue(*Indexer) Queue {
	return NewRealFIFO(RealFIFOOptions{Atomic: true, EmitBookmarks: true, UnlockWhileProcessing: true, Batch: true})
}

func TestI52OneEntryPerEventInArrivalOrder(t *testing.T) {
	g := newRig(plainQueue)
	must(t, g.q.Add(pod("b", 1)))
	must(t, g.q.Add(pod("a", 2)))
	must(t, g.q.Update(pod("b", 3)))
	equal(t, g.drain(t), []string{"add b@1", "add a@2", "update b@1→b@3"})
}

func TestI53DeleteOfUnknownKeysIsEnqueued(t *testing.T) {
	g := newRig(plainQueue)
	must(t, g.q.Delete(pod("a", 1)))
	equal(t, g.drain(t), []string{"delete a@1"})
}

func TestI54ReplaceTombstonesFirst(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	must(t, known.Replace(anys(pod("k", 1), pod("deleted", 1)), "1"))
	f := NewRealFIFO(RealFIFOOptions{KnownObjects: known})
	must(t, f.Add(pod("q", 2)))
	must(t, f.Delete(pod("deleted", 3)))
	must(t, f.Replace(anys(pod("n", 4)), "4"))
	equal(t, popAll(f), []string{"Added:q@2", "Deleted:deleted@3", "Deleted:~q(q@2)", "Deleted:~k(k@1)", "Replaced:n@4"})
}

func TestI55CountFallsAfterProcessing(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	must(t, known.Add(pod("gone", 1)))
	f := NewRealFIFO(RealFIFOOptions{KnownObjects: known})
	must(t, f.Replace(anys(pod("a", 2)), "2"))
	var p Popped
	for i, want := range []string{"Deleted:~gone(gone@1)", "Replaced:a@2"} { // initial count = queue length
		f.Pop(&p)
		if got := showDeltas(p.Deltas); got != want || !p.IsInInitialList || f.HasSynced() || !f.Locked() {
			t.Fatalf("%d: popped %s, initial %v, synced %v, locked %v", i, got, p.IsInInitialList, f.HasSynced(), f.Locked())
		}
		f.Done()
	}
	if !f.HasSynced() || f.Locked() {
		t.Error("not synced after processing")
	}
}

func TestI56I57Options(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	for name, o := range map[string]RealFIFOOptions{
		"nothing":                  {},
		"atomic and KnownObjects":  {Atomic: true, KnownObjects: known},
		"bookmarks without atomic": {KnownObjects: known, EmitBookmarks: true},
		"unlock without atomic":    {KnownObjects: known, UnlockWhileProcessing: true},
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "coding error") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			NewRealFIFO(o)
		}()
	}
}

func TestI57AtomicDeltas(t *testing.T) {
	f := NewRealFIFO(RealFIFOOptions{Atomic: true, EmitBookmarks: true})
	must(t, f.Replace(anys(pod("a", 1), pod("b", 1)), "3"))
	must(t, f.Bookmark("4"))
	must(t, f.Resync())
	equal(t, popAll(f), []string{"ReplacedAll:all@3[a@1 b@1] initial", "Bookmark:bookmark@4", "SyncAll:sync-all"})
	silent := NewRealFIFO(RealFIFOOptions{Atomic: true})
	must(t, silent.Bookmark("4"))
	equal(t, popAll(silent), nil)
}

func TestI58EmptyInitialList(t *testing.T) {
	atomic := NewRealFIFO(RealFIFOOptions{Atomic: true})
	must(t, atomic.Replace(nil, "1"))
	if atomic.HasSynced() {
		t.Error("atomic: synced before the one delta was processed")
	}
	popAll(atomic)
	if !atomic.HasSynced() {
		t.Error("atomic: not synced after it")
	}
	plain := NewRealFIFO(RealFIFOOptions{KnownObjects: NewIndexer(IndexerOptions{})})
	must(t, plain.Replace(nil, "1"))
	if !plain.HasSynced() {
		t.Error("plain: not synced at once")
	}
}

func TestI59I65ReplacedAllIsWorkedOutWhenProcessed(t *testing.T) {
	g := newRig(atomicQueue)
	must(t, g.q.Replace(anys(pod("b", 1), pod("a", 1), pod("c", 1)), "1"))
	equal(t, g.drain(t), []string{"add b@1 initial", "add a@1 initial", "add c@1 initial"})
	must(t, g.q.Add(pod("queued", 2)))
	must(t, g.q.Replace(anys(pod("new", 3), pod("c", 1)), "3"))
	equal(t, g.drain(t), []string{
		"add queued@2",
		"delete ~a(a@1)", "delete ~b(b@1)", "delete ~queued(queued@2)", "add new@3", "update c@1→c@1",
	})
	if rv := g.x.LastStoreSyncResourceVersion(); rv != "3" {
		t.Errorf("store at resourceVersion %s", rv)
	}
	must(t, g.q.Replace(anys("no key"), "4"))
	if _, err := g.c.Step(); err == nil {
		t.Error("a list without keys was accepted")
	}
	equal(t, g.x.ListKeys(), []string{"c", "new"})
}

func TestI60WritersEnterWhileProcessingUnlessTheQueueIsLong(t *testing.T) {
	f := NewRealFIFO(RealFIFOOptions{Atomic: true, UnlockWhileProcessing: true})
	for i := range 2*maxBatch + 1 {
		must(t, f.Add(pod(fmt.Sprint(i), 1)))
	}
	var p Popped
	f.Pop(&p)
	if !f.Locked() {
		t.Error("unlocked with 2000 queued")
	}
	f.Done()
	f.Pop(&p)
	if f.Locked() {
		t.Error("locked with 1999 queued")
	}
}

func TestI61Batches(t *testing.T) {
	f := NewRealFIFO(RealFIFOOptions{Atomic: true, EmitBookmarks: true, Batch: true})
	must(t, f.Replace(anys(pod("a", 1)), "1"))
	for _, key := range []string{"a", "b", "c", "a", "d"} { // the second a closes the batch
		must(t, f.Update(pod(key, 2)))
	}
	must(t, f.Bookmark("3"))
	must(t, f.Add(pod("e", 4)))
	equal(t, popAll(f), []string{
		"ReplacedAll:all@1[a@1] initial", "Updated:a@2 Updated:b@2 Updated:c@2", "Updated:a@2 Updated:d@2",
		"Bookmark:bookmark@3", "Added:e@4",
	})
	for i := range maxBatch + 1 {
		must(t, f.Add(pod(fmt.Sprint(i), 5)))
	}
	var p Popped
	f.Pop(&p)
	if len(p.Deltas) != maxBatch || len(p.Keys) != maxBatch {
		t.Errorf("batch of %d deltas with %d keys, want %d each", len(p.Deltas), len(p.Keys), maxBatch)
	}
	g := NewRealFIFO(RealFIFOOptions{KnownObjects: NewIndexer(IndexerOptions{}), Batch: true})
	must(t, g.Replace(anys(pod("a", 1), pod("b", 1)), "1"))
	must(t, g.Add(pod("c", 2)))
	equal(t, popAll(g), []string{"Replaced:a@1 Replaced:b@1 initial", "Added:c@2"}) // the boundary of the initial population
}

func TestI66SyncAllUpdatesEverythingToItself(t *testing.T) {
	g := newRig(atomicQueue)
	must(t, g.q.Replace(anys(pod("b", 1), pod("a", 1)), "1"))
	must(t, g.q.Bookmark("9"))
	must(t, g.q.Resync())
	equal(t, g.drain(t)[2:], []string{"update a@1→a@1", "update b@1→b@1"})
	if rv := g.x.LastStoreSyncResourceVersion(); rv != "9" {
		t.Errorf("store at resourceVersion %s: a resync must not write", rv)
	}
}

func TestI67BatchWritesBeforeItNotifies(t *testing.T) {
	g := newRig(plainBatchQueue)
	must(t, g.q.Replace(anys(pod("a", 1), pod("b", 1)), "1"))
	must(t, g.q.Delete(pod("c", 2)))
	seen := ""
	g.c.Distribute = func(n Notification) {
		g.notes = append(g.notes, showNote(n))
		seen = fmt.Sprint(g.x.ListKeys())
		if len(g.notes) == 1 && seen != "[a b]" {
			t.Errorf("at the first notification the store has %s", seen)
		}
	}
	equal(t, g.drain(t), []string{"add a@1 initial", "add b@1 initial", "delete c@2"})
}

func TestInformerConvergesWithEveryQueue(t *testing.T) {
	for name, q := range map[string]func(*Indexer) Queue{"inorder": plainQueue, "inorder-batch": plainBatchQueue, "atomic": atomicQueue} {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { runWorld(t, q, false) }) })
	}
}

func BenchmarkRealFIFOReplace(b *testing.B) {
	pods := benchPods(10_000, "1")
	list := make([]any, len(pods))
	for i, p := range pods {
		list[i] = p
	}
	known := NewIndexer(IndexerOptions{})
	must(b, known.Replace(list, "1"))
	f := NewRealFIFO(RealFIFOOptions{KnownObjects: known})
	b.ReportAllocs()
	var p Popped
	for range b.N {
		must(b, f.Replace(list, "2"))
		for f.Pop(&p) {
			f.Done()
		}
	}
}
