package library

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// withoutKey gives an object that has no key to whatever wants to have one. Each call refuses it, and nothing is changed by that.
func (c *check) withoutKey() {
	const none = "no object"
	delta := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc), EmitDeltaTypeReplaced: true})
	known, atomic := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc)}), cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true})
	pushed := 0
	undelta := cache.NewUndeltaStore(func([]any) { pushed++ }, cache.MetaNamespaceKeyFunc)
	heap := cache.NewHeap(cache.MetaNamespaceKeyFunc, earlier)
	for _, of := range []struct {
		name string
		s    cache.ReflectorStore
	}{
		{"NewStore", cache.NewStore(cache.MetaNamespaceKeyFunc)}, {"a TTL store", cache.NewTTLStore(cache.MetaNamespaceKeyFunc, 0)}, {"an UndeltaStore", undelta},
		{"a FIFO", cache.NewFIFO(cache.MetaNamespaceKeyFunc)}, {"a DeltaFIFO", delta}, {"a RealFIFO", known}, {"an atomic RealFIFO", atomic},
	} {
		c.keyError("Add to "+of.name, of.s.Add(none))
		c.keyError("Update of "+of.name, of.s.Update(none))
		c.keyError("Delete of "+of.name, of.s.Delete(none))
		if of.s != cache.ReflectorStore(atomic) { // it looks at a list when it processes it
			c.keyError("Replace of "+of.name, of.s.Replace([]any{none}, "1"))
		}
		if s, ok := of.s.(cache.Store); ok {
			_, exists, err := s.Get(none)
			c.keyError("Get of "+of.name, err)
			c.is("whether "+of.name+" finds what has no key, and has something", [2]bool{false, false}, [2]bool{exists, len(s.ListKeys()) > 0})
		}
	}
	c.is("how often an UndeltaStore has pushed what has no key", 0, pushed)
	for _, call := range []struct {
		name string
		f    func(any) error
	}{{"Add", heap.Add}, {"Update", heap.Update}, {"AddIfNotPresent", heap.AddIfNotPresent}, {"BulkAdd", func(obj any) error { return heap.BulkAdd([]any{obj}) }}, {"Delete", heap.Delete}} {
		c.keyError(call.name+" of a Heap", call.f(none))
	}
	_, exists, err := heap.Get(none)
	c.keyError("Get of a Heap", err)
	c.is("whether a Heap finds what has no key, and has something", [2]bool{false, false}, [2]bool{exists, len(heap.ListKeys()) > 0})
	heap.Close()
	for call, err := range byName(map[string]error{"Add": heap.Add(object("c", 1)), "BulkAdd": heap.BulkAdd([]any{object("c", 1)}), "AddIfNotPresent": heap.AddIfNotPresent(object("c", 1))}) {
		c.refused(call+" of a Heap that is closed", err)
	}
	c.is("IsClosed of a Heap that is", true, heap.IsClosed())
	for name, q := range byName(map[string]cache.Queue{
		"a DeltaFIFO": cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: nameless{}}), "a RealFIFO": cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: nameless{}}),
	}) {
		c.refused("Resync of "+name+" whose store has what has no key", q.Resync())
	}
}

// nameless is a store with an object that has no key.
type nameless struct{}

// ListKeys implements cache.KeyLister.
func (nameless) ListKeys() []string { return []string{"c"} }

// GetByKey implements cache.KeyGetter.
func (nameless) GetByKey(string) (any, bool, error) { return "no object", true, nil }

// keyError notes that an error is none of a key.
func (c *check) keyError(call string, err error) {
	var of cache.KeyError
	c.is("whether the error of "+call+" of what has no key is a KeyError", true, errors.As(err, &of))
}

// unlistedQueues get a change before their first list. They have synced since then: there is no list to wait for. They have the names that they were given.
func (c *check) unlistedQueues() {
	name, given := []string{"", "q"}[c.IntN(2)], func(otherwise string) string { return otherwise }
	if name != "" {
		given = func(string) string { return name }
	}
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	c.no("Add", known.Add(object("c", 1)))
	for _, of := range []struct {
		q    cache.Queue
		name string
	}{
		{cache.NewFIFO(cache.MetaNamespaceKeyFunc), "FIFO"},
		{cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{Name: name, KnownObjects: known}), given("DeltaFIFO")},
		{cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{Name: name, KnownObjects: known}), given("RealFIFO")},
		{cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{Name: name, AtomicEvents: true}), given("RealFIFO")},
	} {
		checker := of.q.HasSyncedChecker()
		c.is("the name of a queue", of.name, checker.Name())
		call := []string{"Add", "Update", "Delete"}[c.IntN(3)]
		when := fmt.Sprintf("whether %s, whose first change is %s, has synced before and after", of.name, call)
		before := of.q.HasSynced() || cache.IsDone(checker)
		c.no(call, map[string]func(any) error{"Add": of.q.Add, "Update": of.q.Update, "Delete": of.q.Delete}[call](object("c", 2)))
		c.is(when, [3]bool{false, true, true}, [3]bool{before, of.q.HasSynced(), cache.IsDone(checker)})
		c.no("Replace", of.q.Replace([]any{object("ns1/a", 3)}, "3"))
		c.is("whether "+of.name+" has synced although it gets a list later", true, of.q.HasSynced())
		of.q.Close()
		for {
			if _, err := of.q.Pop(func(_ any, isInInitialList bool) error {
				c.is("whether anything of "+of.name+" is part of an initial list that is none", false, isInInitialList)
				return nil
			}); err != nil {
				break
			}
		}
	}
}
