package dropin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

const panicPrefix = "panic: unable to calculate an index entry for key "

var errNoKey = errors.New("no key")

// keyOrError is a KeyFunc that fails for objects named "keyless".
func keyOrError(obj any) (string, error) {
	if pod, ok := obj.(*v1.Pod); ok && pod.Name == "keyless" {
		return "", errNoKey
	}
	return DeletionHandlingMetaNamespaceKeyFunc(obj)
}

// labelIndex returns any number of values for an object, and fails for those labelled "fail".
func labelIndex(obj any) ([]string, error) {
	labels := obj.(metav1.Object).GetLabels()
	if labels["fail"] != "" {
		return nil, errors.New("this object cannot be indexed")
	}
	if labels["values"] == "" {
		return nil, nil
	}
	return strings.Split(labels["values"], ","), nil
}

var podGen = rapid.Custom(func(t *rapid.T) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace:       rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(t, "namespace"),
		Name:            rapid.SampledFrom([]string{"a", "b", "c", "d", "keyless"}).Draw(t, "name"),
		ResourceVersion: fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "rv")),
		Labels:          map[string]string{},
	}}
	if rapid.IntRange(0, 3).Draw(t, "indexed") > 0 {
		pod.Labels["values"] = rapid.SampledFrom([]string{"x", "y", "x,y", "x,x", "z"}).Draw(t, "values")
	}
	if rapid.IntRange(0, 19).Draw(t, "fails") == 0 {
		pod.Labels["fail"] = "true"
	}
	return pod
})

// storeAnswer returns the result of an operation in a form that does not depend on map order.
func storeAnswer(op func() any) (answer string) {
	defer func() {
		if r := recover(); r != nil {
			answer = fmt.Sprintf("panic: %v", r)
		}
	}()
	return fmt.Sprint(op())
}

func sortedObjects(list []any, err error) any {
	lines := make([]string, len(list))
	for i, obj := range list {
		pod := obj.(*v1.Pod)
		lines[i] = fmt.Sprintf("%s/%s@%s%v", pod.Namespace, pod.Name, pod.ResourceVersion, pod.Labels)
	}
	slices.Sort(lines)
	return fmt.Sprint(lines, err)
}

func sortedStrings(list []string, err error) any {
	slices.Sort(list)
	return fmt.Sprint(list, err)
}

// TestDifferentialIndexer gives client-go's Indexer and ours the same operations and compares every answer (I70 to I74).
func TestDifferentialIndexer(t *testing.T) {
	type storeOp struct {
		name string
		run  func(x Indexer, pods []*v1.Pod) any
	}
	one := func(run func(x Indexer, pod *v1.Pod) any) func(Indexer, []*v1.Pod) any {
		return func(x Indexer, pods []*v1.Pod) any { return run(x, pods[0]) }
	}
	ops := []storeOp{
		{"add", one(func(x Indexer, p *v1.Pod) any { return x.Add(p) })},
		{"update", one(func(x Indexer, p *v1.Pod) any { return x.Update(p) })},
		{"delete", one(func(x Indexer, p *v1.Pod) any { return x.Delete(p) })},
		{"deleteTombstone", one(func(x Indexer, p *v1.Pod) any {
			return x.Delete(DeletedFinalStateUnknown{Key: p.Namespace + "/" + p.Name, Obj: p})
		})},
		{"get", one(func(x Indexer, p *v1.Pod) any { o, ok, err := x.Get(p); return fmt.Sprint(o, ok, err) })},
		{"replace", func(x Indexer, pods []*v1.Pod) any {
			var list []any
			for _, p := range pods {
				list = append(list, p)
			}
			return x.Replace(list, "r"+pods[0].ResourceVersion)
		}},
		{"bookmark", one(func(x Indexer, p *v1.Pod) any { x.Bookmark(p.ResourceVersion); return nil })},
		{"transaction", func(x Indexer, pods []*v1.Pod) any {
			var txns []Transaction
			types := []TransactionType{TransactionTypeAdd, TransactionTypeDelete, TransactionTypeUpdate}
			for i, p := range pods {
				txns = append(txns, Transaction{Object: p, Type: types[i%3]})
			}
			if err := x.(TransactionStore).Transaction(txns...); err != nil {
				return err
			}
			return nil
		}},
		{"byIndex", one(func(x Indexer, p *v1.Pod) any { return sortedObjects(x.ByIndex("label", p.Labels["values"])) })},
		{"index", one(func(x Indexer, p *v1.Pod) any { return sortedObjects(x.Index("label", p)) })},
		{"indexKeys", one(func(x Indexer, p *v1.Pod) any {
			keys, err := x.IndexKeys(NamespaceIndex, p.Namespace)
			return fmt.Sprint(keys, err)
		})},
		{"noIndex", one(func(x Indexer, p *v1.Pod) any { return sortedObjects(x.ByIndex("none", "x")) })},
		{"addIndexers", one(func(x Indexer, p *v1.Pod) any {
			err := x.AddIndexers(Indexers{"late" + p.Name: labelIndex})
			return err != nil
		})},
	}
	rapid.Check(t, func(rt *rapid.T) {
		transform := func(obj any) (any, error) {
			if obj.(*v1.Pod).ResourceVersion == "7" {
				return nil, errors.New("not this one")
			}
			return obj, nil
		}
		indexers := Indexers{NamespaceIndex: MetaNamespaceIndexFunc, "label": labelIndex}
		theirs := cache.NewIndexer(keyOrError, copyOf(indexers))
		ours := NewIndexer(keyOrError, copyOf(indexers))
		if rapid.Bool().Draw(rt, "transform") {
			theirs = cache.NewIndexer(keyOrError, copyOf(indexers), cache.WithTransformer(transform))
			ours = NewIndexer(keyOrError, copyOf(indexers), WithTransformer(transform))
		}
		for range rapid.IntRange(1, 40).Draw(rt, "n") {
			op := rapid.SampledFrom(ops).Draw(rt, "op")
			pods := rapid.SliceOfN(podGen, 1, 5).Draw(rt, "pods")
			want := storeAnswer(func() any { return op.run(theirs, pods) })
			got := storeAnswer(func() any { return op.run(ours, pods) })
			if strings.HasPrefix(want, panicPrefix) && strings.HasPrefix(got, panicPrefix) {
				// Map order decides which object and index is named. client-go has already changed the object but not the
				// indices; ours has changed nothing (I71).
				return
			}
			if want != got {
				rt.Fatalf("%s: client-go %s, ours %s", op.name, want, got)
			}
			for name, state := range map[string]func(x Indexer) any{
				"List":         func(x Indexer) any { return sortedObjects(x.List(), nil) },
				"ListKeys":     func(x Indexer) any { return sortedStrings(x.ListKeys(), nil) },
				"rv":           func(x Indexer) any { return x.LastStoreSyncResourceVersion() },
				"namespaces":   func(x Indexer) any { return sortedStrings(x.ListIndexFuncValues(NamespaceIndex), nil) },
				"label values": func(x Indexer) any { return sortedStrings(x.ListIndexFuncValues("label"), nil) },
				"late values":  func(x Indexer) any { return sortedStrings(x.ListIndexFuncValues("latea"), nil) },
			} {
				if want, got := storeAnswer(func() any { return state(theirs) }), storeAnswer(func() any { return state(ours) }); want != got {
					rt.Fatalf("after %s %s: client-go %s, ours %s", op.name, name, want, got)
				}
			}
		}
	})
}

// TestI71IndexFuncErrorChangesNothing: a store whose index function fails panics and is unchanged.
func TestI71IndexFuncErrorChangesNothing(t *testing.T) {
	x := NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc, "label": labelIndex})
	before := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n1", Name: "a", Labels: map[string]string{"values": "x"}}}
	if err := x.Add(before); err != nil {
		t.Fatal(err)
	}
	bad := before.DeepCopy()
	bad.Labels = map[string]string{"fail": "true"}
	if got := storeAnswer(func() any { return x.Update(bad) }); !strings.Contains(got, `panic: unable to calculate an index entry for key "n1/a" on index "label"`) {
		t.Fatalf("Update with a failing index function: %s", got)
	}
	got, _, _ := x.GetByKey("n1/a")
	byIndex, _ := x.ByIndex("label", "x")
	if got != before || len(byIndex) != 1 {
		t.Errorf("the store holds %v and indexes %v, want it unchanged", got, byIndex)
	}
}

// TestI72EmptySetsGo: values that come and go leave nothing behind.
func TestI72EmptySetsGo(t *testing.T) {
	s := newThreadSafeStore(Indexers{"label": labelIndex})
	for i := range 1000 {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"values": fmt.Sprint(i)}}}
		s.Update("a", pod)
	}
	if n := len(s.index.funcs[0].keys); n != 1 {
		t.Errorf("the index has %d values for one object", n)
	}
	s.Delete("a")
	if n := len(s.index.funcs[0].keys); n != 0 {
		t.Errorf("the index has %d values for no object", n)
	}
}
