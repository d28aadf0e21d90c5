package library

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	clocktesting "k8s.io/utils/clock/testing"
)

// stoppedInList is a server that answers a list when the reflector has been stopped. It is asked for no watch, and the store has what it had.
func (t *trouble) stoppedInList() func() {
	t.from.answers = make(chan struct{})
	t.no("Add", t.s.Add(object("c", 1)))
	return func() {
		t.stop()
		t.quiesce()
		close(t.from.answers)
		t.quiesce()
		t.requests("of a reflector that was stopped while it listed", 1, 0)
		t.is("what the store of a reflector has that was stopped while it listed", []string{"c@1"}, texts(t.s.List()))
	}
}

// stopping is a store whose reflector is stopped while it takes a list.
type stopping struct {
	cache.Store
	stop func()
}

// Replace implements cache.ReflectorStore.
func (s *stopping) Replace(list []any, resourceVersion string) error {
	s.stop()
	return s.Store.Replace(list, resourceVersion)
}

// stoppedInReplace is a reflector that is stopped while its store takes a streaming list: it leaves the stream.
func (c *check) stoppedInReplace() {
	from := &stream{end: 5}
	from.list = &metav1.PartialObjectMetadataList{}
	from.list.Items = append(from.list.Items, *object("ns1/a", 1))
	s := &stopping{Store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, s, cache.ReflectorOptions{
		Name: "r", Clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), Backoff: &wait.Backoff{},
	})
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	if !c.returns("Run of a reflector that is stopped while its store takes a list", func() { r.RunWithContext(ctx) }) {
		cancel()
		return
	}
	c.is("whether a reflector has left its stream that was stopped while its store took the list", true, from.watch.IsStopped())
}

//go:linkname beforeHandlers k8s.io/client-go/tools/cache.sharedProcessorRunHook
var beforeHandlers atomic.Pointer[func()]

// addedBeforeHandlersRun is a handler that is added to an informer that runs, but has not started its handlers yet. It may be removed again, and the informer be
// stopped, before either has anything to do (k137282).
func (c *check) addedBeforeHandlersRun() {
	enter, told := make(chan struct{}), &notes{}
	wait, before := func() { <-enter }, beforeHandlers.Load()
	beforeHandlers.Store(&wait)
	from := &late{source: *newSource(object("ns1/a", 1)), answers: make(chan struct{})}
	inf := cache.NewSharedIndexInformer(from, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	stop, ended := running(inf.RunWithContext)
	c.quiesce()
	beforeHandlers.Store(before)
	reg, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { told.add(text(obj)) }})
	c.no("AddEventHandler", err)
	removes := c.IntN(2) == 0
	if removes {
		c.no("RemoveEventHandler", inf.RemoveEventHandler(reg))
	}
	close(enter)
	c.quiesce()
	if c.IntN(2) == 0 {
		close(from.answers)
		c.quiesce()
		want := []string{"ns1/a@1"}
		if removes {
			want = nil
		}
		c.is("what a handler is told that was added before handlers run", fmt.Sprintf("%q", want), fmt.Sprintf("%q", told.all()))
		c.is("HasSynced of a handler that was added before handlers run", !removes, reg.HasSynced())
	} else {
		defer func() {
			close(from.answers)
			c.quiesce()
		}()
	}
	stop()
	c.quiesce()
	c.is("whether an informer has ended that is stopped, and to which a handler was added before handlers run", true, closed(ended))
}

// panicsInProcess is a controller whose function panics, in a program that does not go on after that: Run panics, too, and waits for nothing.
func (c *check) panicsInProcess() {
	defer func(handlers []func(context.Context, any), crash bool) {
		utilruntime.PanicHandlers, utilruntime.ReallyCrash = handlers, crash
	}(utilruntime.PanicHandlers, utilruntime.ReallyCrash)
	utilruntime.PanicHandlers, utilruntime.ReallyCrash = nil, true
	q := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc)})
	control := cache.New(&cache.Config{
		Queue: q, ListerWatcher: newSource(object("ns1/a", 1)), ObjectType: &metav1.PartialObjectMetadata{}, Process: func(any, bool) error { panic("it cannot be processed") },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var broken atomic.Value
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() { broken.Store(fmt.Sprint(recover())) }()
		control.RunWithContext(ctx)
	}()
	c.quiesce()
	c.is("whether Run of a controller has ended whose function has panicked", true, closed(over))
	cancel()
	c.quiesce()
	c.is("what Run of a controller panics with whose function has panicked", any("it cannot be processed"), broken.Load())
}

// canceledInPage reads a list object by object, and is canceled while it does: of the pages that have come since it sees none.
func (c *check) canceledInPage() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := &book{objects: 6}
	p := pager.New(b.page)
	p.PageSize, p.PageBufferSize = 2, 3
	last, n := c.IntN(4), 0
	var err error
	if !c.returns("EachListItem", func() {
		err = p.EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error {
			if n == 0 {
				crowd() // all pages come
			}
			if n == last {
				cancel()
			}
			n++
			return nil
		})
	}) {
		return
	}
	c.is(fmt.Sprintf("how many objects EachListItem gives that is canceled with number %d of pages of two", last+1), last/2*2+2, n)
	c.is("whether EachListItem says that it was canceled", true, errors.Is(err, context.Canceled))
}

// unindexed is a store with an index whose function fails: what cannot be indexed has the call panic, which names the object and the index (I71).
func (c *check) unindexed() {
	s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"odd": func(obj any) ([]string, error) {
		if obj.(*metav1.PartialObjectMetadata).ResourceVersion == "2" {
			return nil, errors.New("it has none")
		}
		return []string{"all"}, nil
	}})
	c.no("Add", s.Add(object("ns1/a", 1)))
	call := []struct {
		name string
		f    func() error
	}{
		{"Add", func() error { return s.Add(object("c", 2)) }},
		{"Update", func() error { return s.Update(object("ns1/a", 2)) }},
		{"Replace", func() error { return s.Replace([]any{object("c", 2)}, "2") }},
	}[c.IntN(3)]
	key := map[string]string{"Update": "ns1/a"}[call.name]
	if key == "" {
		key = "c"
	}
	var broken any
	func() {
		defer func() { broken = recover() }()
		c.no(call.name, call.f())
	}()
	c.is(call.name+" of an object that cannot be indexed panics", fmt.Sprintf("unable to calculate an index entry for key %q on index \"odd\": it has none", key), fmt.Sprint(broken))
}
