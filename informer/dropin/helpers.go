package dropin

import "k8s.io/client-go/tools/cache"

// The pure helpers are client-go's functions themselves, so that comparing one with client-go's (as those who look for the
// namespace index do) finds them equal.
var (
	// MetaNamespaceKeyFunc makes the key namespace/name, or name.
	MetaNamespaceKeyFunc = cache.MetaNamespaceKeyFunc
	// DeletionHandlingMetaNamespaceKeyFunc does so for a DeletedFinalStateUnknown too.
	DeletionHandlingMetaNamespaceKeyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	// SplitMetaNamespaceKey takes such a key apart.
	SplitMetaNamespaceKey = cache.SplitMetaNamespaceKey
	// ObjectToName returns an object's name.
	ObjectToName = cache.ObjectToName
	// DeletionHandlingObjectToName does so for a DeletedFinalStateUnknown too.
	DeletionHandlingObjectToName = cache.DeletionHandlingObjectToName
	// MetaObjectToName returns an object's name.
	MetaObjectToName = cache.MetaObjectToName
	// NewObjectName makes a name of its parts.
	NewObjectName = cache.NewObjectName
	// ParseObjectName takes a key apart.
	ParseObjectName = cache.ParseObjectName
	// NamespacedNameAsObjectName converts.
	NamespacedNameAsObjectName = cache.NamespacedNameAsObjectName

	// MetaNamespaceIndexFunc indexes by namespace.
	MetaNamespaceIndexFunc = cache.MetaNamespaceIndexFunc
	// IndexFuncToKeyFuncAdapter makes a KeyFunc of an IndexFunc that gives one value.
	IndexFuncToKeyFuncAdapter = cache.IndexFuncToKeyFuncAdapter

	// ListAll lists what a selector matches.
	ListAll = cache.ListAll
	// ListAllByNamespace lists what a selector matches in a namespace.
	ListAllByNamespace = cache.ListAllByNamespace
	// NewGenericLister makes a lister of an Indexer.
	NewGenericLister = cache.NewGenericLister

	// NewListWatchFromClient makes a ListWatch of a REST client.
	NewListWatchFromClient = cache.NewListWatchFromClient
	// NewFilteredListWatchFromClient does so with a function that changes the options.
	NewFilteredListWatchFromClient = cache.NewFilteredListWatchFromClient
	// ToListWatcherWithWatchListSemantics lets a ListWatch say whether its client can stream lists.
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
	// SetReflectorMetricsProvider is kept because client-go keeps it: reflectors have no metrics.
	SetReflectorMetricsProvider = cache.SetReflectorMetricsProvider

	// ShutDownEventHandler removes a handler and waits until its last call has returned (I82).
	ShutDownEventHandler = cache.ShutDownEventHandler
	// IsDone says whether a DoneChecker is done.
	IsDone = cache.IsDone
)

// TypedIndexersToIndexers makes index functions of typed ones.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	return cache.TypedIndexersToIndexers(indexers)
}

// TypedIndexerFuncToIndexerFunc makes an index function of a typed one.
func TypedIndexerFuncToIndexerFunc[T any](indexer TypedIndexFunc[T]) IndexFunc {
	return cache.TypedIndexerFuncToIndexerFunc(indexer)
}

// NewTypedSharedIndexInformer gives an informer the methods of one type.
func NewTypedSharedIndexInformer[T Object](informer SharedIndexInformer) TypedSharedIndexInformer[T] {
	return cache.NewTypedSharedIndexInformer[T](informer)
}
