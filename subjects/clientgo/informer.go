package clientgo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/informers"
	"github.com/informersim/informersim/subjects/workers"
)

// actor is one SharedIndexInformer as an actor. Its handlers are separate actors.
type actor struct {
	informers.Informer[*handler]
	s       *Subject
	inf     cache.SharedIndexInformer
	link    *transport
	loop    *loopGate
	cancel  context.CancelFunc
	ended   chan struct{} // closed when client-go's Run has returned
	queue   *queueView
	backlog backlog
	removed []*handler
	indexer *indexerView

	nextResync time.Duration // when the reflector next checks for a resync, on the kernel's clock; 0 for never
	wake       sim.Toggle
	stopping   bool // the record of the stop has yet to be emitted
}

var _ subjects.Informer = (*actor)(nil)

func newInformer(s *Subject, spec subjects.InformerSpec) (*actor, error) {
	i := &actor{s: s}
	if err := i.Init(s.deps.Kernel, spec, i); err != nil {
		return nil, err
	}
	i.link = newTransport(i, s.deps.Cluster.Connect(spec.Name, spec.Policy))
	i.indexer = newIndexerView(i)
	gates.choose(i.Spec.Queue, i.Spec.WatchList)
	i.inf = cache.NewSharedIndexInformerWithOptions(i.link.listerWatcher(), i.example(), cache.SharedIndexInformerOptions{
		ResyncPeriod: spec.Resync,
		Indexers:     cache.Indexers{cache.NamespaceIndex: i.indexer.observe},
	})
	if f := spec.Transform.Func(); f != nil {
		if err := i.inf.SetTransform(f); err != nil {
			return nil, err
		}
	}
	for _, h := range spec.Handlers {
		if err := i.AddHandler(h); err != nil {
			return nil, err
		}
	}
	return i, i.start()
}

// example returns an object of the informer's kind.
func (i *actor) example() runtime.Object {
	res := i.s.deps.Cluster.Store().Resource(i.Spec.Resource)
	if res.New != nil {
		return res.New()
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(res.GroupVersionKind())
	return u
}

func (i *actor) start() error {
	b := i.s.gate
	i.s.begin(subjects.ByScript)
	ctx, cancel := context.WithCancel(context.Background())
	i.loop, i.cancel = newLoopGate(ctx, b), cancel
	i.ended = make(chan struct{})
	go func() {
		defer close(i.ended)
		i.inf.RunWithContext(i.loop)
	}()
	b.touch()
	b.Quiesce()
	var err error
	if i.queue, err = viewQueue(i.inf); err == nil && !i.loop.waiting() {
		err = errors.New("this client-go does not check its context before it takes from the queue")
	}
	if err != nil {
		cancel()
		b.Quiesce()
		return fmt.Errorf("%w: the subject client-go supports v0.37", err)
	}
	i.backlog = backlog{queue: i.queue}
	return nil
}

// Apply implements sim.Actor.
func (i *actor) Apply(c sim.Choice) {
	switch c.Kind {
	case informers.KindPop:
		i.PopPicked()
		i.pop()
	case informers.KindWake:
		i.link.wake()
	}
}

// pop lets the loop run once or, if the queue begins with a part without an order, until it has taken that whole part.
func (i *actor) pop() {
	b := i.s.gate
	unordered := i.backlog.unorderedAhead()
	order := i.backlog.order
	if !unordered {
		order = func([]notification) {}
	}
	// With a DeltaFIFO, all notifications for the last objects of the first list must be observed here: see checkSynced.
	drained := unordered || i.queue.delta && !i.Synced
	if drained {
		for _, h := range i.Attached {
			h.drain()
		}
		b.Quiesce()
		for _, h := range i.Attached {
			h.mark()
		}
	}
	i.indexer.rescan = i.backlog.replaceAhead()
	i.backlog.begin()
	for {
		i.loop.pass()
		b.Quiesce()
		if !i.backlog.popped() {
			i.Kernel.Fail(&subjects.Failure{Kind: subjects.Hung, What: fmt.Sprintf("informer %s has something queued, but the loop of its controller takes nothing from the queue", i.Spec.Name)})
			return
		}
		if !unordered || !i.backlog.inside() {
			break
		}
	}
	if drained {
		for _, h := range i.Attached {
			h.gather(order)
		}
	}
}

// collect records, while the bubble is quiescent, what has happened in it.
func (i *actor) collect() {
	i.collectQueue()
	i.indexer.collect()
	i.link.collect()
	if i.stopping {
		i.stopping = false
		i.Kernel.Emit(i.Kernel.Record(i.ID, subjects.KindStopped))
	}
	for _, h := range i.removed {
		h.collectLate()
	}
	for _, h := range i.Attached {
		h.Offer()
	}
	i.OfferPop(i.backlog.length)
	i.checkSynced()
}

// collectQueue records what was added to the queue: a list, or the objects of a resync.
func (i *actor) collectQueue() {
	if i.Stopped {
		return
	}
	if l := i.link.replaced; l != nil {
		i.link.replaced = nil
		r := i.Kernel.Record(i.ID, subjects.KindReplace)
		r.N, r.Obj, r.RV = int64(len(l.keys)), l.keys, subjects.ParseRevision(l.rv)
		i.Kernel.Emit(r)
		i.backlog.replaced(l)
		i.armResync()
		return
	}
	grown := i.backlog.grown()
	if grown > 0 && i.s.gate.passed {
		// Only a resync is queued because time passes.
		r := i.Kernel.Record(i.ID, subjects.KindResync)
		r.N = int64(grown)
		i.Kernel.Emit(r)
		i.backlog.resynced()
		return
	}
	i.backlog.follow()
}

// armResync notes when the reflector will check for a resync: its period starts when it has added a list to the queue.
func (i *actor) armResync() {
	if i.queue.resync > 0 {
		i.nextResync = i.Kernel.Elapsed() + i.queue.resync
	}
}

// resyncIn returns the time until the next check. A resync can be observed only in the queue, so time must not pass beyond it.
func (i *actor) resyncIn(now time.Duration) (time.Duration, bool) {
	if i.nextResync == 0 || i.Stopped {
		return 0, false
	}
	for i.nextResync <= now {
		i.nextResync += i.queue.resync
	}
	return i.nextResync - now, true
}

// offerWake offers the choice wake with the same stamp as other choices of its instant: the kernel's own timers fire after the
// bubble has become quiescent.
func (i *actor) offerWake(want bool) {
	i.wake.SetSince(i.Kernel, i.ID, informers.KindWake, want, i.s.stamp)
}

// Queued implements informers.Engine.
func (i *actor) Queued() int { return i.backlog.length }

func (i *actor) checkSynced() {
	if i.Stopped {
		return
	}
	if !i.Synced && i.inf.HasSynced() {
		i.NoteSynced()
	}
	if !i.Synced {
		return
	}
	for _, h := range i.Attached {
		h.checkSynced()
	}
}

// AddHandler implements subjects.Informer.
func (i *actor) AddHandler(spec subjects.HandlerSpec) error { return i.addHandler(spec, nil) }

// addHandler adds a handler, which fills the queue of pool unless that is nil.
func (i *actor) addHandler(spec subjects.HandlerSpec, pool *workers.Pool) error {
	h := &handler{Handler: i.NewHandler(spec, pool), i: i, pass: make(chan bool, 1)}
	late := 0
	if i.loop != nil {
		// The store is replayed in no particular order: all calls but the last are let through, and then sorted.
		late, h.replayed = i.Len(), true
		h.through = max(late-1, 0)
	}
	resync := spec.Resync
	reg, err := i.inf.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &resync})
	if err != nil {
		return err
	}
	h.reg = reg
	i.Attach(h, i.loop != nil, i.Spec.Queue == subjects.QueueAtomic)
	if i.loop != nil {
		i.s.gate.touch()
		i.s.gate.Quiesce()
		h.gatherAll()
	}
	return nil
}

// Stop implements subjects.Informer.
func (i *actor) Stop() {
	if i.Stopped {
		return
	}
	i.stopping = true
	i.s.begin(subjects.ByScript)
	i.shutDown()
}

// shutDown ends the informer's goroutines, and releases those that are parked.
func (i *actor) shutDown() {
	i.Stopped = true
	i.OfferPop(i.backlog.length)
	i.cancel()
	for _, h := range i.Attached {
		h.drop()
	}
	i.s.gate.touch()
}

// HasSynced implements subjects.Informer.
func (i *actor) HasSynced() bool { return i.inf.HasSynced() }

// LastSyncResourceVersion implements subjects.Informer.
func (i *actor) LastSyncResourceVersion() string { return i.inf.LastSyncResourceVersion() }

// StoreResourceVersion implements subjects.Informer. client-go checks its feature gates at every call.
func (i *actor) StoreResourceVersion() string {
	if !i.queue.atomic {
		return ""
	}
	before := gates.set
	defer func() { gates.set = before }()
	gates.choose(i.Spec.Queue, i.Spec.WatchList)
	return i.inf.GetIndexer().LastStoreSyncResourceVersion()
}

// Keys implements subjects.Informer.
func (i *actor) Keys() []string {
	keys := i.inf.GetIndexer().ListKeys()
	slices.Sort(keys)
	return keys
}

// Get implements subjects.Informer.
func (i *actor) Get(key string) (runtime.Object, bool) {
	return informers.Lookup(i.inf.GetIndexer(), key)
}

// AddIndex implements subjects.Informer.
func (i *actor) AddIndex(spec subjects.IndexSpec) error {
	if err := i.inf.AddIndexers(cache.Indexers{spec.Name: spec.Values}); err != nil {
		return err
	}
	i.Added = append(i.Added, spec)
	return nil
}

// IndexValues implements subjects.Informer.
func (i *actor) IndexValues(index string) []string {
	values := i.inf.GetIndexer().ListIndexFuncValues(index)
	slices.Sort(values)
	return values
}

// IndexKeys implements subjects.Informer.
func (i *actor) IndexKeys(index, value string) []string {
	return informers.SortedKeys(i.inf.GetIndexer(), index, value)
}

// Len implements subjects.Informer.
func (i *actor) Len() int { return len(i.inf.GetIndexer().ListKeys()) }
