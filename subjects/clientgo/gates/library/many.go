package library

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// manyIndices adds one index after another to an indexer that changes meanwhile. All of them have what it holds.
func (c *check) manyIndices() {
	x, m := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), model{}
	const most = 6
	for n := range most {
		c.no("AddIndexers", x.AddIndexers(cache.Indexers{fmt.Sprint("x", n): func(obj any) ([]string, error) {
			return []string{fmt.Sprint(n, obj.(*metav1.PartialObjectMetadata).Name)}, nil
		}}))
		c.change(x, m, n+1)
		for i := range n + 1 {
			for _, name := range []string{"a", "b", "c"} {
				want := []string{}
				for _, key := range m.keys() {
					if m[key].Name == name {
						want = append(want, key)
					}
				}
				got, err := x.IndexKeys(fmt.Sprint("x", i), fmt.Sprint(i, name))
				c.no("IndexKeys", err)
				c.is(fmt.Sprintf("IndexKeys of index number %d of %d, with %s", i+1, n+1, name), want, sorted(got))
			}
		}
	}
}

// someFunctions are handlers that lack some of their functions. The others are told all the same.
func (c *check) someFunctions() {
	type T = *metav1.PartialObjectMetadata
	a, b := object("ns1/a", 1), object("ns1/a", 2)
	for has := range 8 {
		adds, updates, deletes := has&1 > 0, has&2 > 0, has&4 > 0
		var want, wantPlain []string
		if adds {
			want, wantPlain = append(want, "add true", "add false"), append(wantPlain, "add", "add")
		}
		if updates {
			want, wantPlain = append(want, "update"), append(wantPlain, "update")
		}
		if deletes {
			want, wantPlain = append(want, "delete"), append(wantPlain, "delete")
		}
		var told []string
		note := func(of string) { told = append(told, of) }
		var plain cache.ResourceEventHandlerFuncs
		var detailed cache.ResourceEventHandlerDetailedFuncs
		var typed cache.TypedResourceEventHandlerFuncs[T]
		var typedDetailed cache.TypedResourceEventHandlerDetailedFuncs[T]
		if adds {
			plain.AddFunc = func(any) { note("add") }
			detailed.AddFunc = func(_ any, initial bool) { note(fmt.Sprint("add ", initial)) }
			typed.AddFunc = func(T) { note("add") }
			typedDetailed.AddFunc = func(_ T, initial bool) { note(fmt.Sprint("add ", initial)) }
		}
		if updates {
			plain.UpdateFunc = func(any, any) { note("update") }
			detailed.UpdateFunc, typed.UpdateFunc = plain.UpdateFunc, func(T, T) { note("update") }
			typedDetailed.UpdateFunc = typed.UpdateFunc
		}
		if deletes {
			plain.DeleteFunc = func(any) { note("delete") }
			detailed.DeleteFunc, typed.DeleteFunc = plain.DeleteFunc, func(cache.DeletedObject[T]) { note("delete") }
			typedDetailed.DeleteFunc = typed.DeleteFunc
		}
		which := fmt.Sprintf(" that has functions for adds, updates and deletions: %v, %v, %v", adds, updates, deletes)
		tell := func(name string, want []string, h cache.ResourceEventHandler) {
			told = nil
			h.OnAdd(a, true)
			h.OnAdd(a, false)
			h.OnUpdate(a, b)
			h.OnDelete(b)
			c.is("what a "+name+" is told"+which, fmt.Sprint(want), fmt.Sprint(told))
		}
		tellTyped := func(name string, want []string, h cache.TypedResourceEventHandler[T]) {
			told = nil
			h.OnAdd(a, true)
			h.OnAdd(a, false)
			h.OnUpdate(a, b)
			h.OnDelete(cache.DeletedObject[T]{OptionalObj: b})
			c.is("what a "+name+" is told"+which, fmt.Sprint(want), fmt.Sprint(told))
		}
		tell("ResourceEventHandlerFuncs", wantPlain, plain)
		tell("ResourceEventHandlerDetailedFuncs", want, detailed)
		tellTyped("TypedResourceEventHandlerFuncs", wantPlain, typed)
		tellTyped("TypedResourceEventHandlerDetailedFuncs", want, typedDetailed)
	}
}
