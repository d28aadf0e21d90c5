package informer

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// InformerOptions configures an Informer. The zero value works.
type InformerOptions struct {
	// Reflector configures the Reflector. Its Queue, ResyncPeriod and ShouldResync are set by NewInformer.
	Reflector ReflectorOptions
	// Indexers are the index functions by name.
	Indexers cache.Indexers
	// NewQueue creates the queue over the informer's store. nil means a DeltaFIFO with Transformer and OnEnqueue.
	NewQueue func(known *Indexer) Queue
	// DisableStoreResourceVersion is IndexerOptions.DisableResourceVersion (I70).
	DisableStoreResourceVersion bool
	// Transformer is applied to every object before it is queued.
	Transformer cache.TransformFunc
	// OnEnqueue observes the queue.
	OnEnqueue EnqueueFunc
	// MutationDetector receives every object before it is distributed (I90). nil means none.
	MutationDetector *MutationDetector
	// ResyncPeriod is the resync check period and the listeners' default; 0 disables resyncs (I78).
	ResyncPeriod time.Duration
}

// Informer is an assembled stack: Reflector, queue, Controller, Indexer, Processor. It adds only what concerns more than
// one of them. The parts are exported so that callers can step them in any legal order:
//
//   - Reflector: carry out Want and report the answer;
//   - Controller: Step, or Pop and ProcessPopped, unless Processor.AwaitsStart;
//   - each Listener: Deliver, or Begin, the call, Finish.
type Informer struct {
	Reflector  *Reflector
	Queue      Queue
	Controller *Controller
	Indexer    *Indexer
	Processor  *Processor

	o InformerOptions
}

// NewInformer returns an informer that is not yet started. Handlers can already be added.
func NewInformer(o InformerOptions) *Informer {
	x := NewIndexer(IndexerOptions{Indexers: o.Indexers, DisableResourceVersion: o.DisableStoreResourceVersion})
	i := &Informer{o: o, Indexer: x}
	if o.NewQueue != nil {
		i.Queue = o.NewQueue(x)
	} else {
		i.Queue = NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: x, Transformer: o.Transformer, OnEnqueue: o.OnEnqueue})
	}
	i.Processor = &Processor{
		ResyncCheckPeriod:   o.ResyncPeriod,
		DefaultResyncPeriod: o.ResyncPeriod,
		UpstreamHasSynced:   i.HasSynced,
	}
	i.Controller = &Controller{
		Queue:      i.Queue,
		Store:      x,
		Distribute: i.Processor.Distribute,
		ObjectKeys: i.Queue.Transformer() != nil,
	}
	if o.MutationDetector != nil {
		i.Controller.Distribute = i.recordAndDistribute
	}
	return i
}

func (i *Informer) recordAndDistribute(n Notification) {
	if n.Type != NotifyDelete {
		i.o.MutationDetector.AddObject(n.New)
	}
	i.Processor.Distribute(n)
}

// Start starts the Processor and the Reflector. The resync period is now fixed: handlers added later cannot shorten it
// (I78). A second Start is a no-op, as is one after Stop (I80).
func (i *Informer) Start(now time.Time) {
	if i.Reflector != nil || i.Processor.Stopped() {
		return
	}
	o := i.o.Reflector
	o.Queue = i.Queue
	o.ResyncPeriod = i.Processor.ResyncCheckPeriod
	o.ShouldResync = i.Processor.ShouldResync
	i.Reflector = NewReflector(o)
	i.Processor.Start()
	i.Reflector.Start(now)
}

// Stop stops the Reflector and closes the queue. Nothing is distributed after that, so it stops the Processor last (I88).
func (i *Informer) Stop() {
	if i.Reflector != nil {
		i.Reflector.Stop()
	}
	i.Queue.Close()
	i.Processor.Stop()
}

// HasSynced reports whether the first list has gone through the queue. It says nothing about handlers (I87).
func (i *Informer) HasSynced() bool { return i.Queue.HasSynced() }

// AddHandler registers a handler. After Start it gets the store's content as adds of the initial list (I79).
func (i *Informer) AddHandler(h cache.ResourceEventHandler, o ListenerOptions, now time.Time) (*Listener, error) {
	var replay []any
	if i.Processor.Started() {
		replay = i.Indexer.List()
	}
	return i.Processor.AddListener(h, o, now, replay)
}

// AddIndexers adds index functions (I73).
func (i *Informer) AddIndexers(added cache.Indexers) error {
	if i.Processor.Stopped() {
		return ErrStopped
	}
	return i.Indexer.AddIndexers(added)
}
