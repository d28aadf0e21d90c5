package informer

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// orderedKnown lists known objects to client-go's queues in our order, so that results can be compared entry by entry.
type orderedKnown struct{ *Indexer }

// TestDeltaFIFOAgainstClientGo compares every answer of every operation sequence with client-go's DeltaFIFO. Where
// client-go follows map order, it is made to follow ours: it lists our sorted known objects, and its queue-only tombstones
// merge into entries whose place is already fixed.
func TestDeltaFIFOAgainstClientGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := NewIndexer(IndexerOptions{})
		emitSync := rapid.Bool().Draw(t, "emitSync")
		var transform cache.TransformFunc
		if rapid.Bool().Draw(t, "transform") {
			transform = markTransformed
		}
		ours := NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: known, EmitSyncOnReplace: emitSync, Transformer: transform})
		theirs := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
			KeyFunction: cache.MetaNamespaceKeyFunc, KnownObjects: orderedKnown{known}, EmitDeltaTypeReplaced: !emitSync, Transformer: transform,
		})
		rv := 0
		next := func() *v1.Pod { rv++; return genPod(t, rv) }
		t.Repeat(map[string]func(*rapid.T){
			"add":         func(t *rapid.T) { p := next(); agree(t, ours.Add(p), theirs.Add(p)) },
			"update":      func(t *rapid.T) { p := next(); agree(t, ours.Update(p), theirs.Update(p)) },
			"delete":      func(t *rapid.T) { p := next(); agree(t, ours.Delete(p), theirs.Delete(p)) },
			"addKeyed":    func(t *rapid.T) { p := next(); agree(t, writeKeyed(ours, cache.Added, p), theirs.Add(p)) },
			"updateKeyed": func(t *rapid.T) { p := next(); agree(t, writeKeyed(ours, cache.Updated, p), theirs.Update(p)) },
			"deleteKeyed": func(t *rapid.T) { p := next(); agree(t, writeKeyed(ours, cache.Deleted, p), theirs.Delete(p)) },
			"deleteTombstone": func(t *rapid.T) {
				p := next()
				key, _ := MetaNamespaceKey(p)
				d := cache.DeletedFinalStateUnknown{Key: key, Obj: p}
				agree(t, ours.Delete(d), theirs.Delete(d))
			},
			"noKey": func(t *rapid.T) {
				agree(t, ours.Delete("x"), theirs.Delete("x"))
				p := next()
				agree(t, ours.Replace([]any{p, "x"}, ""), theirs.Replace([]any{p, "x"}, ""))
			},
			"replace": func(t *rapid.T) {
				var list []any
				for range rapid.IntRange(0, 6).Draw(t, "n") {
					list = append(list, next())
				}
				agree(t, ours.Replace(slices.Clone(list), "7"), theirs.Replace(slices.Clone(list), "7"))
			},
			"resync": func(t *rapid.T) { agree(t, ours.Resync(), theirs.Resync()) },
			"pop": func(t *rapid.T) {
				popBoth(t, ours, theirs.Pop, func(p *Popped) { applyKnown(known, p) })
			},
			"popMany": func(t *rapid.T) {
				for range 5 {
					popBoth(t, ours, theirs.Pop, func(p *Popped) { applyKnown(known, p) })
				}
			},
			"forget": func(t *rapid.T) { known.Delete(next()) }, // the store can know less than was popped
			"": func(t *rapid.T) {
				if o, c := ours.HasSynced(), theirs.HasSynced(); o != c {
					t.Fatalf("HasSynced: ours %v, client-go %v", o, c)
				}
			},
		})
		theirs.Close()
		ours.Close()
		for ours.Len() > 0 {
			popBoth(t, ours, theirs.Pop, func(p *Popped) { applyKnown(known, p) })
		}
		if _, err := theirs.Pop(func(any, bool) error { return nil }); !errors.Is(err, cache.ErrFIFOClosed) {
			t.Fatalf("our queue is empty, but client-go's Pop returned %v", err)
		}
	})
}

func writeKeyed(q KeyedWriter, dt cache.DeltaType, p *v1.Pod) error {
	key, err := MetaNamespaceKey(p)
	if err != nil {
		return err
	}
	return q.WriteKeyed(dt, key, p)
}

func markTransformed(obj any) (any, error) {
	p := *obj.(*v1.Pod)
	if p.Spec.NodeName == "n2" {
		return nil, errBoom
	}
	p.ResourceVersion += "t"
	return &p, nil
}

func applyKnown(known *Indexer, p *Popped) {
	for _, d := range p.Deltas {
		switch d.Type {
		case cache.Deleted:
			known.Delete(d.Object)
		default:
			known.Update(d.Object)
		}
	}
}

func popBoth(t *rapid.T, ours Queue, theirs func(cache.PopProcessFunc) (any, error), process func(*Popped)) {
	var p Popped
	if !ours.Pop(&p) {
		return
	}
	gotOurs := fmt.Sprint(showDeltas(p.Deltas), p.IsInInitialList)
	var gotTheirs string
	if _, err := theirs(func(obj any, initial bool) error {
		gotTheirs = fmt.Sprint(showDeltas(obj.(cache.Deltas)), initial)
		return nil
	}); err != nil {
		t.Fatalf("client-go's Pop: %v", err)
	}
	if gotOurs != gotTheirs {
		t.Fatalf("popped: ours %s, client-go %s", gotOurs, gotTheirs)
	}
	process(&p)
	ours.Done()
}

func TestI40AnyWriteBeforeReplaceMakesSynced(t *testing.T) {
	for name, write := range map[string]func(*DeltaFIFO) error{
		"add":    func(f *DeltaFIFO) error { return f.Add(pod("a", 1)) },
		"update": func(f *DeltaFIFO) error { return f.Update(pod("a", 1)) },
		"delete": func(f *DeltaFIFO) error { return f.Delete(pod("a", 1)) },
	} {
		f := NewDeltaFIFO(DeltaFIFOOptions{})
		if f.HasSynced() {
			t.Errorf("%s: a new queue already has synced", name)
		}
		must(t, write(f))
		if !f.HasSynced() {
			t.Errorf("%s: not synced", name)
		}
	}
}

func TestI41FirstReplaceSetsTheCount(t *testing.T) {
	f := NewDeltaFIFO(DeltaFIFOOptions{})
	must(t, f.Replace(anys(pod("a", 1), pod("b", 1)), "1"))
	must(t, f.Add(pod("c", 2)))
	equal(t, popAll(f), []string{"Replaced:a@1 initial", "Replaced:b@1 initial", "Added:c@2"})
	empty := NewDeltaFIFO(DeltaFIFOOptions{})
	must(t, empty.Replace(nil, "1"))
	if !empty.HasSynced() {
		t.Error("not synced after an empty first list")
	}
}

func TestI42CloseDrains(t *testing.T) {
	f := NewDeltaFIFO(DeltaFIFOOptions{})
	must(t, f.Add(pod("a", 1)))
	f.Close()
	must(t, f.Add(pod("b", 2)))
	if !f.IsClosed() || f.Len() != 2 {
		t.Fatalf("closed=%v len=%d", f.IsClosed(), f.Len())
	}
	equal(t, popAll(f), []string{"Added:a@1", "Added:b@2"})
}

func TestI43TransformerSkipsTombstonesAndSync(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	must(t, known.Add(pod("k", 1)))
	f := NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: known, Transformer: markTransformed})
	must(t, f.Resync())
	equal(t, popAll(f), []string{"Sync:k@1 initial"})
	must(t, f.Replace(anys(pod("n", 2)), "2"))
	equal(t, popAll(f), []string{"Replaced:n@2t initial", "Deleted:~k(k@1) initial"})
}

func TestI44OrderIsByFirstEnqueue(t *testing.T) {
	f := NewDeltaFIFO(DeltaFIFOOptions{})
	for i, key := range []string{"b", "a", "b"} {
		must(t, f.Add(pod(key, i+1)))
	}
	equal(t, popAll(f), []string{"Added:b@1 Added:b@3", "Added:a@2"})
}

func TestI45OnlyAdjacentDeletionsMerge(t *testing.T) {
	tomb := cache.DeletedFinalStateUnknown{Key: "a", Obj: pod("a", 1)}
	for name, c := range map[string]struct {
		write func(*DeltaFIFO) error
		want  string
	}{
		"older kept": {func(f *DeltaFIFO) error {
			return errors.Join(f.Add(pod("a", 1)), f.Delete(pod("a", 2)), f.Delete(tomb))
		}, "Added:a@1 Deleted:a@2"},
		"tombstone gives way": {func(f *DeltaFIFO) error {
			return errors.Join(f.Add(pod("a", 1)), f.Delete(tomb), f.Delete(pod("a", 2)))
		}, "Added:a@1 Deleted:a@2"},
		"added and deleted stay": {func(f *DeltaFIFO) error {
			return errors.Join(f.Add(pod("a", 1)), f.Delete(pod("a", 2)), f.Add(pod("a", 3)), f.Delete(pod("a", 4)))
		}, "Added:a@1 Deleted:a@2 Added:a@3 Deleted:a@4"},
		"updates stay": {func(f *DeltaFIFO) error {
			return errors.Join(f.Update(pod("a", 1)), f.Update(pod("a", 1)))
		}, "Updated:a@1 Updated:a@1"},
	} {
		f := NewDeltaFIFO(DeltaFIFOOptions{})
		must(t, c.write(f))
		got := popAll(f)
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestI46DeleteOfUnknownKeyIsIgnored(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	f := NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: known})
	must(t, f.Delete(pod("a", 1)))
	equal(t, popAll(f), nil)
	must(t, known.Add(pod("a", 1)))
	must(t, f.Delete(pod("a", 2)))
	equal(t, popAll(f), []string{"Deleted:a@2"})
	f.Add(pod("b", 3)) // k27004: the Add is queued, the store has nothing yet
	must(t, f.Delete(pod("b", 4)))
	equal(t, popAll(f), []string{"Added:b@3 Deleted:b@4"})
}

func TestI47ReplaceDeletesMissingQueuedAndKnown(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	must(t, known.Replace(anys(pod("gone", 1), pod("both", 1), pod("stays", 1)), "1"))
	var seen []string
	f := NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: known, OnEnqueue: func(dt cache.DeltaType, key string, obj any) {
		seen = append(seen, string(dt)+" "+key+" "+show(obj))
	}})
	must(t, f.Add(pod("queued-only", 2))) // k115658
	must(t, f.Update(pod("both", 3)))
	seen = nil
	must(t, f.Replace(anys(pod("stays", 4), pod("new", 5)), "5"))
	equal(t, seen, []string{
		"Replaced stays stays@4", "Replaced new new@5",
		"Deleted queued-only ~queued-only(queued-only@2)", "Deleted both ~both(both@3)", "Deleted gone ~gone(gone@1)",
	})
	equal(t, popAll(f), []string{
		"Added:queued-only@2 Deleted:~queued-only(queued-only@2)",
		"Updated:both@3 Deleted:~both(both@3)",
		"Replaced:stays@4", "Replaced:new@5", "Deleted:~gone(gone@1)",
	})
}

func TestI48ReplacedGoesBehindPendingDeleted(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	must(t, known.Add(pod("a", 1)))
	f := NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: known})
	must(t, f.Delete(pod("a", 2)))
	must(t, f.Replace(anys(pod("a", 3)), "3")) // k83810
	equal(t, popAll(f), []string{"Deleted:a@2 Replaced:a@3"})
}

func TestI49CountIsKeysPlusDeletions(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	must(t, known.Add(pod("gone", 1)))
	f := NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: known})
	must(t, f.Replace(anys(pod("a", 2), pod("a", 3)), "3")) // one key, listed twice
	if f.pop.remaining != 2 {
		t.Fatalf("count is %d, want 1 key + 1 deletion", f.pop.remaining)
	}
	equal(t, popAll(f), []string{"Replaced:a@2 Replaced:a@3 initial", "Deleted:~gone(gone@1) initial"})
	if !f.HasSynced() {
		t.Error("not synced after everything was popped")
	}
}

func TestI50ResyncSkipsQueuedKeys(t *testing.T) {
	known := NewIndexer(IndexerOptions{})
	must(t, known.Replace(anys(pod("b", 1), pod("a", 1), pod("c", 1)), "1"))
	f := NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: known})
	must(t, f.Update(pod("b", 2)))
	must(t, f.Resync())
	equal(t, popAll(f), []string{"Updated:b@2", "Sync:a@1", "Sync:c@1"})
}

func TestI51SyncedBeforeTheLastItemIsProcessed(t *testing.T) {
	f := NewDeltaFIFO(DeltaFIFOOptions{})
	must(t, f.Replace(anys(pod("a", 1)), "1"))
	var p Popped
	f.Pop(&p)
	if !f.HasSynced() || !p.IsInInitialList {
		t.Fatalf("synced=%v initial=%v, want true and true: the item is not processed yet", f.HasSynced(), p.IsInInitialList)
	}
}

// TestDeltaFIFOLongQueues checks that crossing the sizes at which the queue changes its representation is invisible.
func TestDeltaFIFOLongQueues(t *testing.T) {
	f := NewDeltaFIFO(DeltaFIFOOptions{})
	for _, n := range []int{maxScan, maxScan + 1, 3 * maxIdleEntries} {
		for i := range n {
			must(t, f.Add(pod(fmt.Sprintf("k%05d", i), 1)))
		}
		for i := range n {
			must(t, f.Update(pod(fmt.Sprintf("k%05d", i), 2)))
		}
		got := popAll(f)
		if len(got) != n {
			t.Fatalf("popped %d of %d", len(got), n)
		}
		for i, s := range got {
			if want := fmt.Sprintf("Added:k%05d@1 Updated:k%05d@2", i, i); s != want {
				t.Fatalf("at %d of %d: %s, want %s", i, n, s, want)
			}
		}
		if len(f.entries) > maxIdleEntries {
			t.Errorf("a drained queue keeps %d entries", len(f.entries))
		}
	}
}
