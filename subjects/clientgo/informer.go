package clientgo

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/subjects/informers"
	"github.com/informersim/informersim/subjects/workers"
)

// actor is one SharedIndexInformer as an actor. Its handlers are separate actors.
type actor struct {
	informers.Informer[*handler]
	s         *Subject
	n         int // its number on the other side
	link      *transport
	started   bool
	hasSynced bool
	queue     queueView
	backlog   backlog
	handlers  []*handler // by their numbers on the other side
	removed   []*handler
	indexer   *indexerView

	nextResync time.Duration // when the reflector next checks for a resync, on the kernel's clock; 0 for never
	wake       sim.Toggle
	stopping   bool // the record of the stop has yet to be emitted
}

var _ subjects.Informer = (*actor)(nil)

// newInformer creates and starts an informer: anew, or as the next life of the one before.
func newInformer(s *Subject, spec subjects.InformerSpec, before *actor) (*actor, error) {
	i := &actor{s: s, n: len(s.informers)}
	var life *informers.Informer[*handler]
	if before != nil {
		life = &before.Informer
	}
	if err := i.Init(s.deps.Kernel, spec, i, life); err != nil {
		return nil, err
	}
	i.link = newTransport(i, s.deps.Cluster.Connect(spec.Name, spec.Policy))
	i.indexer = newIndexerView(i)
	s.informers = append(s.informers, i)
	if err := s.side.NewInformer(gates.InformerSpec{
		Queue: string(i.Spec.Queue), WatchList: i.Spec.WatchList, PageSize: i.Spec.PageSize, Resync: i.Spec.Resync,
		DropLabel: i.Spec.Transform.DropLabel, FailLabel: i.Spec.Transform.FailLabel, Example: i.example(),
	}); err != nil {
		return nil, err
	}
	if err := i.Furnish(i.Get, i.AddIndex, i.addHandler); err != nil {
		return nil, err
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
	i.s.begin(subjects.ByScript)
	i.s.touch()
	i.backlog = backlog{queue: &i.queue}
	info, err := i.s.side.Start(i.n)
	if err != nil {
		return fmt.Errorf("%w: the subject client-go cannot have it wait there", err)
	}
	i.queue.QueueInfo, i.started = info, true
	i.queue.keys = func(from, to int) []string { return i.s.side.QueueKeys(i.n, from, to) }
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
	side := i.s.side
	unordered := i.backlog.unorderedAhead()
	order := i.backlog.order
	if !unordered {
		order = func([]notification) {}
	}
	// With a DeltaFIFO, all notifications for the last objects of the first list must be observed here: see checkSynced.
	drained := unordered || i.queue.Delta && !i.Synced
	if drained {
		for _, h := range i.Attached {
			h.drain()
		}
		i.s.quiesce()
		for _, h := range i.Attached {
			h.mark()
		}
	}
	if i.indexer.rescan = i.backlog.replaceAhead(); i.indexer.rescan {
		side.Rescan(i.n)
	}
	i.backlog.begin()
	for {
		side.Pop(i.n)
		i.s.quiesce()
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
		if l.refused > 0 {
			i.NoteList(l.refused)
			i.backlog.partial()
			return
		}
		r := i.Kernel.Record(i.ID, subjects.KindReplace)
		r.N, r.Obj, r.RV = int64(len(l.keys)), l.keys, subjects.ParseRevision(l.rv)
		i.Kernel.Emit(r)
		i.backlog.replaced(l)
		i.armResync()
		return
	}
	grown := i.backlog.grown()
	if grown > 0 && i.s.passed {
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
	if i.queue.Resync > 0 {
		i.nextResync = i.Kernel.Elapsed() + i.queue.Resync
	}
}

// resyncIn returns the time until the next check. A resync can be observed only in the queue, so time must not pass beyond it.
func (i *actor) resyncIn(now time.Duration) (time.Duration, bool) {
	if i.nextResync == 0 || i.Stopped {
		return 0, false
	}
	for i.nextResync <= now {
		i.nextResync += i.queue.Resync
	}
	return i.nextResync - now, true
}

// offerWake offers the choice wake with the same stamp as other choices of its instant: the kernel's own timers fire after the
// bubble has become quiescent.
func (i *actor) offerWake(want bool) {
	i.wake.SetSince(i.Kernel, i.ID, informers.KindWake, want, i.s.stamp)
}

// Due implements subjects.Informer.
func (i *actor) Due() bool { return i.wake.Offered() }

// Queued implements informers.Engine.
func (i *actor) Queued() int { return i.backlog.length }

func (i *actor) checkSynced() {
	if i.Stopped {
		return
	}
	if !i.Synced && i.hasSynced {
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
	h := &handler{Handler: i.NewHandler(spec, pool), i: i, n: len(i.handlers)}
	late, through := 0, 0
	if i.started {
		// The store is replayed in no particular order: all calls but the last are let through, and then sorted.
		late, h.replayed = i.Len(), true
		through = max(late-1, 0)
	}
	if err := i.s.side.AddHandler(i.n, spec.Resync, through); err != nil {
		return err
	}
	i.handlers = append(i.handlers, h)
	i.Attach(h, i.started, i.Spec.Queue == subjects.QueueAtomic)
	if i.started {
		i.s.quiesce()
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
	i.s.side.Stop(i.n)
	for _, h := range i.Attached {
		h.drop()
	}
	i.s.touch()
}

// HasSynced implements subjects.Informer.
func (i *actor) HasSynced() bool { return i.hasSynced }

// LastSyncResourceVersion implements subjects.Informer.
func (i *actor) LastSyncResourceVersion() string { return i.s.side.LastSync(i.n) }

// StoreResourceVersion implements subjects.Informer.
func (i *actor) StoreResourceVersion() string {
	if !i.queue.Atomic {
		return ""
	}
	return i.s.side.StoreRevision(i.n)
}

// Keys implements subjects.Informer.
func (i *actor) Keys() []string { return i.s.side.Keys(i.n) }

// Get implements subjects.Informer.
func (i *actor) Get(key string) (runtime.Object, bool) {
	obj, ok := i.s.side.Get(i.n, key).(runtime.Object)
	return obj, ok
}

// AddIndex implements subjects.Informer.
func (i *actor) AddIndex(spec subjects.IndexSpec) error {
	if err := i.s.side.AddIndex(i.n, spec); err != nil {
		return err
	}
	i.Added = append(i.Added, spec)
	return nil
}

// IndexValues implements subjects.Informer.
func (i *actor) IndexValues(index string) []string { return i.s.side.IndexValues(i.n, index) }

// IndexKeys implements subjects.Informer.
func (i *actor) IndexKeys(index, value string) []string { return i.s.side.IndexKeys(i.n, index, value) }

// Outcomes implements subjects.Informer.
func (i *actor) Outcomes() []subjects.Outcome { return i.s.side.Outcomes(i.n) }

// Library implements subjects.Informer.
func (i *actor) Library(turn uint64, _ bool) []subjects.Outcome { return i.s.side.Library(turn) }

// Passed implements subjects.Informer.
func (i *actor) Passed(name string) (p subjects.Passed, filtered bool) {
	n := slices.IndexFunc(i.Attached, func(of *handler) bool { return of.Spec.Name == name })
	if n < 0 {
		return p, false
	}
	h := i.Attached[n]
	passed := h.passed
	if passed == nil {
		passed = &gates.Passed{N: 1, Calls: [2]gates.PassedCall{h.told}}
	}
	p.Filter, p.N = subjects.FilterOf(h.n), passed.N
	for k := range min(p.N, len(p.Told)) {
		c := passed.Calls[k]
		p.Told[k] = subjects.Told{Detail: details[c.Call], RV: c.RV, Old: c.Old}
	}
	return p, p.N != gates.NotFiltered
}

// Read implements subjects.Informer.
func (i *actor) Read(r subjects.Reading) ([]any, error) { return i.s.side.Read(i.n, r) }

// Len implements subjects.Informer.
func (i *actor) Len() int { return len(i.Keys()) }
