package dropin

import "k8s.io/client-go/tools/cache"

// Objects, keys and handlers, as client-go defines them.
type (
	// KeyFunc returns the key of an object.
	KeyFunc = cache.KeyFunc
	// KeyError names the object for which a KeyFunc failed, and the cause.
	KeyError = cache.KeyError
	// ExplicitKey is a key in place of an object.
	ExplicitKey = cache.ExplicitKey
	// ObjectName is a key in two parts.
	ObjectName = cache.ObjectName
	// DeletedFinalStateUnknown stands for an object whose deletion was missed.
	DeletedFinalStateUnknown = cache.DeletedFinalStateUnknown
	// TransformFunc changes an object before it is queued.
	TransformFunc = cache.TransformFunc
	// ResourceEventHandler receives notifications of changes to objects.
	ResourceEventHandler = cache.ResourceEventHandler
	// ResourceEventHandlerFuncs is a handler made of functions.
	ResourceEventHandlerFuncs = cache.ResourceEventHandlerFuncs
	// ResourceEventHandlerDetailedFuncs also tells its add function whether the object is in the initial list.
	ResourceEventHandlerDetailedFuncs = cache.ResourceEventHandlerDetailedFuncs
	// FilteringResourceEventHandler passes on what a filter lets through.
	FilteringResourceEventHandler = cache.FilteringResourceEventHandler
	// Object is what typed handlers and indexers handle.
	Object = cache.Object
	// DeletedObject is the argument of a typed handler for a deletion.
	DeletedObject[T Object] = cache.DeletedObject[T]
	// TypedResourceEventHandler is a handler for objects of one type.
	TypedResourceEventHandler[T Object] = cache.TypedResourceEventHandler[T]
	// TypedResourceEventHandlerFuncs is a typed handler made of functions.
	TypedResourceEventHandlerFuncs[T Object] = cache.TypedResourceEventHandlerFuncs[T]
	// TypedResourceEventHandlerDetailedFuncs also tells its add function whether the object is in the initial list.
	TypedResourceEventHandlerDetailedFuncs[T Object] = cache.TypedResourceEventHandlerDetailedFuncs[T]
	// TypedFilteringResourceEventHandler passes on what a filter lets through.
	TypedFilteringResourceEventHandler[T Object] = cache.TypedFilteringResourceEventHandler[T]
)

// Stores.
type (
	// Store holds objects by key.
	Store = cache.Store
	// Indexer is a Store with indices.
	Indexer = cache.Indexer
	// IndexFunc returns the index values of an object.
	IndexFunc = cache.IndexFunc
	// Indexers are index functions by name.
	Indexers = cache.Indexers
	// Indices are indices by name.
	Indices = cache.Indices
	// TypedIndexFunc is an IndexFunc for objects of one type.
	TypedIndexFunc[T any] = cache.TypedIndexFunc[T]
	// TypedIndexers are typed index functions by name.
	TypedIndexers[T any] = cache.TypedIndexers[T]
	// TypedIndexer is an Indexer for objects of one type.
	TypedIndexer[T any] = cache.TypedIndexer[T]
	// ThreadSafeStore holds objects under keys it is given.
	ThreadSafeStore = cache.ThreadSafeStore
	// ThreadSafeStoreWithTransaction is a ThreadSafeStore that makes many writes under one lock.
	ThreadSafeStoreWithTransaction = cache.ThreadSafeStoreWithTransaction
	// ThreadSafeStoreTransaction is one write of many.
	ThreadSafeStoreTransaction = cache.ThreadSafeStoreTransaction
	// Transaction is one write of many.
	Transaction = cache.Transaction
	// TransactionType is the kind of a write.
	TransactionType = cache.TransactionType
	// TransactionError names the writes that failed.
	TransactionError = cache.TransactionError
	// TransactionStore is a Store that makes many writes under one lock.
	TransactionStore = cache.TransactionStore
	// KeyLister lists keys.
	KeyLister = cache.KeyLister
	// KeyGetter looks an object up.
	KeyGetter = cache.KeyGetter
	// KeyListerGetter does both.
	KeyListerGetter = cache.KeyListerGetter
	// ExpirationPolicy decides which entries of an ExpirationCache have expired.
	ExpirationPolicy = cache.ExpirationPolicy
	// TTLPolicy lets entries expire by age.
	TTLPolicy = cache.TTLPolicy
	// TimestampedEntry is an object with the time it was stored.
	TimestampedEntry = cache.TimestampedEntry
	// FakeExpirationPolicy expires all keys except the given ones.
	FakeExpirationPolicy = cache.FakeExpirationPolicy
	// FakeCustomStore is a Store made of functions.
	FakeCustomStore = cache.FakeCustomStore
	// MutationCache shows a caller its own writes before the store does.
	MutationCache = cache.MutationCache
	// MutationCacheOptions configures a MutationCache.
	MutationCacheOptions = cache.MutationCacheOptions
	// MutationDetector finds stored objects that were changed in place.
	MutationDetector = cache.MutationDetector
	// ResourceVersionComparator orders objects by resourceVersion.
	ResourceVersionComparator = cache.ResourceVersionComparator
	// AppendFunc receives the objects that a lister finds.
	AppendFunc = cache.AppendFunc
	// GenericLister lists objects of any type.
	GenericLister = cache.GenericLister
	// GenericNamespaceLister lists objects of one namespace.
	GenericNamespaceLister = cache.GenericNamespaceLister
)

// Queues.
type (
	// Delta is one change of an object.
	Delta = cache.Delta
	// Deltas are the changes of an object, oldest first.
	Deltas = cache.Deltas
	// DeltaType is the kind of a change.
	DeltaType = cache.DeltaType
	// ReplacedAllInfo is the object of a ReplacedAll delta.
	ReplacedAllInfo = cache.ReplacedAllInfo
	// SyncAllInfo is the object of a SyncAll delta.
	SyncAllInfo = cache.SyncAllInfo
	// BookmarkInfo is the object of a Bookmark delta.
	BookmarkInfo = cache.BookmarkInfo
	// Queue is written to by a reflector and read by a controller.
	Queue = cache.Queue
	// QueueWithBatch is a Queue that hands out many deltas at once.
	QueueWithBatch = cache.QueueWithBatch
	// DeltaFIFOOptions configures a DeltaFIFO.
	DeltaFIFOOptions = cache.DeltaFIFOOptions
	// RealFIFOOptions configures a RealFIFO.
	RealFIFOOptions = cache.RealFIFOOptions
	// PopProcessFunc processes what a queue hands out.
	PopProcessFunc = cache.PopProcessFunc
	// ProcessFunc processes what a controller's queue hands out.
	ProcessFunc = cache.ProcessFunc
	// ProcessBatchFunc processes a batch of deltas.
	ProcessBatchFunc = cache.ProcessBatchFunc
	// LessFunc orders the objects of a Heap.
	LessFunc = cache.LessFunc
	// DoneChecker signals when something is done.
	DoneChecker = cache.DoneChecker
)

// Listing and watching.
type (
	// Lister lists.
	Lister = cache.Lister
	// ListerWithContext lists with a context.
	ListerWithContext = cache.ListerWithContext
	// Watcher watches.
	Watcher = cache.Watcher
	// WatcherWithContext watches with a context.
	WatcherWithContext = cache.WatcherWithContext
	// ListerWatcher lists and watches.
	ListerWatcher = cache.ListerWatcher
	// ListerWatcherWithContext lists and watches with a context.
	ListerWatcherWithContext = cache.ListerWatcherWithContext
	// ListFunc lists.
	ListFunc = cache.ListFunc
	// ListWithContextFunc lists with a context.
	ListWithContextFunc = cache.ListWithContextFunc
	// WatchFunc watches.
	WatchFunc = cache.WatchFunc
	// WatchFuncWithContext watches with a context.
	WatchFuncWithContext = cache.WatchFuncWithContext
	// ListWatch is a ListerWatcher made of functions.
	ListWatch = cache.ListWatch
	// Getter is the part of a REST client that NewListWatchFromClient needs.
	Getter = cache.Getter
	// Reflector keeps a store up to date. See the package's documentation for why it is an alias.
	Reflector = cache.Reflector
	// ReflectorOptions configures a Reflector.
	ReflectorOptions = cache.ReflectorOptions
	// ReflectorStore is the destination of a Reflector.
	ReflectorStore = cache.ReflectorStore
	// ReflectorBookmarkStore is a ReflectorStore that takes bookmarks.
	ReflectorBookmarkStore = cache.ReflectorBookmarkStore
	// TransformingStore is a ReflectorStore with a TransformFunc.
	TransformingStore = cache.TransformingStore
	// ResourceVersionUpdater is a store that is notified of each resourceVersion a watch reaches.
	ResourceVersionUpdater = cache.ResourceVersionUpdater
	// WatchErrorHandler is called when a list or watch fails.
	WatchErrorHandler = cache.WatchErrorHandler
	// WatchErrorHandlerWithContext is a WatchErrorHandler that takes a context.
	WatchErrorHandlerWithContext = cache.WatchErrorHandlerWithContext
	// VeryShortWatchError is a watch that closed within a second without an event.
	VeryShortWatchError = cache.VeryShortWatchError
	// RetryWithDeadline allows retries for a limited time.
	RetryWithDeadline = cache.RetryWithDeadline
)

// Informers.
type (
	// Config configures a Controller.
	Config = cache.Config
	// Controller runs a Reflector and processes its queue.
	Controller = cache.Controller
	// ShouldResyncFunc reports whether to resync.
	ShouldResyncFunc = cache.ShouldResyncFunc
	// InformerOptions configures NewInformerWithOptions.
	InformerOptions = cache.InformerOptions
	// InformerSynced reports whether an informer has synced.
	InformerSynced = cache.InformerSynced
	// SharedInformer is a store kept up to date, with any number of handlers.
	SharedInformer = cache.SharedInformer
	// SharedIndexInformer is a SharedInformer with indices.
	SharedIndexInformer = cache.SharedIndexInformer
	// SharedIndexInformerOptions configures a SharedIndexInformer.
	SharedIndexInformerOptions = cache.SharedIndexInformerOptions
	// TypedSharedIndexInformer is a SharedIndexInformer for objects of one type.
	TypedSharedIndexInformer[T Object] = cache.TypedSharedIndexInformer[T]
	// HandlerOptions configures a handler.
	HandlerOptions = cache.HandlerOptions
	// ResourceEventHandlerRegistration is a registered handler.
	ResourceEventHandlerRegistration = cache.ResourceEventHandlerRegistration
	// SyncResult is the outcome of waiting for a factory's informers.
	SyncResult = cache.SyncResult
	// InformerName identifies an informer to metrics.
	InformerName = cache.InformerName
	// InformerNameAndResource identifies an informer of one resource to metrics.
	InformerNameAndResource = cache.InformerNameAndResource
)

// Metrics.
type (
	// MetricsProvider creates the metrics of reflectors.
	MetricsProvider = cache.MetricsProvider
	// InformerMetricsProvider creates the metrics of informers.
	InformerMetricsProvider = cache.InformerMetricsProvider
	// GaugeMetric is a number that can be set.
	GaugeMetric = cache.GaugeMetric
	// CounterMetric is a number that only increases.
	CounterMetric = cache.CounterMetric
	// SummaryMetric records individual observations.
	SummaryMetric = cache.SummaryMetric
	// HistogramMetric records individual observations.
	HistogramMetric = cache.HistogramMetric
)

// The delta types.
const (
	Added       = cache.Added
	Updated     = cache.Updated
	Deleted     = cache.Deleted
	Replaced    = cache.Replaced
	ReplacedAll = cache.ReplacedAll
	Sync        = cache.Sync
	SyncAll     = cache.SyncAll
	Bookmark    = cache.Bookmark
)

// The transaction types.
const (
	TransactionTypeAdd    = cache.TransactionTypeAdd
	TransactionTypeUpdate = cache.TransactionTypeUpdate
	TransactionTypeDelete = cache.TransactionTypeDelete
)

// NamespaceIndex is the conventional name of the index by namespace.
const NamespaceIndex = cache.NamespaceIndex

var (
	// ErrFIFOClosed is returned by Pop when the queue is closed and empty (I42).
	ErrFIFOClosed = cache.ErrFIFOClosed
	// ErrZeroLengthDeltasObject is the cause of the KeyError for empty Deltas.
	ErrZeroLengthDeltasObject = cache.ErrZeroLengthDeltasObject
)
