package dropin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer"
)

// New returns a Controller: a reflector that fills the config's queue, and a loop that processes it.
func New(c *Config) Controller { return newController(*c) }

func newController(c Config) *controller { return &controller{config: c, clock: clock.RealClock{}} }

// controller is a Controller. One created by an informer has an internal queue and a function to process its entries,
// without the detour through Config's functions.
type controller struct {
	config  Config
	clock   clock.WithTicker
	queue   informerQueue                // nil: config's Queue and Process
	process func(*informer.Popped) error // with queue
	resync  func(now time.Time) bool     // with queue; nil: config's ShouldResync

	mu   sync.Mutex
	loop *reflectorLoop // nil before Run
}

// Run is RunWithContext until stopCh is closed.
func (c *controller) Run(stopCh <-chan struct{}) { c.RunWithContext(wait.ContextForChannel(stopCh)) }

// RunWithContext lists, watches and processes until the context ends; then it closes the queue, and returns when both its
// goroutines have ended.
func (c *controller) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	stop := context.AfterFunc(ctx, c.config.Queue.Close)
	defer stop()

	loop := newReflectorLoop(ctx, c.loopOptions())
	c.mu.Lock()
	c.loop = loop
	c.mu.Unlock()

	var wg sync.WaitGroup
	wg.Go(func() { loop.run(ctx) })
	// A panic that the program survives (utilruntime.ReallyCrash) costs the item being processed and a second.
	wait.UntilWithContext(ctx, c.processQueue, time.Second)
	wg.Wait() // not deferred: a panic must propagate while the reflector is still running
}

func (c *controller) loopOptions() loopOptions {
	o := loopOptions{
		name:              callerName(),
		listerWatcher:     c.config.ListerWatcher,
		expectedType:      c.config.ObjectType,
		typeDescription:   c.config.ObjectDescription,
		store:             c.config.Queue,
		resyncPeriod:      c.config.FullResyncPeriod,
		minWatchTimeout:   c.config.MinWatchTimeout,
		watchListPageSize: c.config.WatchListPageSize,
		streamLists:       streamsLists(c.config.ListerWatcher),
		shouldResync:      c.resync,
		clock:             c.clock,
		watchErrorHandler: c.config.WatchErrorHandlerWithContext,
	}
	if should := c.config.ShouldResync; o.shouldResync == nil && should != nil {
		o.shouldResync = func(time.Time) bool { return should() }
	}
	if handler := c.config.WatchErrorHandler; handler != nil {
		o.watchErrorHandler = func(_ context.Context, r *Reflector, err error) { handler(r, err) }
	}
	return o
}

// processQueue returns when the queue is closed and empty, or the context has ended. Errors of processing are dropped with
// the item (I68).
func (c *controller) processQueue(ctx context.Context) {
	pop := c.popFunc()
	for ctx.Err() == nil {
		if err := pop(); errors.Is(err, ErrFIFOClosed) {
			return
		}
	}
}

func (c *controller) popFunc() func() error {
	if c.queue != nil {
		return func() error { return c.queue.popInto(c.process) }
	}
	process := PopProcessFunc(c.config.Process)
	batching, ok := c.config.Queue.(QueueWithBatch)
	if ok && c.config.ProcessBatch != nil && enabled(clientfeatures.InOrderInformersBatchProcess) {
		return func() error { return batching.PopBatch(c.config.ProcessBatch, process) }
	}
	return func() error {
		_, err := c.config.Queue.Pop(process)
		return err
	}
}

// HasSynced reports whether the queue has synced.
func (c *controller) HasSynced() bool { return c.config.Queue.HasSynced() }

// HasSyncedChecker returns a DoneChecker for HasSynced.
func (c *controller) HasSyncedChecker() DoneChecker { return c.config.Queue.HasSyncedChecker() }

// LastSyncResourceVersion returns that of the reflector, or "" before Run.
func (c *controller) LastSyncResourceVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop == nil {
		return ""
	}
	return c.loop.lastSyncResourceVersion()
}

func enabled(gate clientfeatures.Feature) bool { return clientfeatures.FeatureGates().Enabled(gate) }

// newInformerQueue returns the queue selected by the feature gates (InOrderInformers, AtomicFIFO,
// UnlockWhileProcessingFIFO, InOrderInformersBatchProcess).
func newInformerQueue(logger klog.Logger, objectType any, known KeyListerGetter, transform TransformFunc,
	identifier InformerNameAndResource, metrics InformerMetricsProvider) informerQueue {
	if !enabled(clientfeatures.InOrderInformers) {
		return NewDeltaFIFOWithOptions(DeltaFIFOOptions{
			Logger:                &logger,
			Name:                  fmt.Sprintf("DeltaFIFO %T", objectType),
			KnownObjects:          known,
			EmitDeltaTypeReplaced: true,
			Transformer:           transform,
		})
	}
	options := RealFIFOOptions{
		Logger:          &logger,
		Name:            fmt.Sprintf("RealFIFO %T", objectType),
		KeyFunction:     MetaNamespaceKeyFunc,
		Transformer:     transform,
		Identifier:      identifier,
		MetricsProvider: metrics,
	}
	if enabled(clientfeatures.AtomicFIFO) {
		options.AtomicEvents = true
		options.EmitDeltaTypeBookmark = true
		options.UnlockWhileProcessing = enabled(clientfeatures.UnlockWhileProcessingFIFO)
	} else {
		options.KnownObjects = known
	}
	limit := 1
	if enabled(clientfeatures.InOrderInformersBatchProcess) {
		limit = maxBatch
	}
	return batchingFIFO{RealFIFO: NewRealFIFOWithOptions(options), limit: limit}
}

// NewInformerWithOptions returns a store and the controller that keeps it up to date while it runs and notifies the handler
// of every change after making it. Only the controller may write to the store. With Indexers the store is an Indexer.
func NewInformerWithOptions(options InformerOptions) (Store, Controller) {
	s := newStore(DeletionHandlingMetaNamespaceKeyFunc, indexersOrNone(options.Indexers),
		WithStoreMetrics(options.Identifier, options.InformerMetricsProvider))
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
	}
	queue := newInformerQueue(logger, options.ObjectType, s, options.Transform, options.Identifier, options.InformerMetricsProvider)
	handler := options.Handler
	c := newController(Config{
		Queue:            queue,
		ListerWatcher:    options.ListerWatcher,
		ObjectType:       options.ObjectType,
		FullResyncPeriod: options.ResyncPeriod,
		MinWatchTimeout:  options.MinWatchTimeout,
	})
	c.queue = queue
	c.process = newDeltaProcessor(s, func(n informer.Notification) { n.Call(handler) }).process
	return s, c
}

func indexersOrNone(indexers Indexers) Indexers {
	if indexers == nil {
		return Indexers{}
	}
	return indexers
}

// NewInformer returns a store and a controller that keeps it up to date and notifies h of every change.
//
// Deprecated: use NewInformerWithOptions.
func NewInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler) (Store, Controller) {
	return NewInformerWithOptions(InformerOptions{ListerWatcher: lw, ObjectType: objType, Handler: h, ResyncPeriod: resyncPeriod})
}

// NewIndexerInformer is NewInformer with indices.
//
// Deprecated: use NewInformerWithOptions.
func NewIndexerInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler, indexers Indexers) (Indexer, Controller) {
	return NewTransformingIndexerInformer(lw, objType, resyncPeriod, h, indexers, nil)
}

// NewTransformingInformer is NewInformer with a function applied to each object.
//
// Deprecated: use NewInformerWithOptions.
func NewTransformingInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler, transformer TransformFunc) (Store, Controller) {
	return NewInformerWithOptions(InformerOptions{
		ListerWatcher: lw, ObjectType: objType, Handler: h, ResyncPeriod: resyncPeriod, Transform: transformer,
	})
}

// NewTransformingIndexerInformer is NewInformer with indices and a function applied to each object.
//
// Deprecated: use NewInformerWithOptions.
func NewTransformingIndexerInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler, indexers Indexers, transformer TransformFunc) (Indexer, Controller) {
	s, c := NewInformerWithOptions(InformerOptions{
		ListerWatcher: lw, ObjectType: objType, Handler: h, ResyncPeriod: resyncPeriod,
		Indexers: indexersOrNone(indexers), Transform: transformer,
	})
	return s.(Indexer), c
}
