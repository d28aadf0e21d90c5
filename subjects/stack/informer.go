package stack

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/informers"
	"github.com/informersim/informersim/subjects/stack/library"
	"github.com/informersim/informersim/subjects/workers"
)

// actor is one informer as an actor: the reflector with its transport, the queue and the controller. Its handlers are separate
// actors.
type actor struct {
	informers.Informer[*handler]
	stack *Stack
	inf   *informer.Informer
	link  transport

	revisions revisions

	wake    sim.Toggle
	timer   clock.Timer
	timerAt time.Time
}

var _ subjects.Informer = (*actor)(nil)

// newInformer creates and starts an informer: anew, or as the next life of the one before.
func newInformer(s *Stack, spec subjects.InformerSpec, before *actor) (*actor, error) {
	spec.Queue = cmp.Or(spec.Queue, subjects.QueueAtomic) // as client-go's informers have it
	if !slices.Contains(queues, spec.Queue) {
		return nil, fmt.Errorf("the stack has no queue %q", spec.Queue)
	}
	i := &actor{stack: s}
	var life *informers.Informer[*handler]
	if before != nil {
		life = &before.Informer
	}
	if err := i.Init(s.deps.Kernel, spec, i, life); err != nil {
		return nil, err
	}
	i.link = newTransport(i)
	random := i.Kernel.Stream(spec.Name + "/jitter").Float64
	if s.deps.Draws != nil {
		random = s.deps.Draws.Float64
	}
	reflector := informer.ReflectorOptions{Name: spec.Name, WatchListPageSize: spec.PageSize, WatchList: spec.WatchList, Random: random}
	if change := s.parts.Reflector; change != nil {
		change(&reflector)
	}
	i.inf = informer.NewInformer(informer.InformerOptions{
		Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		NewQueue:     i.newQueue,
		ResyncPeriod: spec.Resync,
		Reflector:    reflector,
	})
	i.assemble()
	if change := s.parts.Informer; change != nil {
		change(i.inf)
	}
	if err := i.Furnish(i.Get, i.AddIndex, i.addHandler); err != nil {
		return nil, err
	}
	s.deps.Draws.Begin(subjects.ByScript)
	i.inf.Start(i.now())
	i.settleWants()
	return i, nil
}

// queues are the queues that the stack supports.
var queues = []subjects.Queue{subjects.QueueDelta, subjects.QueueInOrder, subjects.QueueAtomic}

// newQueue returns the queue over the informer's store, configured as in client-go's informers.
func (i *actor) newQueue(known *informer.Indexer) informer.Queue {
	q := &observedQueue{informer: i}
	transform := i.Spec.Transform.Func() // doubles have none
	switch p := &i.stack.parts; {
	case p.Queue != nil && transform == nil && i.Spec.Queue == cmp.Or(p.Kind, subjects.QueueDelta):
		q.Queue, q.atomic = p.Queue(known, q.enqueued), i.Spec.Queue == subjects.QueueAtomic
	case i.Spec.Queue == subjects.QueueInOrder:
		q.Queue = informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: known, Batch: true, Transformer: transform, OnEnqueue: q.enqueued})
	case i.Spec.Queue == subjects.QueueAtomic:
		q.atomic = true
		q.Queue = informer.NewRealFIFO(informer.RealFIFOOptions{
			Atomic: true, EmitBookmarks: true, Batch: true, UnlockWhileProcessing: true, Transformer: transform, OnEnqueue: q.enqueued,
		})
	default:
		q.Queue = informer.NewDeltaFIFO(informer.DeltaFIFOOptions{KnownObjects: known, Transformer: transform, OnEnqueue: q.enqueued})
	}
	q.keyed, _ = q.Queue.(informer.KeyedWriter)
	return q
}

// assemble puts the observers and a test's doubles between the controller and its neighbours.
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

func (i *actor) now() time.Time { return i.Kernel.Clock().Now() }

// Apply implements sim.Actor.
func (i *actor) Apply(c sim.Choice) {
	switch c.Kind {
	case informers.KindPop:
		i.PopPicked()
		// A processing error drops the item, as in client-go (I68): what that leads to is for properties to find.
		_, _ = i.inf.Controller.Step()
		i.offerPop()
		i.checkSynced()
	case informers.KindWake:
		i.wake.Taken()
		i.stack.deps.Draws.Begin(subjects.ByClock)
		i.inf.Reflector.OnTime(i.now())
		i.link.onTime(i.now())
		i.settleWants()
	}
}

// settleWants carries out what the reflector wants after an event.
func (i *actor) settleWants() {
	i.link.follow(i.inf.Reflector.Want())
	i.offerPop()
	i.checkSynced()
	i.armTimer()
}

func (i *actor) offerPop() { i.OfferPop(i.inf.Queue.Len()) }

// Queued implements informers.Engine.
func (i *actor) Queued() int { return i.inf.Queue.Len() }

// armTimer sets the timer to the next deadline of the reflector or the transport.
func (i *actor) armTimer() {
	at, any := i.inf.Reflector.NextTime()
	if t, waits := i.link.nextTime(); waits && (!any || t.Before(at)) {
		at, any = t, true
	}
	if !any || i.Stopped {
		at = time.Time{}
	}
	if at.Equal(i.timerAt) {
		return
	}
	i.timerAt = at
	switch {
	case at.IsZero():
		i.timer.Stop()
	case i.timer == nil:
		i.timer = i.Kernel.Clock().AfterFunc(at.Sub(i.now()), i.ring)
	default:
		i.timer.Reset(at.Sub(i.now()))
	}
}

// ring is called when the timer fires. The informer's reaction is a choice of its own.
func (i *actor) ring() {
	i.timerAt = time.Time{}
	if !i.Stopped {
		i.wake.SetSince(i.Kernel, i.ID, informers.KindWake, true, i.Kernel.InstantStamp())
	}
}

func (i *actor) checkSynced() {
	if !i.Synced && i.inf.HasSynced() {
		i.NoteSynced()
		for _, h := range i.Attached {
			h.checkSynced()
		}
	}
}

// distribute passes a notification to the processor after the store has changed (I62).
func (i *actor) distribute(n informer.Notification) {
	i.inf.Processor.Distribute(n)
	for _, h := range i.Attached {
		h.Offer()
	}
}

// AddHandler implements subjects.Informer.
func (i *actor) AddHandler(spec subjects.HandlerSpec) error { return i.addHandler(spec, nil) }

// addHandler adds a handler, which fills the queue of pool unless that is nil.
func (i *actor) addHandler(spec subjects.HandlerSpec, pool *workers.Pool) error {
	h := &handler{Handler: i.NewHandler(spec, pool), informer: i}
	resync := spec.Resync
	o := informer.ListenerOptions{Name: spec.Name, ResyncPeriod: &resync}
	if change := i.stack.parts.ListenerOptions; change != nil {
		change(&o)
	}
	l, err := i.inf.AddHandler(nullHandler, o, i.now())
	if err != nil {
		return err
	}
	h.listener = l
	i.Attach(h, i.inf.Processor.Started(), true)
	h.Offer()
	if i.Synced {
		h.checkSynced()
	}
	return nil
}

// Stop implements subjects.Informer.
func (i *actor) Stop() {
	if i.Stopped {
		return
	}
	i.Stopped = true
	i.inf.Stop()
	i.settleWants()
	i.wake.Set(i.Kernel, i.ID, informers.KindWake, false)
	for _, h := range i.Attached {
		h.drop()
	}
	i.Kernel.Emit(i.Kernel.Record(i.ID, subjects.KindStopped))
}

// Due implements subjects.Informer.
func (i *actor) Due() bool { return i.wake.Offered() }

// HasSynced implements subjects.Informer.
func (i *actor) HasSynced() bool { return i.inf.HasSynced() }

// LastSyncResourceVersion implements subjects.Informer.
func (i *actor) LastSyncResourceVersion() string { return i.inf.Reflector.LastSyncResourceVersion() }

// StoreResourceVersion implements subjects.Informer.
func (i *actor) StoreResourceVersion() string {
	if i.Spec.Queue != subjects.QueueAtomic {
		return ""
	}
	return i.inf.Indexer.LastStoreSyncResourceVersion()
}

// Keys implements subjects.Informer.
func (i *actor) Keys() []string { return i.inf.Indexer.ListKeys() }

// Get implements subjects.Informer.
func (i *actor) Get(key string) (runtime.Object, bool) { return informers.Lookup(i.inf.Indexer, key) }

// AddIndex implements subjects.Informer.
func (i *actor) AddIndex(spec subjects.IndexSpec) error {
	var f cache.IndexFunc = spec.Values
	if change := i.stack.parts.IndexFunc; change != nil {
		f = change(f)
	}
	if err := i.inf.AddIndexers(cache.Indexers{spec.Name: f}); err != nil {
		return err
	}
	i.Added = append(i.Added, spec)
	return nil
}

// IndexValues implements subjects.Informer.
func (i *actor) IndexValues(index string) []string {
	return i.inf.Indexer.ListIndexFuncValues(index)
}

// IndexKeys implements subjects.Informer.
func (i *actor) IndexKeys(index, value string) []string {
	return informers.SortedKeys(i.inf.Indexer, index, value)
}

// Outcomes implements subjects.Informer.
func (i *actor) Outcomes() []subjects.Outcome {
	taken := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	if !i.Stopped {
		return []subjects.Outcome{subjects.OutcomeOf("AddIndexers with the name of an index that there is", subjects.Refused, i.inf.AddIndexers(taken))}
	}
	_, err := i.inf.AddHandler(nullHandler, informer.ListenerOptions{}, i.now())
	return []subjects.Outcome{
		subjects.OutcomeOf("AddHandler of an informer that has stopped", subjects.Refused, err),
		subjects.OutcomeOf("AddIndexers of an informer that has stopped", subjects.Refused, i.inf.AddIndexers(cache.Indexers{"late": cache.MetaNamespaceIndexFunc})),
	}
}

// Library implements subjects.Informer: of the parts of informers and work queues, by themselves. Rounds take as long as some hundred steps, so a sparing run makes
// them for every other seed, and a short one for one in 32.
func (i *actor) Library(turn uint64, sparing bool) []subjects.Outcome {
	if seed := i.Kernel.Seed(); sparing && (seed%2 != 0 || i.Kernel.Steps() < 256 && seed%32 != 0) {
		return nil
	}
	return library.Check(turn)
}

// Passed implements subjects.Informer: the stack has no filter of its own.
func (i *actor) Passed(string) (subjects.Passed, bool) { return subjects.Passed{}, false }

// Read implements subjects.Informer. A copy without indexes would be client-go's store, so the stack's own is read in its place.
func (i *actor) Read(r subjects.Reading) ([]any, error) {
	if r.Way == subjects.ListWithoutIndex {
		r.Way = subjects.ListAllByNamespace
	}
	return subjects.ReadIndexer(i.inf.Indexer, r)
}

// Len implements subjects.Informer.
func (i *actor) Len() int { return i.inf.Indexer.Len() }
