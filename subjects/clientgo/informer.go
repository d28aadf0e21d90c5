package clientgo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// The kinds of choices of an informer.
var (
	kindPop  = sim.RegisterKind("pop", sim.ClassAction)  // the controller's loop takes from the queue and processes what it took
	kindWake = sim.RegisterKind("wake", sim.ClassAction) // a wait is over, and a request follows
)

// actor is one SharedIndexInformer as an actor. Its handlers are actors of their own.
type actor struct {
	s        *Subject
	kernel   *sim.Kernel
	spec     subjects.InformerSpec
	labels   labels.Selector
	fields   fields.Selector
	id       sim.ActorID
	inf      cache.SharedIndexInformer
	link     *transport
	loop     *loopGate
	cancel   context.CancelFunc
	ended    chan struct{} // closed when client-go's Run has returned
	queue    *queueView
	backlog  backlog
	indexer  *indexerView
	handlers []*handler

	poppedAt   time.Duration // when something was last popped after a handler has panicked
	crashed    bool          // a handler has panicked
	nextResync time.Duration // when the reflector asks next, on the kernel's clock; 0 for never
	popOffer   offer
	wakeOffer  offer
	held       bool
	synced     bool
	stopping   bool // the record of the stop is still to be emitted
	stopped    bool
}

var _ subjects.Informer = (*actor)(nil)

func newInformer(s *Subject, spec subjects.InformerSpec) (*actor, error) {
	i := &actor{s: s, kernel: s.env.Kernel, spec: spec}
	var err error
	if i.labels, err = labels.Parse(spec.Labels); err != nil {
		return nil, err
	}
	if i.fields, err = fields.ParseSelector(spec.Fields); err != nil {
		return nil, err
	}
	i.id = i.kernel.Register(i)
	i.link = newTransport(i, s.env.Cluster.Connect(spec.Name, spec.Policy))
	i.indexer = newIndexerView(i)
	gates.choose(i.spec.Queue, i.spec.WatchList)
	i.inf = cache.NewSharedIndexInformerWithOptions(i.link.listerWatcher(), i.example(), cache.SharedIndexInformerOptions{
		ResyncPeriod: spec.Resync,
		Indexers:     cache.Indexers{cache.NamespaceIndex: i.indexer.observe},
	})
	for _, h := range spec.Handlers {
		if err := i.AddHandler(h); err != nil {
			return nil, err
		}
	}
	return i, i.start()
}

// example is an object of the kind that the informer is for.
func (i *actor) example() runtime.Object {
	res := i.s.env.Cluster.Store().Resource(i.spec.Resource)
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
		err = errors.New("this client-go does not ask its context before it takes from the queue")
	}
	if err != nil {
		cancel()
		b.Quiesce()
		return fmt.Errorf("%w: the subject client-go was made for v0.37", err)
	}
	i.backlog = backlog{queue: i.queue}
	return nil
}

// Name implements sim.Actor and subjects.Informer.
func (i *actor) Name() string { return i.spec.Name }

// Apply implements sim.Actor.
func (i *actor) Apply(c sim.Choice) {
	switch c.Kind {
	case kindPop:
		i.popOffer.taken()
		if i.crashed {
			i.noteCrashPause()
		}
		i.pop()
	case kindWake:
		i.link.wake()
	}
}

// pop lets the loop go round: once, or, where the queue has a part without an order, until it is through with that part.
func (i *actor) pop() {
	b := i.s.gate
	unordered := i.backlog.unorderedAhead()
	order := i.backlog.order
	if !unordered {
		order = func([]notification) {}
	}
	// What the last objects of the first list make a DeltaFIFO's handlers be told must all be seen here, see checkSynced.
	drained := unordered || i.queue.delta && !i.synced
	if drained {
		for _, h := range i.handlers {
			h.drain()
		}
		b.Quiesce()
		for _, h := range i.handlers {
			h.mark()
		}
	}
	i.indexer.rescan = i.backlog.replaceAhead()
	i.backlog.begin()
	for {
		i.loop.pass()
		b.Quiesce()
		if !i.backlog.popped() {
			i.kernel.Fail(fmt.Errorf("clientgo: informer %s had something queued, but its loop took nothing; this is a bug of informersim", i.spec.Name))
			return
		}
		if !unordered || !i.backlog.inside() {
			break
		}
	}
	if drained {
		for _, h := range i.handlers {
			h.gather(order)
		}
	}
}

// collect notes, when the bubble is quiescent, what has happened in it.
func (i *actor) collect() {
	i.collectQueue()
	i.indexer.collect()
	i.link.collect()
	if i.stopping {
		i.stopping = false
		i.kernel.Emit(i.kernel.Record(i.id, subjects.KindStopped))
	}
	for _, h := range i.handlers {
		h.collect()
	}
	i.offerPop()
	i.checkSynced()
}

// collectQueue notes what was put into the queue: a list, or the objects of a resync.
func (i *actor) collectQueue() {
	if i.stopped {
		return
	}
	if l := i.link.replaced; l != nil {
		i.link.replaced = nil
		r := i.kernel.Record(i.id, subjects.KindReplace)
		r.N, r.Obj, r.RV = int64(len(l.keys)), l.keys, parseRevision(l.rv)
		i.kernel.Emit(r)
		i.backlog.replaced(l)
		i.armResync()
		return
	}
	grown := i.backlog.grown()
	if grown > 0 && i.s.gate.passed {
		// Nothing but a resync is queued because time passes.
		r := i.kernel.Record(i.id, subjects.KindResync)
		r.N = int64(grown)
		i.kernel.Emit(r)
		i.backlog.resynced()
		return
	}
	i.backlog.follow()
}

// armResync notes when the reflector will ask whether to resync: it begins to count when it has put a list into the queue.
func (i *actor) armResync() {
	if i.queue.resync > 0 {
		i.nextResync = i.kernel.Elapsed() + i.queue.resync
	}
}

// resyncIn is the time until then. What a resync does shows in the queue alone, so time must not pass beyond.
func (i *actor) resyncIn(now time.Duration) (time.Duration, bool) {
	if i.nextResync == 0 || i.stopped {
		return 0, false
	}
	for i.nextResync <= now {
		i.nextResync += i.queue.resync
	}
	return i.nextResync - now, true
}

// offerWake offers the choice wake, which is as old as what else became possible at its instant: the kernel's own timers
// fire when the bubble has become quiescent.
func (i *actor) offerWake(want bool) {
	if o := &i.wakeOffer; want && !o.on {
		o.on, o.choice = true, i.kernel.OfferSince(i.id, kindWake, 0, i.s.stamp)
		return
	}
	i.wakeOffer.set(i.kernel, i.id, kindWake, want)
}

func (i *actor) offerPop() {
	i.popOffer.set(i.kernel, i.id, kindPop, !i.held && !i.stopped && i.backlog.length > 0)
}

func (i *actor) checkSynced() {
	if i.stopped {
		return
	}
	if !i.synced && i.inf.HasSynced() {
		i.synced = true
		i.kernel.Emit(i.kernel.Record(i.id, subjects.KindSynced))
	}
	if !i.synced {
		return
	}
	for _, h := range i.handlers {
		h.checkSynced()
	}
}

// AddHandler implements subjects.Informer.
func (i *actor) AddHandler(spec subjects.HandlerSpec) error { return i.addHandler(spec, nil) }

// addHandler adds a handler that fills the queue of pool; nil for none.
func (i *actor) addHandler(spec subjects.HandlerSpec, pool *workers.Pool) error {
	h := &handler{i: i, name: i.spec.Name + "/" + spec.Name, spec: spec, pool: pool, pass: make(chan bool, 1)}
	h.conduct = subjects.NewConduct(i.kernel, h.name)
	late := 0
	if i.loop != nil {
		// The store is replayed in no order: everything but the last is let through, and then put in order.
		late = i.Len()
		h.through = max(late-1, 0)
	}
	resync := spec.Resync
	reg, err := i.inf.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &resync})
	if err != nil {
		return err
	}
	h.reg = reg
	h.id = i.kernel.Register(h)
	i.handlers = append(i.handlers, h)
	r := i.kernel.Record(h.id, subjects.KindHandler)
	r.Detail = "added"
	i.kernel.Emit(r)
	if i.loop != nil {
		i.s.gate.touch()
		i.s.gate.Quiesce()
		h.gatherAll()
	}
	return nil
}

func (i *actor) handler(name string) (*handler, error) {
	k := slices.IndexFunc(i.handlers, func(h *handler) bool { return h.spec.Name == name })
	if k < 0 {
		return nil, fmt.Errorf("informer %s has no handler %q; it has %s", i.spec.Name, name, strings.Join(i.Handlers(), ", "))
	}
	return i.handlers[k], nil
}

// RemoveHandler implements subjects.Informer.
func (i *actor) RemoveHandler(name string) error {
	h, err := i.handler(name)
	if err != nil {
		return err
	}
	if err := i.inf.RemoveEventHandler(h.reg); err != nil {
		return err
	}
	h.drop()
	i.handlers = slices.DeleteFunc(i.handlers, func(x *handler) bool { return x == h })
	r := i.kernel.Record(h.id, subjects.KindHandler)
	r.Detail = "removed"
	i.kernel.Emit(r)
	return nil
}

// Handlers implements subjects.Informer.
func (i *actor) Handlers() []string {
	names := make([]string, len(i.handlers))
	for k, h := range i.handlers {
		names[k] = h.spec.Name
	}
	return names
}

// Hold implements subjects.Informer.
func (i *actor) Hold(part string) error { return i.setHeld(part, true) }

// Release implements subjects.Informer.
func (i *actor) Release(part string) error { return i.setHeld(part, false) }

func (i *actor) setHeld(part string, held bool) error {
	if part == "queue" {
		i.held = held
		i.offerPop()
		return nil
	}
	h, err := i.handler(part)
	if err != nil {
		return err
	}
	h.held = held
	h.collect()
	return nil
}

// Stop implements subjects.Informer.
func (i *actor) Stop() {
	if i.stopped {
		return
	}
	i.stopping = true
	i.s.begin(subjects.ByScript)
	i.shutDown()
}

// shutDown ends the informer's goroutines: all that is parked is let go.
func (i *actor) shutDown() {
	i.stopped = true
	i.popOffer.set(i.kernel, i.id, kindPop, false)
	i.cancel()
	for _, h := range i.handlers {
		h.drop()
	}
	i.s.gate.touch()
}

// Resource implements subjects.Informer.
func (i *actor) Resource() fakeapiserver.ResourceID { return i.spec.Resource }

// Selects implements subjects.Informer.
func (i *actor) Selects(obj runtime.Object) bool {
	if i.spec.Namespace == "" && i.labels.Empty() && i.fields.Empty() {
		return true
	}
	m, err := meta.Accessor(obj)
	if err != nil || i.spec.Namespace != "" && m.GetNamespace() != i.spec.Namespace {
		return false
	}
	return i.labels.Matches(labels.Set(m.GetLabels())) &&
		i.fields.Matches(fields.Set{"metadata.name": m.GetName(), "metadata.namespace": m.GetNamespace()})
}

// HasSynced implements subjects.Informer.
func (i *actor) HasSynced() bool { return i.inf.HasSynced() }

// LastSyncResourceVersion implements subjects.Informer.
func (i *actor) LastSyncResourceVersion() string { return i.inf.LastSyncResourceVersion() }

// StoreResourceVersion implements subjects.Informer. Whether client-go tells it is asked of the gates at every call.
func (i *actor) StoreResourceVersion() string {
	if !i.queue.atomic {
		return ""
	}
	before := gates.set
	defer func() { gates.set = before }()
	gates.choose(i.spec.Queue, i.spec.WatchList)
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
	obj, ok, err := i.inf.GetIndexer().GetByKey(key)
	if err != nil || !ok {
		return nil, false
	}
	o, ok := obj.(runtime.Object)
	return o, ok
}

// Len implements subjects.Informer.
func (i *actor) Len() int { return len(i.inf.GetIndexer().ListKeys()) }

// Busy implements subjects.Informer.
func (i *actor) Busy() bool {
	return i.backlog.length > 0 || slices.ContainsFunc(i.handlers, (*handler).busy)
}

func parseRevision(rv string) int64 {
	n, err := strconv.ParseInt(rv, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
