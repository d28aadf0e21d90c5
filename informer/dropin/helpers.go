package dropin

import "k8s.io/client-go/tools/cache"

// The pure helpers are client-go's functions themselves, so that comparing one with client-go's (as code that looks for the
// namespace index does) finds them equal.
var (
	// MetaNamespaceKeyFunc returns the key namespace/name, or name.
	MetaNamespaceKeyFunc = cache.MetaNamespaceKeyFunc
	// DeletionHandlingMetaNamespaceKeyFunc also accepts a DeletedFinalStateUnknown.
	DeletionHandlingMetaNamespaceKeyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	// SplitMetaNamespaceKey splits such a key.
	SplitMetaNamespaceKey = cache.SplitMetaNamespaceKey
	// ObjectToName returns an object's name.
	ObjectToName = cache.ObjectToName
	// DeletionHandlingObjectToName also accepts a DeletedFinalStateUnknown.
	DeletionHandlingObjectToName = cache.DeletionHandlingObjectToName
	// MetaObjectToName returns an object's name.
	MetaObjectToName = cache.MetaObjectToName
	// NewObjectName builds a name from its parts.
	NewObjectName = cache.NewObjectName
	// ParseObjectName parses a key.
	ParseObjectName = cache.ParseObjectName
	// NamespacedNameAsObjectName converts a types.NamespacedName.
	NamespacedNameAsObjectName = cache.NamespacedNameAsObjectName

	// MetaNamespaceIndexFunc indexes by namespace.
	MetaNamespaceIndexFunc = cache.MetaNamespaceIndexFunc
	// IndexFuncToKeyFuncAdapter turns an IndexFunc that returns one value into a KeyFunc.
	IndexFuncToKeyFuncAdapter = cache.IndexFuncToKeyFuncAdapter

	// ListAll lists the objects that match a selector.
	ListAll = cache.ListAll
	// ListAllByNamespace lists the objects of a namespace that match a selector.
	ListAllByNamespace = cache.ListAllByNamespace
	// NewGenericLister returns a lister over an Indexer.
	NewGenericLister = cache.NewGenericLister

	// NewListWatchFromClient returns a ListWatch that uses a REST client.
	NewListWatchFromClient = cache.NewListWatchFromClient
	// NewFilteredListWatchFromClient also takes a function that changes the options.
	NewFilteredListWatchFromClient = cache.NewFilteredListWatchFromClient
	// ToListWatcherWithWatchListSemantics makes a ListWatch report whether its client can stream lists.
	ToListWatcherWithWatchListSemantics = cache.ToListWatcherWithWatchListSemantics
	// ToListerWithContext adapts a Lister.
	ToListerWithContext = cache.ToListerWithContext
	// ToWatcherWithContext adapts a Watcher.
	ToWatcherWithContext = cache.ToWatcherWithContext
	// ToListerWatcherWithContext adapts a ListerWatcher.
	ToListerWatcherWithContext = cache.ToListerWatcherWithContext
	// DefaultWatchErrorHandler logs why a watch failed.
	DefaultWatchErrorHandler = cache.DefaultWatchErrorHandler

	// NewInformerName reserves a name for metrics.
	NewInformerName = cache.NewInformerName
	// ResetInformerNamesForTesting frees all names.
	ResetInformerNamesForTesting = cache.ResetInformerNamesForTesting
	// SetReflectorMetricsProvider exists because client-go keeps it: reflectors have no metrics.
	SetReflectorMetricsProvider = cache.SetReflectorMetricsProvider

	// ShutDownEventHandler removes a handler and waits until its last call has returned (I82).
	ShutDownEventHandler = cache.ShutDownEventHandler
	// IsDone reports whether a DoneChecker is done.
	IsDone = cache.IsDone
)

// TypedIndexersToIndexers converts typed index functions.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	return cache.TypedIndexersToIndexers(indexers)
}

// TypedIndexerFuncToIndexerFunc converts a typed index function.
func TypedIndexerFuncToIndexerFunc[T any](indexer TypedIndexFunc[T]) IndexFunc {
	return cache.TypedIndexerFuncToIndexerFunc(indexer)
}

// NewTypedSharedIndexInformer returns a typed view of an informer.
func NewTypedSharedIndexInformer[T Object](informer SharedIndexInformer) TypedSharedIndexInformer[T] {
	return cache.NewTypedSharedIndexInformer[T](informer)
}
