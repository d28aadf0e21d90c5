package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// lateHandlers add a handler while an update is under way from the store to the handlers, alone or in a batch. It has to be told of the object as
// it was and of the update, or of the object as it is.
func lateHandlers(c *check) {
	from := newSource(object("ns1/a", 1), object("ns1/b", 2))
	arrived, leave := make(chan struct{}), make(chan struct{})
	alone, first := c.IntN(2) == 0, ""
	if !alone && c.IntN(2) == 0 {
		first = "6" // holds the informer up, so that two updates are queued
	}
	between := make(chan struct{})
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{"gate": func(obj any) ([]string, error) {
		switch obj.(*metav1.PartialObjectMetadata).ResourceVersion {
		case first:
			<-between
		case "7":
			close(arrived)
			<-leave
		}
		return nil, nil
	}})
	failures := 0
	c.no("SetWatchErrorHandler", inf.SetWatchErrorHandler(func(*cache.Reflector, error) { failures++ }))
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	c.quiesce()
	c.is("HasSynced after the list", true, inf.HasSynced())

	told := map[string][]string{}
	note := func(obj any, what string) {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		told[key] = append(told[key], what)
	}
	h := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { note(obj, "add "+text(obj)) },
		UpdateFunc: func(old, obj any) { note(obj, "update "+text(old)+" "+text(obj)) },
	}
	if first != "" {
		from.watch.Modify(object("ns1/b", 6))
		c.quiesce()
	}
	from.watch.Modify(object("ns1/a", 7))
	last := "add ns1/b@2"
	if !alone {
		from.watch.Modify(object("ns1/b", 8))
		last = map[bool]string{true: "add ns1/b@2, update ns1/b@2 ns1/b@8", false: "add ns1/b@6, update ns1/b@6 ns1/b@8"}[first == ""]
	}
	crowd()
	close(between)
	if !c.comes("the call of an index function for an update", arrived) {
		cancel()
		return
	}
	var reg cache.ResourceEventHandlerRegistration
	go func() { reg, _ = inf.AddEventHandler(h) }()
	crowd()
	close(leave)
	c.quiesce()
	for n, want := range []string{"add ns1/a@1, update ns1/a@1 ns1/a@7", last} {
		key := keys[n]
		if got := strings.Join(told[key], ", "); got != "add "+want[strings.LastIndex(want, " ")+1:] {
			c.is("what a handler is told of "+key+" that is added during an update", want, got)
		}
	}
	c.is("HasSynced of a handler that is added late", true, reg != nil && reg.HasSynced())
	end := []*apierrors.StatusError{apierrors.NewResourceExpired("it has expired"), apierrors.NewInternalError(errors.New("it is broken")), apierrors.NewTooManyRequests("later", 1)}[c.IntN(3)]
	from.watch.Error(&end.ErrStatus)
	c.quiesce()
	cancel()
	c.quiesce()
	c.is("how often the handler of watch errors was called of a watch that ended with an error, and an informer that was stopped", 0, failures)
	c.is("IsStopped of an informer that was stopped", true, inf.IsStopped())
}

// busyHandlers are at work when their informer is stopped, or when they are removed by somebody who waits for them.
func busyHandlers(c *check) {
	from := newSource(object("ns1/a", 1), object("ns1/b", 2))
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	leave, busy := make(chan struct{}), false
	reg, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		busy = true
		<-leave
		busy = false
	}})
	c.no("AddEventHandler", err)
	run := inf.RunWithContext
	if c.IntN(2) == 0 {
		run = func(ctx context.Context) { inf.Run(ctx.Done()) }
	}
	cancel, ended := running(run)
	c.quiesce()
	c.is("whether a handler is told of the list", true, busy)
	c.is("HasSynced of an informer whose handler is busy", true, inf.HasSynced())
	c.is("HasSynced of a handler that is busy with the initial list", false, reg.HasSynced())
	call, f := "Run of an informer that is stopped", func() { <-ended }
	if c.IntN(2) == 0 {
		call, f = "ShutDownEventHandler", func() { c.no("ShutDownEventHandler", cache.ShutDownEventHandler(inf, reg)) }
	} else {
		cancel()
	}
	before, after := c.waits(f, func() {
		if call != "ShutDownEventHandler" { // it has stopped, but for its handler
			c.is("IsStopped of an informer that has stopped, but for a handler", true, inf.IsStopped())
			c.refused("AddIndexers of an informer that has stopped, but for a handler", inf.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
		}
		if inf.IsStopped() { // if not, it would wait for ever
			_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{})
			c.refused("AddEventHandler of an informer that has stopped, but for a handler", err)
		}
		close(leave)
	})
	c.is("whether "+call+" waits for the handler", true, before)
	c.is("whether "+call+" waits although the handler has returned", false, after)
	cancel()
	c.quiesce()
	c.is("whether a handler is busy after the end of its informer", false, busy)
	c.panicking()
	c.addedBeforeHandlersRun()
}

// panicking is a handler that may panic of an object of its initial list. That object is never handled, so that it does not sync, and the next one comes
// after a pause (I85).
func (c *check) panicking() {
	defer func(handlers []func(context.Context, any), crash bool) {
		utilruntime.PanicHandlers, utilruntime.ReallyCrash = handlers, crash
	}(utilruntime.PanicHandlers, utilruntime.ReallyCrash)
	utilruntime.PanicHandlers, utilruntime.ReallyCrash = nil, false
	all, of := []string{"ns1/a@1", "ns1/b@2"}, c.IntN(3)
	inf := cache.NewSharedIndexInformer(newSource(object("ns1/a", 1), object("ns1/b", 2)), &metav1.PartialObjectMetadata{}, time.Hour, cache.Indexers{})
	told, looks := &notes{}, time.Hour
	if c.IntN(2) == 0 {
		looks = 30 * time.Minute
		_, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, looks)
		c.no("AddEventHandlerWithResyncPeriod", err)
	}
	reg, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		told.add(text(obj))
		if of < len(all) && text(obj) == all[of] {
			panic("the handler panics")
		}
	}})
	c.no("AddEventHandler", err)
	c.inside("the resync period of a handler that asks for none, beside one of "+looks.String(), time.Hour, reg, "requestedResyncPeriod")
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	c.quiesce()
	if of == 0 {
		c.is("what a handler is told of that has just panicked", all[:1], told.all())
		time.Sleep(time.Second)
		c.quiesce()
	}
	c.is("what a handler is told of that may have panicked", all, told.all())
	c.is("HasSynced of an informer one of whose handlers may have panicked", true, inf.HasSynced())
	if of != 1 || features.FeatureGates().Enabled(features.InOrderInformers) { // a DeltaFIFO may have synced before a handler is told of the last object
		c.is("HasSynced of a handler that may have panicked", of == len(all), reg.HasSynced())
	}
	late, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, 2*time.Second)
	c.no("AddEventHandlerWithResyncPeriod", err)
	c.inside("the period of a handler that is added late, and wants resyncs more often than there are", looks, late, "resyncPeriod")
	if next := field[time.Time](late, "nextResync"); next != nil {
		c.is("when the first resync of a handler is due that is added late", looks, time.Until(*next))
	}
	cancel()
	c.quiesce()
	c.removedEarly()
}

// removedEarly is a handler that is removed before its informer has a list. It never syncs. The informer may be stopped before, too, which is no error.
func (c *check) removedEarly() {
	from := &late{source: *newSource(object("ns1/a", 1)), answers: make(chan struct{})}
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	told, failures := 0, []string{}
	reg, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { told++ }})
	c.no("AddEventHandler", err)
	c.no("SetWatchErrorHandler", inf.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { failures = append(failures, message(err)) }))
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	c.quiesce()
	c.no("RemoveEventHandler", inf.RemoveEventHandler(reg))
	c.quiesce()
	before, stops := reg.HasSynced(), c.IntN(2) == 0
	if stops {
		cancel()
		c.quiesce()
		c.is("what the handler of watch errors is told of an informer that is stopped while it lists", []string{}, failures)
	}
	close(from.answers)
	c.quiesce()
	c.is("HasSynced of an informer that may be stopped before the list, and of a handler that was removed before, then and now", [3]bool{!stops, false, false}, [3]bool{inf.HasSynced(), before, reg.HasSynced()})
	c.is("what a handler is told of that was removed before the list", 0, told)
	cancel()
	c.quiesce()
	c.unchanged()
	c.manyHandlers()
	if c.IntN(8) == 0 {
		c.crowded()
	}
}

// crowded is a handler that is busy while more objects come than there is room for at first. It is told of all of them.
func (c *check) crowded() {
	const objects = 1100
	from := newSource()
	for n := range objects {
		from.list.Items = append(from.list.Items, *object(fmt.Sprint("ns1/", n), 1))
	}
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	leave, told := make(chan struct{}), &notes{}
	_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		<-leave
		told.add(text(obj))
	}})
	c.no("AddEventHandler", err)
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	c.quiesce()
	close(leave)
	c.quiesce()
	got := told.all()
	slices.Sort(got)
	c.is("how many objects a handler is told of that was busy meanwhile", objects, len(slices.Compact(got)))
	cancel()
	c.quiesce()
}

// unchanged is a list that finds objects as the store has them. Handlers are told all the same, until somebody asks which of them are due for a resync
// (I75, I76). What is gone is told before what is new, except by a DeltaFIFO. The list may have an older object than the store, as that of a server that was
// restored; it is right all the same.
func (c *check) unchanged() {
	from := newSource(object("ns1/b", 3), object("ns1/a", 1), object("c", 2))
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, time.Duration(c.IntN(2))*time.Hour, cache.Indexers{})
	had := 1 + 2*c.IntN(2)
	for _, obj := range []any{object("ns1/a", 1), object("c", had), object("ns2/a", 1)} {
		c.no("Add", inf.GetStore().Add(obj))
	}
	var told [2]notes
	for n := range told {
		_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { told[n].add("add " + text(obj)) },
			UpdateFunc: func(old, obj any) { told[n].add("update " + text(old) + " " + text(obj)) },
			DeleteFunc: func(obj any) { told[n].add("delete " + obj.(cache.DeletedFinalStateUnknown).Key) },
		})
		c.no("AddEventHandler", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	c.quiesce()
	want := []string{"delete ns2/a", "add ns1/b@3", "update ns1/a@1 ns1/a@1", fmt.Sprintf("update c@%d c@2", had)}
	for n := range told {
		got := told[n].all()
		if !features.FeatureGates().Enabled(features.InOrderInformers) {
			want, got = sorted(want), sorted(got)
		}
		c.is("what handlers are told of a list of which the store has two objects, one of them at another revision, and another one that is gone", want, got)
	}
	c.is("what the store has after that list", []string{"c@2", "ns1/a@1", "ns1/b@3"}, texts(inf.GetStore().List()))
	cancel()
	c.quiesce()
}

// waitingHandlers are added to an informer that has synced, while its store is being written: they are told of it only after that.
func waitingHandlers(c *check) {
	from := newSource(object("ns1/a", 1))
	arrived, write, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{"gate": func(obj any) ([]string, error) {
		if obj.(*metav1.PartialObjectMetadata).ResourceVersion == "7" {
			close(arrived)
			<-write
		}
		return nil, nil
	}})
	ctx, cancel := context.WithCancel(context.Background())
	go inf.RunWithContext(ctx)
	c.quiesce()
	go func() { _ = inf.GetIndexer().Update(object("ns1/a", 7)) }()
	if !c.comes("the call of an index function for an update", arrived) {
		cancel()
		return
	}
	var reg cache.ResourceEventHandlerRegistration
	go func() { reg, _ = inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-told }}) }()
	crowd()
	close(write)
	c.quiesce()
	c.is("HasSynced of a handler that is added late, and busy with what the store has", false, reg == nil || reg.HasSynced())
	close(told)
	c.quiesce()
	c.is("HasSynced of a handler that was told late of what the store has", true, reg != nil && reg.HasSynced())
	cancel()
	c.quiesce()
	c.seenBeforeSynced()
	c.addedInWrite()
}

// notes are what a goroutine notes, for others that look at them while it may go on.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}
