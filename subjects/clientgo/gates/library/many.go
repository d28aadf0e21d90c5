package library

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
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

// manyHandlers are all told of what happens, as each would be alone.
func (c *check) manyHandlers() {
	const handlers = 12
	from := newSource(object("ns1/a", 1))
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	var told [handlers]notes
	for n := range told {
		_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { told[n].add("add " + text(obj)) },
			UpdateFunc: func(old, obj any) { told[n].add("update " + text(old) + " " + text(obj)) },
			DeleteFunc: func(obj any) { told[n].add("delete " + text(obj)) },
		})
		c.no("AddEventHandler", err)
	}
	stop, _ := running(inf.RunWithContext)
	c.quiesce()
	from.watch.Modify(object("ns1/a", 6))
	from.watch.Delete(object("ns1/a", 7))
	c.quiesce()
	for n := range told {
		c.is(fmt.Sprintf("what handler number %d of %d is told", n+1, handlers), []string{"add ns1/a@1", "update ns1/a@1 ns1/a@6", "delete ns1/a@7"}, told[n].all())
	}
	stop()
	c.quiesce()
}

// manyKeys are all handed out, in their order, and all once more that are added while they are worked on.
func (c *check) manyKeys() {
	const many = 100
	q := workqueue.NewTyped[int]()
	for n := range many {
		q.Add(n)
	}
	for range 2 {
		for n := range many {
			c.is(fmt.Sprintf("how many keys of %d are ready, of which %d were handed out", many, n), many-n, q.Len())
			if q.Len() == 0 {
				break
			}
			key, _ := q.Get()
			c.is(fmt.Sprintf("key number %d of %d", n, many), n, key)
			q.Add(key)
		}
		c.is("how many keys are ready that are all worked on", 0, q.Len())
		for n := range many {
			q.Done(n)
		}
	}
	q.ShutDown()
}

// manyLimiters have the longest delay, and the most failures, of one of them.
func (c *check) manyLimiters() {
	const most = 6
	limiters := make([]workqueue.TypedRateLimiter[string], 1+c.IntN(most))
	longest := c.IntN(len(limiters))
	for n := range limiters {
		limiters[n] = workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)
		if n == longest {
			limiters[n].When("a")
		}
	}
	of := workqueue.NewTypedMaxOfRateLimiter(limiters...)
	which := fmt.Sprintf(" of a MaxOfRateLimiter of %d, of which number %d has counted before", len(limiters), longest+1)
	c.is("When"+which, 2*time.Millisecond, of.When("a"))
	c.is("NumRequeues"+which, 2, of.NumRequeues("a"))
	of.Forget("a")
	for n := range limiters {
		c.is(fmt.Sprintf("NumRequeues of number %d%s, after Forget", n+1, which), 0, limiters[n].NumRequeues("a"))
	}
}

// manyObjects are all there under one value of an index, with their type and without.
func (c *check) manyObjects() {
	type T = *metav1.PartialObjectMetadata
	const many = 30
	x := cache.NewTypedSharedIndexInformer[T](cache.NewSharedIndexInformer(newSource(), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
	})).GetTypedIndexer()
	c.no("AddTypedIndexers", x.AddTypedIndexers(cache.TypedIndexers[T]{
		"name":     func(obj T) ([]string, error) { return []string{obj.Name}, nil },
		"revision": func(obj T) ([]string, error) { return []string{obj.ResourceVersion}, nil },
	}))
	for n := range many {
		c.no("Add", x.Add(object(fmt.Sprint("ns1/", n), 100)))
	}
	for _, of := range []struct {
		index, value string
		want         int
	}{{"name", "7", 1}, {"name", "100", 0}, {"revision", "7", 0}, {"revision", "100", many}} {
		found, err := x.IndexKeys(of.index, of.value)
		c.no("IndexKeys", err)
		c.is(fmt.Sprintf("how many objects the index %s has under %s, which was added with another one", of.index, of.value), of.want, len(found))
	}
	typed, err := x.ByTypedIndex(cache.NamespaceIndex, "ns1")
	c.no("ByTypedIndex", err)
	c.is(fmt.Sprintf("how many objects of %d ByTypedIndex gives", many), many, len(typed))
	typed, err = x.TypedIndex(cache.NamespaceIndex, object("ns1/0", 100))
	c.no("TypedIndex", err)
	c.is(fmt.Sprintf("how many objects of %d TypedIndex gives", many), many, len(typed))
	found, err := x.IndexKeys(cache.NamespaceIndex, "ns1")
	c.no("IndexKeys", err)
	c.is(fmt.Sprintf("how many keys of %d IndexKeys gives", many), many, len(found))
}
