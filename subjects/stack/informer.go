package stack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// The kinds of choices of an informer.
var (
	kindPop  = sim.RegisterKind("pop", sim.ClassAction)  // the controller pops one entry and processes it
	kindWake = sim.RegisterKind("wake", sim.ClassAction) // a wait is over: a backoff, a resync period, a retry
)

// actor is one informer as an actor: the reflector with its transport, the queue, the controller. Its handlers are actors
// of their own.
type actor struct {
	stack    *Stack
	kernel   *sim.Kernel
	spec     subjects.InformerSpec
	labels   labels.Selector
	fields   fields.Selector
	id       sim.ActorID
	inf      *informer.Informer
	link     transport
	handlers []*handler

	revisions revisions

	popOffered bool
	poppedAt   time.Duration // when something was last popped after a handler has panicked
	crashed    bool          // a handler has panicked
	popChoice  sim.Choice
	held       bool
	wakeOn     bool
	wakeChoice sim.Choice
	timer      clock.Timer
	timerAt    time.Time
	synced     bool
	stopped    bool
}

var _ subjects.Informer = (*actor)(nil)

func newInformer(s *Stack, spec subjects.InformerSpec) (*actor, error) {
	switch {
	case s.parts.Queue != nil:
		spec.Queue = cmp.Or(s.parts.Kind, subjects.QueueDelta)
	case spec.Queue == "":
		spec.Queue = subjects.QueueAtomic // as client-go's informers have it
	}
	if !slices.Contains(queues, spec.Queue) {
		return nil, fmt.Errorf("the stack has no queue %q", spec.Queue)
	}
	i := &actor{stack: s, kernel: s.env.Kernel, spec: spec}
	var err error
	if i.labels, err = labels.Parse(spec.Labels); err != nil {
		return nil, err
	}
	if i.fields, err = fields.ParseSelector(spec.Fields); err != nil {
		return nil, err
	}
	i.id = i.kernel.Register(i)
	i.link = newTransport(i)
	random := i.kernel.Stream(spec.Name + "/jitter").Float64
	if s.env.Draws != nil {
		random = s.env.Draws.Float64
	}
	i.inf = informer.NewInformer(informer.InformerOptions{
		Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		NewQueue:     i.newQueue,
		ResyncPeriod: spec.Resync,
		Reflector: informer.ReflectorOptions{
			Name: spec.Name, WatchListPageSize: spec.PageSize, WatchList: spec.WatchList, Random: random,
		},
	})
	i.assemble()
	for _, h := range spec.Handlers {
		if err := i.AddHandler(h); err != nil {
			return nil, err
		}
	}
	s.env.Draws.Begin(subjects.ByScript)
	i.inf.Start(i.now())
	i.settleWants()
	return i, nil
}

// queues are the queues that the stack has.
var queues = []subjects.Queue{subjects.QueueDelta, subjects.QueueInOrder, subjects.QueueAtomic}

// newQueue makes the queue over the informer's store, as client-go's informers make theirs.
func (i *actor) newQueue(known *informer.Indexer) informer.Queue {
	q := &observedQueue{informer: i}
	switch make := i.stack.parts.Queue; {
	case make != nil:
		q.Queue, q.atomic = make(known, q.enqueued), i.spec.Queue == subjects.QueueAtomic
	case i.spec.Queue == subjects.QueueInOrder:
		q.Queue = informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: known, Batch: true, OnEnqueue: q.enqueued})
	case i.spec.Queue == subjects.QueueAtomic:
		q.atomic = true
		q.Queue = informer.NewRealFIFO(informer.RealFIFOOptions{
			Atomic: true, EmitBookmarks: true, Batch: true, UnlockWhileProcessing: true, OnEnqueue: q.enqueued,
		})
	default:
		q.Queue = informer.NewDeltaFIFO(informer.DeltaFIFOOptions{KnownObjects: known, OnEnqueue: q.enqueued})
	}
	q.keyed, _ = q.Queue.(informer.KeyedWriter)
	return q
}

// assemble puts the observers, and a test's doubles, between the controller and its neighbours.
func (i *actor) assemble() {
	c := i.inf.Controller
	c.Store = &observedStore{Store: i.inf.Indexer, informer: i}
	if i.stack.parts.Store != nil {
		c.Store = i.stack.parts.Store(c.Store)
	}
	c.Distribute = i.distribute
	if i.stack.parts.Process != nil {
		c.Process = i.stack.parts.Process(c)
	}
}

func (i *actor) now() time.Time { return i.kernel.Clock().Now() }

// Name implements sim.Actor and subjects.Informer.
func (i *actor) Name() string { return i.spec.Name }

// Apply implements sim.Actor.
func (i *actor) Apply(c sim.Choice) {
	switch c.Kind {
	case kindPop:
		i.popOffered = false
		if i.crashed {
			i.noteCrashPause()
		}
		// An error of the processing drops the item, as in client-go (I68).
		if _, err := i.inf.Controller.Step(); err != nil {
			i.kernel.Fail(fmt.Errorf("informer %s: %w", i.spec.Name, err))
		}
		i.offerPop()
		i.checkSynced()
	case kindWake:
		i.wakeOn = false
		i.stack.env.Draws.Begin(subjects.ByClock)
		i.inf.Reflector.OnTime(i.now())
		i.link.onTime(i.now())
		i.settleWants()
	}
}

// settleWants carries out what the reflector wants now, after anything has happened to it.
func (i *actor) settleWants() {
	i.link.follow(i.inf.Reflector.Want())
	i.offerPop()
	i.checkSynced()
	i.armTimer()
}

func (i *actor) offerPop() {
	want := !i.held && !i.stopped && i.inf.Queue.Len() > 0
	switch {
	case want && !i.popOffered:
		i.popChoice = i.kernel.Offer(i.id, kindPop, 0)
		i.popOffered = true
	case !want && i.popOffered:
		i.kernel.Withdraw(i.popChoice)
		i.popOffered = false
	}
}

// armTimer sets the one timer to when the reflector or the transport next has something to do.
func (i *actor) armTimer() {
	at, any := i.inf.Reflector.NextTime()
	if t, waits := i.link.nextTime(); waits && (!any || t.Before(at)) {
		at, any = t, true
	}
	if !any || i.stopped {
		at = time.Time{}
	}
	if at.Equal(i.timerAt) {
		return
	}
	if i.timer != nil {
		i.timer.Stop()
	}
	i.timerAt = at
	if at.IsZero() {
		return
	}
	i.timer = i.kernel.Clock().AfterFunc(at.Sub(i.now()), i.ring)
}

// ring is called when the timer fires: that the informer notices is a choice of its own.
func (i *actor) ring() {
	i.timerAt = time.Time{}
	if !i.wakeOn && !i.stopped {
		i.wakeOn = true
		i.wakeChoice = i.kernel.Offer(i.id, kindWake, 0)
	}
}

func (i *actor) checkSynced() {
	if !i.synced && i.inf.HasSynced() {
		i.synced = true
		r := i.kernel.Record(i.id, subjects.KindSynced)
		i.kernel.Emit(r)
		for _, h := range i.handlers {
			h.checkSynced()
		}
	}
}

// distribute passes a notification to the processor, after the store has changed (I62).
func (i *actor) distribute(n informer.Notification) {
	i.inf.Processor.Distribute(n)
	for _, h := range i.handlers {
		h.offer()
	}
}

// Resource implements subjects.Informer.
func (i *actor) Resource() fakeapiserver.ResourceID { return i.spec.Resource }

// Selects implements subjects.Informer.
func (i *actor) Selects(obj runtime.Object) bool {
	if i.spec.Namespace == "" && i.labels.Empty() && i.fields.Empty() {
		return true
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return false
	}
	if i.spec.Namespace != "" && m.GetNamespace() != i.spec.Namespace {
		return false
	}
	if !i.labels.Empty() && !i.labels.Matches(labels.Set(m.GetLabels())) {
		return false
	}
	return i.fields.Empty() || i.fields.Matches(fields.Set{"metadata.name": m.GetName(), "metadata.namespace": m.GetNamespace()})
}

// AddHandler implements subjects.Informer.
func (i *actor) AddHandler(spec subjects.HandlerSpec) error { return i.addHandler(spec, nil) }

// addHandler adds a handler that fills the queue of pool; nil for none.
func (i *actor) addHandler(spec subjects.HandlerSpec, pool *workers.Pool) error {
	h := &handler{informer: i, name: i.spec.Name + "/" + spec.Name, spec: spec, pool: pool}
	h.conduct = subjects.NewConduct(i.kernel, h.name)
	resync := spec.Resync
	l, err := i.inf.AddHandler(nullHandler, informer.ListenerOptions{Name: spec.Name, ResyncPeriod: &resync}, i.now())
	if err != nil {
		return err
	}
	h.listener = l
	h.id = i.kernel.Register(h)
	i.handlers = append(i.handlers, h)
	r := i.kernel.Record(h.id, subjects.KindHandler)
	r.Detail = "added"
	i.kernel.Emit(r)
	h.offer()
	if i.synced {
		h.checkSynced()
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
	i.inf.Processor.RemoveListener(h.listener)
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

// Trouble implements subjects.Informer.
func (i *actor) Trouble(name string, t subjects.Trouble) error {
	h, err := i.handler(name)
	if err != nil {
		return err
	}
	h.conduct.Set(t)
	return nil
}

// Mend implements subjects.Informer.
func (i *actor) Mend() {
	for _, h := range i.handlers {
		h.conduct.Mend()
	}
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
	h.offer()
	return nil
}

// Stop implements subjects.Informer.
func (i *actor) Stop() {
	if i.stopped {
		return
	}
	i.stopped = true
	i.inf.Stop()
	i.settleWants()
	if i.wakeOn {
		i.kernel.Withdraw(i.wakeChoice)
		i.wakeOn = false
	}
	for _, h := range i.handlers {
		h.drop()
	}
	i.kernel.Emit(i.kernel.Record(i.id, subjects.KindStopped))
}

// HasSynced implements subjects.Informer.
func (i *actor) HasSynced() bool { return i.inf.HasSynced() }

// LastSyncResourceVersion implements subjects.Informer.
func (i *actor) LastSyncResourceVersion() string { return i.inf.Reflector.LastSyncResourceVersion() }

// StoreResourceVersion implements subjects.Informer.
func (i *actor) StoreResourceVersion() string {
	if i.spec.Queue != subjects.QueueAtomic {
		return ""
	}
	return i.inf.Indexer.LastStoreSyncResourceVersion()
}

// Keys implements subjects.Informer.
func (i *actor) Keys() []string { return slices.Clone(i.inf.Indexer.ListKeys()) }

// Get implements subjects.Informer.
func (i *actor) Get(key string) (runtime.Object, bool) {
	obj, ok, err := i.inf.Indexer.GetByKey(key)
	if err != nil || !ok {
		return nil, false
	}
	o, ok := obj.(runtime.Object)
	return o, ok
}

// Len implements subjects.Informer.
func (i *actor) Len() int { return i.inf.Indexer.Len() }

// Busy implements subjects.Informer.
func (i *actor) Busy() bool {
	return i.inf.Queue.Len() > 0 || slices.ContainsFunc(i.handlers, (*handler).busy)
}
