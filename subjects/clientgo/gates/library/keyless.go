package library

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// keyless are informers of which an object gets no key, since their transform makes something else of it. Of what comes with it, they tell. One such
// informer is told to stop while it writes its store, and has not stopped before it has written.
func keyless(c *check) {
	from := newSource(object("ns1/a", 1))
	arrived, leave := make(chan struct{}), make(chan struct{})
	gate := cache.Indexers{"gate": func(obj any) ([]string, error) {
		if obj.(*metav1.PartialObjectMetadata).ResourceVersion == "6" {
			close(arrived)
			<-leave
		}
		return nil, nil
	}}
	lost := c.IntN(3)
	transform := func(obj any) (any, error) {
		if o, ok := obj.(*metav1.PartialObjectMetadata); ok && o.Name == "lost" {
			return "it has no key", nil
		}
		return obj, nil
	}
	var told []string
	h := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { told = append(told, "add "+text(obj)) },
		UpdateFunc: func(_, obj any) { told = append(told, "update "+text(obj)) },
		DeleteFunc: func(obj any) { told = append(told, "delete "+text(obj)) },
	}
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, gate)
	shared := c.IntN(2) == 0
	defer c.listsKeyless()
	run := inf.RunWithContext
	if shared {
		c.no("SetTransform", inf.SetTransform(transform))
		_, err := inf.AddEventHandler(h)
		c.no("AddEventHandler", err)
	} else {
		_, control := cache.NewTransformingIndexerInformer(from, &metav1.PartialObjectMetadata{}, 0, h, gate, transform)
		run = control.RunWithContext
	}
	cancel, ended := running(run)
	defer cancel()
	c.quiesce()
	from.watch.Modify(object("ns1/a", 6))
	if !c.comes("the call of an index function for an update", arrived) {
		return
	}
	want := []string{"add ns1/a@1", "update ns1/a@6"}
	for n, key := range []string{"ns1/b", "ns2/a", "c"} {
		if n == lost {
			from.watch.Add(object("ns1/lost", 9))
		}
		from.watch.Add(object(key, 7+n))
		want = append(want, "add "+text(object(key, 7+n)))
	}
	crowd()
	stops := shared && c.IntN(3) == 0
	if stops {
		cancel()
		crowd()
		c.is("IsStopped of an informer that writes its store, and is to stop", false, inf.IsStopped())
	}
	close(leave)
	c.quiesce()
	if stops {
		c.is("whether an informer has stopped that was told to", [2]bool{true, true}, [2]bool{inf.IsStopped(), closed(ended)})
		return
	}
	c.is("what a handler is told of what comes with an object that has no key", want, told)
	cancel()
	c.quiesce()
}

// captured is an informer that keeps the handler that it is given.
type captured struct {
	cache.SharedIndexInformer
	h cache.ResourceEventHandler
	o cache.HandlerOptions
}

// AddEventHandlerWithOptions implements cache.SharedInformer.
func (i *captured) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	i.h, i.o = h, o
	return nil, nil
}

// typedHandlers are told of what an informer's handler is told of, with its type.
func (c *check) typedHandlers() {
	type T = *metav1.PartialObjectMetadata
	var told []string
	inf := &captured{}
	typed := cache.NewTypedSharedIndexInformer[T](inf)
	h := cache.TypedResourceEventHandlerDetailedFuncs[T]{
		AddFunc: func(obj T, isInInitialList bool) {
			told = append(told, text(obj)+map[bool]string{true: " of the list"}[isInInitialList])
		},
		UpdateFunc: func(old, obj T) { told = append(told, text(old)+" "+text(obj)) },
		DeleteFunc: func(d cache.DeletedObject[T]) {
			of := "no object"
			if d.OptionalObj != nil {
				of = text(d.OptionalObj)
			}
			if d.FinalStateUnknown != nil {
				of += " at the end of " + d.FinalStateUnknown.Key
			}
			told = append(told, of)
		},
	}
	period := cache.HandlerOptions{ResyncPeriod: new(time.Duration)}
	_, err := typed.AddTypedEventHandler(h, period)
	c.no("AddTypedEventHandler", err)
	c.is("whether the options of a typed handler are passed on", true, inf.o.ResyncPeriod == period.ResyncPeriod)
	_, err = typed.AddTypedEventHandler(h, period, period)
	c.refused("AddTypedEventHandler with two options", err)
	a, b := object("ns1/a", 1), object("ns1/a", 2)
	inf.h.OnAdd(a, true)
	inf.h.OnAdd(a, false)
	inf.h.OnUpdate(a, b)
	inf.h.OnDelete(b)
	inf.h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns1/a", Obj: b})
	inf.h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns1/a"})
	c.is("what a typed handler is told", []string{"ns1/a@1 of the list", "ns1/a@1", "ns1/a@1 ns1/a@2", "ns1/a@2", "ns1/a@2 at the end of ns1/a", "no object at the end of ns1/a"}, told)
	told = nil
	cache.TypedFilteringResourceEventHandler[T]{FilterFunc: func(obj T) bool { return obj == nil }, Handler: h}.OnDelete(cache.DeletedObject[T]{
		FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: "ns1/a"},
	})
	c.is("what a typed handler is told of what has no object, by a filter that lets that through", []string{"no object at the end of ns1/a"}, told)
	var empty cache.TypedResourceEventHandlerDetailedFuncs[T]
	empty.OnAdd(a, true)
	empty.OnUpdate(a, b)
	empty.OnDelete(cache.DeletedObject[T]{OptionalObj: b})
	var plain cache.TypedResourceEventHandlerFuncs[T]
	plain.OnAdd(a, true)
	plain.OnUpdate(a, b)
	plain.OnDelete(cache.DeletedObject[T]{OptionalObj: b})
}

// revisions are what a store says that it has followed, by objects, lists and bookmarks, if that goes down, too.
func (c *check) revisions() {
	s := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for range 12 {
		at := 1 + c.IntN(1200)
		obj := object(c.key(), at)
		if c.IntN(4) == 0 { // it is no number that a store could read
			obj.ResourceVersion = fmt.Sprint("v", at)
		}
		call := []string{"Add", "Update", "Delete", "Replace", "Bookmark", "Transaction"}[c.IntN(6)]
		switch call {
		case "Add":
			c.no(call, s.Add(obj))
		case "Update":
			c.no(call, s.Update(obj))
		case "Delete":
			c.no(call, s.Delete(obj))
		case "Replace":
			list := []any{object("c", 1300)}
			if c.IntN(4) == 0 {
				obj.ResourceVersion = ""
			}
			c.no(call, s.Replace(list[c.IntN(2):], obj.ResourceVersion))
		case "Bookmark":
			s.Bookmark(obj.ResourceVersion)
		default:
			first := cache.Transaction{Type: cache.TransactionTypeUpdate, Object: object("c", 1400)}
			last := cache.Transaction{Type: []cache.TransactionType{cache.TransactionTypeAdd, cache.TransactionTypeDelete}[c.IntN(2)], Object: obj}
			c.is("whether a Transaction fails", false, s.(cache.TransactionStore).Transaction(first, last) != nil)
		}
		want := obj.ResourceVersion
		if !features.FeatureGates().Enabled(features.AtomicFIFO) {
			want = ""
		}
		c.is("LastStoreSyncResourceVersion after "+call, want, s.LastStoreSyncResourceVersion())
	}
}

// untransformed are stores whose transform fails, sooner or later. They say so, and keep what they have.
func (c *check) untransformed() {
	broken := errors.New("it cannot be transformed")
	s := cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithTransformer(func(obj any) (any, error) {
		if obj.(*metav1.PartialObjectMetadata).Name == "b" {
			return nil, broken
		}
		return obj, nil
	}))
	m := model{"c": object("c", 1)}
	c.no("Add", s.Add(m["c"]))
	bad := object("ns1/b", 2)
	for call, err := range byName(map[string]error{"Add": s.Add(bad), "Update": s.Update(bad), "Replace": s.Replace(slices.Insert([]any{object("ns1/a", 2), object("c", 2)}, c.IntN(3), any(bad)), "2")}) {
		c.is("whether "+call+" of what cannot be transformed says so", true, errors.Is(err, broken))
	}
	c.holds(" whose transform has failed", s, m)
}
