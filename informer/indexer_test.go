package informer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// The index functions cover every shape: one value, none or one, several, repeated.
func byLabels(obj any) ([]string, error) {
	var values []string
	for _, v := range obj.(*v1.Pod).Labels {
		values = append(values, v)
	}
	return values, nil
}

func byNode(obj any) ([]string, error) {
	if n := obj.(*v1.Pod).Spec.NodeName; n != "" {
		return []string{n}, nil
	}
	return nil, nil
}

func byFinalizers(obj any) ([]string, error) { return obj.(*v1.Pod).Finalizers, nil }

func testIndexers() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "labels": byLabels, "node": byNode, "fin": byFinalizers}
}

func genPod(t *rapid.T, rv int) *v1.Pod {
	p := pod(rapid.SampledFrom([]string{"a/1", "a/2", "a/3", "b/1", "b/2", "c"}).Draw(t, "key"), rv)
	p.Spec.NodeName = rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(t, "node")
	p.Labels = rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{"1", "2", "3"}), 0, 2).Draw(t, "labels")
	p.Finalizers = rapid.SliceOfN(rapid.SampledFrom([]string{"f", "g"}), 0, 3).Draw(t, "finalizers")
	return p
}

func sortedShow(list []any) []string {
	out := make([]string, len(list))
	for i, obj := range list {
		out[i] = show(obj)
	}
	slices.Sort(out)
	return out
}

// TestIndexerAgainstClientGo compares every answer of every operation sequence with client-go's Indexer (I70 to I74).
func TestIndexerAgainstClientGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := testIndexers()
		late := cache.Indexers{}
		if rapid.Bool().Draw(t, "addIndexersLater") {
			late["node"], late["fin"] = start["node"], start["fin"]
			delete(start, "node")
			delete(start, "fin")
		}
		ours := NewIndexer(IndexerOptions{Indexers: start})
		theirs := cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, maps.Clone(start))
		rv := 0
		next := func() *v1.Pod { rv++; return genPod(t, rv) }
		t.Repeat(map[string]func(*rapid.T){
			"add":    func(t *rapid.T) { p := next(); agree(t, ours.Add(p), theirs.Add(p)) },
			"update": func(t *rapid.T) { p := next(); agree(t, ours.Update(p), theirs.Update(p)) },
			"delete": func(t *rapid.T) { p := next(); agree(t, ours.Delete(p), theirs.Delete(p)) },
			"tombstone": func(t *rapid.T) {
				p := next()
				key, _ := MetaNamespaceKey(p)
				d := cache.DeletedFinalStateUnknown{Key: key, Obj: p}
				agree(t, ours.Delete(d), theirs.Delete(d))
			},
			"noKey": func(t *rapid.T) {
				agree(t, ours.Add("x"), theirs.Add("x"))
				agree(t, ours.Delete("x"), theirs.Delete("x"))
				agree(t, ours.Replace([]any{"x"}, "9"), theirs.Replace([]any{"x"}, "9"))
			},
			"replace": func(t *rapid.T) {
				var list []any
				for range rapid.IntRange(0, 6).Draw(t, "n") {
					list = append(list, next())
				}
				agree(t, ours.Replace(slices.Clone(list), "77"), theirs.Replace(slices.Clone(list), "77"))
			},
			"bookmark":    func(t *rapid.T) { ours.Bookmark("99"); theirs.Bookmark("99") },
			"addIndexers": func(t *rapid.T) { agree(t, ours.AddIndexers(late), theirs.AddIndexers(late)) },
			"":            func(t *rapid.T) { sameIndexer(t, ours, theirs, next()) },
		})
	})
}

func agree(t *rapid.T, ours, theirs error) {
	t.Helper()
	if (ours == nil) != (theirs == nil) {
		t.Fatalf("ours: %v, client-go: %v", ours, theirs)
	}
	var keyErr cache.KeyError
	if errors.As(theirs, &keyErr) && !errors.As(ours, &keyErr) {
		t.Fatalf("client-go returned a KeyError, ours is %T: %v", ours, ours)
	}
}

func sameIndexer(t *rapid.T, ours *Indexer, theirs cache.Indexer, probe *v1.Pod) {
	same := func(what string, o, c []string) {
		t.Helper()
		slices.Sort(c)
		if !slices.IsSorted(o) {
			t.Fatalf("%s not in order: %q", what, o)
		}
		if !slices.Equal(o, c) {
			t.Fatalf("%s: ours %q, client-go %q", what, o, c)
		}
	}
	same("keys", ours.ListKeys(), theirs.ListKeys())
	same("list", sortedShow(ours.List()), sortedShow(theirs.List()))
	if ours.Len() != len(theirs.ListKeys()) {
		t.Fatalf("Len is %d", ours.Len())
	}
	if o, c := ours.LastStoreSyncResourceVersion(), theirs.LastStoreSyncResourceVersion(); o != c {
		t.Fatalf("store RV: ours %q, client-go %q", o, c)
	}
	for _, key := range []string{"a/1", "b/2", "c", "none"} {
		o, oOK, _ := ours.GetByKey(key)
		c, cOK, _ := theirs.GetByKey(key)
		if o != c || oOK != cOK {
			t.Fatalf("GetByKey(%s): ours %v %v, client-go %v %v", key, o, oOK, c, cOK)
		}
	}
	for _, name := range []string{cache.NamespaceIndex, "labels", "node", "fin", "none"} {
		same("values of "+name, ours.ListIndexFuncValues(name), theirs.ListIndexFuncValues(name))
		o, oErr := ours.Index(name, probe)
		c, cErr := theirs.Index(name, probe)
		agree(t, oErr, cErr)
		same("Index "+name, sortedShow(o), sortedShow(c))
		for _, value := range []string{"a", "n1", "1", "2", "f", "none"} {
			o, oErr := ours.ByIndex(name, value)
			c, cErr := theirs.ByIndex(name, value)
			agree(t, oErr, cErr)
			same("ByIndex "+name+" "+value, sortedShow(o), sortedShow(c))
			ok, oErr := ours.IndexKeys(name, value)
			ck, cErr := theirs.IndexKeys(name, value)
			agree(t, oErr, cErr)
			same("IndexKeys "+name+" "+value, ok, ck)
		}
	}
}

func TestI71IndexFuncErrorPanicsAndChangesNothing(t *testing.T) {
	fail := false
	x := NewIndexer(IndexerOptions{Indexers: cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"z":                  func(any) ([]string, error) { return []string{"v"}, map[bool]error{true: errBoom}[fail] },
	}})
	must(t, x.Add(pod("a/1", 1)))
	fail = true
	func() {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), `key "b/1" on index "z": boom`) {
				t.Fatalf("recovered %v, want a panic that names the key and the index", r)
			}
		}()
		x.SetKey("b/1", pod("b/1", 2))
	}()
	equal(t, x.ListKeys(), []string{"a/1"})
	equal(t, x.ListIndexFuncValues(cache.NamespaceIndex), []string{"a"})
}

func TestI72EmptyIndexSetsAreRemoved(t *testing.T) {
	x := NewIndexer(IndexerOptions{Indexers: testIndexers()})
	for i := range 100 {
		p := pod(fmt.Sprintf("ns%d/p", i), i)
		p.Spec.NodeName = fmt.Sprint(i)
		must(t, x.Add(p))
		must(t, x.Delete(p))
	}
	for _, ix := range x.indexes {
		if len(ix.buckets) != 0 {
			t.Errorf("index %s keeps %d buckets", ix.name, len(ix.buckets))
		}
	}
}

func TestI73AddIndexersBackfillsAndConflicts(t *testing.T) {
	x := NewIndexer(IndexerOptions{})
	must(t, x.Add(pod("a/1", 1)))
	must(t, x.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
	keys, err := x.IndexKeys(cache.NamespaceIndex, "a")
	must(t, err)
	equal(t, keys, []string{"a/1"})
	err = x.AddIndexers(cache.Indexers{cache.NamespaceIndex: byNode, "node": byNode})
	if err == nil || !strings.Contains(err.Error(), "indexer conflict: namespace") {
		t.Fatalf("got %v, want a conflict error that names the index", err)
	}
	if len(x.GetIndexers()) != 1 {
		t.Fatalf("a failed AddIndexers left %d indexers", len(x.GetIndexers()))
	}
	inf := NewInformer(InformerOptions{})
	inf.Stop()
	if err := inf.AddIndexers(testIndexers()); !errors.Is(err, ErrStopped) {
		t.Fatalf("after stop got %v, want ErrStopped", err)
	}
}

func TestI74KeysAndListsAreSorted(t *testing.T) {
	x := NewIndexer(IndexerOptions{Indexers: testIndexers()})
	for _, key := range []string{"a/3", "a/1", "b/9", "a/2"} {
		must(t, x.Add(pod(key, 1)))
	}
	keys, err := x.IndexKeys(cache.NamespaceIndex, "a")
	must(t, err)
	equal(t, keys, []string{"a/1", "a/2", "a/3"})
	must(t, x.Delete(pod("a/1", 2))) // swap-removal must be invisible
	equal(t, x.ListKeys(), []string{"a/2", "a/3", "b/9"})
}

func TestI70StoreResourceVersion(t *testing.T) {
	x := NewIndexer(IndexerOptions{})
	must(t, x.Add(pod("a/1", 7)))
	must(t, x.Add(pod("a/2", 3)))
	if rv := x.LastStoreSyncResourceVersion(); rv != "3" {
		t.Errorf("got %s, want 3 from the last write, not the maximum", rv)
	}
	x.Bookmark("5")
	if rv := x.LastStoreSyncResourceVersion(); rv != "5" {
		t.Errorf("got %s, want 5 from the bookmark", rv)
	}
	must(t, x.Delete(cache.DeletedFinalStateUnknown{Key: "a/1", Obj: pod("a/1", 9)}))
	if rv := x.LastStoreSyncResourceVersion(); rv != "5" {
		t.Errorf("got %s, want no change: a tombstone has no resourceVersion", rv)
	}
	off := NewIndexer(IndexerOptions{DisableResourceVersion: true})
	must(t, off.Add(pod("a/1", 7)))
	if rv := off.LastStoreSyncResourceVersion(); rv != "" {
		t.Errorf("got %q, want none when disabled", rv)
	}
}

func TestIndexerReplaceKeysReturnsRemovedInOrder(t *testing.T) {
	x := NewIndexer(IndexerOptions{})
	must(t, x.Replace(anys(pod("a/3", 1), pod("a/1", 1), pod("a/2", 1)), "1"))
	removed := x.ReplaceKeys([]string{"a/2", "a/4"}, anys(pod("a/2", 2), pod("a/4", 2)), "2")
	var got []string
	for _, r := range removed {
		got = append(got, show(r.Obj))
	}
	equal(t, got, []string{"a/1@1", "a/3@1"})
	equal(t, x.ListKeys(), []string{"a/2", "a/4"})
}

func TestIndexerTransformer(t *testing.T) {
	x := NewIndexer(IndexerOptions{Transformer: func(obj any) (any, error) {
		p := *obj.(*v1.Pod)
		if p.Name == "bad" {
			return nil, errBoom
		}
		p.ResourceVersion += "0"
		return &p, nil
	}})
	must(t, x.Add(pod("a/1", 1)))
	must(t, x.Replace(anys(pod("a/1", 1), pod("a/2", 2)), "2"))
	equal(t, sortedShow(x.List()), []string{"a/1@10", "a/2@20"})
	if err := x.Replace(anys(pod("bad", 1)), "3"); !errors.Is(err, errBoom) {
		t.Fatalf("got %v, want the transformer's error", err)
	}
	equal(t, x.ListKeys(), []string{"a/1", "a/2"})
}

func BenchmarkIndexerSetKey(b *testing.B) {
	x := NewIndexer(IndexerOptions{Indexers: testIndexers()})
	pods := benchPods(10_000, "1")
	keys := make([]string, len(pods))
	for i, p := range pods {
		keys[i], _ = MetaNamespaceKey(p)
	}
	b.ReportAllocs()
	for n := range b.N {
		x.SetKey(keys[n%len(keys)], pods[n%len(pods)])
	}
}

// TestItemSize: an item with one index fills one CPU cache line.
func TestItemSize(t *testing.T) {
	if got := unsafe.Sizeof(item{}); got != 64 && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("an item has %d bytes, want 64", got)
	}
}
