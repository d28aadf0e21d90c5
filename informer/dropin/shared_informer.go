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

// NewSharedInformer returns an informer without indices; it is nonetheless a SharedIndexInformer.
func NewSharedInformer(lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration) SharedInformer {
	return NewSharedIndexInformer(lw, exampleObject, defaultEventHandlerResyncPeriod, Indexers{})
}

// NewSharedIndexInformer returns an informer that keeps a store of the objects of lw up to date while it runs.
func NewSharedIndexInformer(lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration, indexers Indexers) SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, SharedIndexInformerOptions{
		ResyncPeriod: defaultEventHandlerResyncPeriod,
		Indexers:     indexers,
	})
}

// NewSharedIndexInformerWithOptions is NewSharedIndexInformer with options. It drops objects of another type than
// exampleObject; nil accepts all.
func NewSharedIndexInformerWithOptions(lw ListerWatcher, exampleObject runtime.Object, options SharedIndexInformerOptions) SharedIndexInformer {
	s := &sharedIndexInformer{
		options:       options,
		listerWatcher: lw,
		objectType:    exampleObject,
		clock:         clock.RealClock{},
		store: newStore(DeletionHandlingMetaNamespaceKeyFunc, indexersOrNone(options.Indexers),
			WithStoreMetrics(options.Identifier, options.InformerMetricsProvider)),
		processor: newProcessor(options.ResyncPeriod),
		mutations: NewCacheMutationDetector(fmt.Sprintf("%T", exampleObject)),
		synced:    make(chan struct{}),
	}
	s.deltas = newDeltaProcessor(s.store, s.distribute)
	return s
}

// sharedIndexInformer is a controller whose notifications go to any number of handlers (I75 to I90).
type sharedIndexInformer struct {
	options       SharedIndexInformerOptions
	listerWatcher ListerWatcher
	objectType    runtime.Object
	clock         clock.WithTicker
	store         *store
	processor     *processor
	mutations     MutationDetector
	deltas        *deltaProcessor
	synced        chan struct{}

	// blockDeltas blocks processing of the queue while a handler is added or removed (I79).
	blockDeltas sync.Mutex

	mu                sync.Mutex
	started, stopped  bool
	controller        *controller // nil before Run
	watchErrorHandler WatchErrorHandlerWithContext
	transform         TransformFunc
}

var _ SharedIndexInformer = (*sharedIndexInformer)(nil)

// Run is RunWithContext until stopCh is closed.
func (s *sharedIndexInformer) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext runs the informer until the context ends. A second call does nothing (I80). It stops the controller first,
// then the handlers (I88), and leaves no goroutine.
func (s *sharedIndexInformer) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	controller, ok := s.start(ctx)
	if !ok {
		klog.FromContext(ctx).Info("Warning: the shared informer has started, running it more than once is not allowed")
		return
	}
	stopProcessor := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stopProcessor)
	wg.Go(func() { s.mutations.Run(stopProcessor) })
	wg.Go(func() {
		if hook := processorRunHook; hook != nil {
			hook()
		}
		s.processor.run(stopProcessor)
	})
	wg.Go(func() {
		select {
		case <-ctx.Done(): // stopped before it synced
		case <-stopProcessor:
		case <-controller.HasSyncedChecker().Done():
			close(s.synced)
			s.processor.synced()
		}
	})
	defer s.setStopped()
	controller.RunWithContext(ctx)
}

// processorRunHook lets a test delay the start of the handlers.
var processorRunHook func()

func (s *sharedIndexInformer) start(ctx context.Context) (c *controller, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return nil, false
	}
	s.started = true
	queue := newInformerQueue(klog.FromContext(ctx), s.objectType, s.store, s.transform,
		s.options.Identifier, s.options.InformerMetricsProvider)
	c = newController(Config{
		Queue:                        queue,
		ListerWatcher:                s.listerWatcher,
		ObjectType:                   s.objectType,
		ObjectDescription:            s.options.ObjectDescription,
		FullResyncPeriod:             s.processor.start(),
		WatchErrorHandlerWithContext: s.watchErrorHandler,
	})
	c.clock = s.clock
	c.queue = queue
	c.process = s.process
	c.resync = s.processor.shouldResync
	s.controller = c
	return c, true
}

func (s *sharedIndexInformer) setStopped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

func (s *sharedIndexInformer) process(popped *informer.Popped) error {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	return s.deltas.process(popped)
}

// distribute is called with blockDeltas held.
func (s *sharedIndexInformer) distribute(n informer.Notification) {
	if n.Type != informer.NotifyDelete {
		s.mutations.AddObject(n.New)
	}
	s.processor.distribute(n)
}

// AddEventHandler is AddEventHandlerWithOptions with the informer's resync period.
func (s *sharedIndexInformer) AddEventHandler(handler ResourceEventHandler) (ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandlerWithOptions with a resync period.
func (s *sharedIndexInformer) AddEventHandlerWithResyncPeriod(handler ResourceEventHandler, resyncPeriod time.Duration) (ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions adds a handler. If the informer is already running, the handler receives the store's content
// as adds of the initial list (I79). It fails if the informer has stopped (I80).
func (s *sharedIndexInformer) AddEventHandlerWithOptions(handler ResourceEventHandler, options HandlerOptions) (ResourceEventHandlerRegistration, error) {
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
	}
	l := newListener(logger, handler, s.HasSyncedChecker().Name())

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, stoppedError(fmt.Sprintf("handler %v was not added to shared informer because it has stopped already", handler))
	}
	var replay []any
	if s.started {
		s.blockDeltas.Lock()
		defer s.blockDeltas.Unlock()
		replay = s.store.List()
	}
	if err := s.processor.add(l, options.ResyncPeriod, s.clock.Now(), replay); err != nil {
		return nil, fmt.Errorf("handler %v was not added to shared informer: %w", handler, err)
	}
	s.warnResyncPeriod(logger, options.ResyncPeriod, l)
	return l, nil
}

// warnResyncPeriod logs if the handler gets another period than it requested (I78).
func (s *sharedIndexInformer) warnResyncPeriod(logger klog.Logger, asked *time.Duration, l *listener) {
	if got := l.resync.ResyncPeriod(); asked != nil && *asked > 0 && got != *asked {
		logger.Info("Warning: the handler's resync period was adjusted to the informer's limits", "requested", *asked, "resyncPeriod", got)
	}
}

// RemoveEventHandler removes a handler. A call in flight continues; ShutDownEventHandler waits for it (I81).
func (s *sharedIndexInformer) RemoveEventHandler(handle ResourceEventHandlerRegistration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	return s.processor.remove(handle)
}

// GetStore returns the store, for reading only.
func (s *sharedIndexInformer) GetStore() Store { return s.store }

// GetIndexer returns the store, for reading only.
func (s *sharedIndexInformer) GetIndexer() Indexer { return s.store }

// AddIndexers adds index functions, even while the informer runs (I73).
func (s *sharedIndexInformer) AddIndexers(indexers Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return stoppedError("indexer was not added because it has stopped already")
	}
	return s.store.AddIndexers(indexers)
}

// HasSynced reports whether the store has held everything from the first list. It says nothing about handlers (I87).
func (s *sharedIndexInformer) HasSynced() bool { return IsDone(s.HasSyncedChecker()) }

// HasSyncedChecker returns a DoneChecker for HasSynced.
func (s *sharedIndexInformer) HasSyncedChecker() DoneChecker {
	return informerSynced{name: fmt.Sprintf("SharedIndexInformer %T", s.objectType), done: s.synced}
}

type informerSynced struct {
	name string
	done <-chan struct{}
}

func (i informerSynced) Name() string          { return i.name }
func (i informerSynced) Done() <-chan struct{} { return i.done }

// LastSyncResourceVersion returns that of the reflector, or "" before Run.
func (s *sharedIndexInformer) LastSyncResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.controller == nil {
		return ""
	}
	return s.controller.LastSyncResourceVersion()
}

// SetWatchErrorHandler sets the handler for failed lists and watches. It fails once the informer has started (I89).
func (s *sharedIndexInformer) SetWatchErrorHandler(handler WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext is SetWatchErrorHandler for a handler that takes a context.
func (s *sharedIndexInformer) SetWatchErrorHandlerWithContext(handler WatchErrorHandlerWithContext) error {
	return s.beforeStart(func() { s.watchErrorHandler = handler })
}

// SetTransform sets a function that is applied to every object before it is stored. It fails once the informer has started
// (I89).
func (s *sharedIndexInformer) SetTransform(handler TransformFunc) error {
	return s.beforeStart(func() { s.transform = handler })
}

func (s *sharedIndexInformer) beforeStart(set func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errStarted
	}
	set()
	return nil
}

// IsStopped reports whether the informer has run and stopped, after which it cannot run again.
func (s *sharedIndexInformer) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// GetController returns a Controller whose Run does nothing: the informer runs its own.
func (s *sharedIndexInformer) GetController() Controller { return idleController{s} }

type idleController struct{ informer *sharedIndexInformer }

func (c idleController) Run(<-chan struct{})            {}
func (c idleController) RunWithContext(context.Context) {}
func (c idleController) HasSynced() bool                { return c.informer.HasSynced() }
func (c idleController) HasSyncedChecker() DoneChecker  { return c.informer.HasSyncedChecker() }

// LastSyncResourceVersion returns that of the informer, if the gate InformerResourceVersion is on.
func (c idleController) LastSyncResourceVersion() string {
	if !enabled(clientfeatures.InformerResourceVersion) {
		return ""
	}
	return c.informer.LastSyncResourceVersion()
}

// stoppedError has client-go's text and wraps informer.ErrStopped.
type stoppedError string

func (e stoppedError) Error() string { return string(e) }
func (stoppedError) Unwrap() error   { return informer.ErrStopped }

var errStarted = errors.New("informer has already started")
