package dropin

import (
	"fmt"

	"github.com/informersim/informersim/informer"
)

// StoreOption configures NewStore and NewIndexer.
type StoreOption = func(*store)

// WithTransformer makes the store apply a function to every object passed to Add, Update and Replace.
func WithTransformer(transformer TransformFunc) StoreOption {
	return func(s *store) { s.transformer = transformer }
}

// WithStoreMetrics makes the store report its resourceVersion, if the identifier is reserved. A nil provider selects the
// one set with SetInformerMetricsProvider.
func WithStoreMetrics(identifier InformerNameAndResource, metrics InformerMetricsProvider) StoreOption {
	return func(s *store) { s.rvMetric = newStoreMetric(identifier, metrics) }
}

// NewStore returns an empty store. It is a TransactionStore too.
func NewStore(keyFunc KeyFunc, opts ...StoreOption) Store {
	return newStore(keyFunc, Indexers{}, opts...)
}

// NewIndexer returns an empty store with indices. It takes ownership of indexers. It is a TransactionStore too.
func NewIndexer(keyFunc KeyFunc, indexers Indexers, opts ...StoreOption) Indexer {
	return newStore(keyFunc, indexers, opts...)
}

func newStore(keyFunc KeyFunc, indexers Indexers, opts ...StoreOption) *store {
	s := &store{threadSafeStore: newThreadSafeStore(indexers), keyFunc: keyFunc}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

var (
	_ Indexer          = (*store)(nil)
	_ TransactionStore = (*store)(nil)
)

// store is a threadSafeStore with a key function.
type store struct {
	*threadSafeStore
	keyFunc     KeyFunc
	transformer TransformFunc
}

func (s *store) keyOf(obj any) (string, error) {
	key, err := s.keyFunc(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// admit returns the object's key and the object to store.
func (s *store) admit(obj any) (string, any, error) {
	key, err := s.keyOf(obj)
	if err != nil {
		return "", nil, err
	}
	if s.transformer != nil {
		if obj, err = s.transformer(obj); err != nil {
			return "", nil, fmt.Errorf("transforming: %w", err)
		}
	}
	return key, obj, nil
}

// Add stores obj. It returns a KeyError, or the transformer's error.
func (s *store) Add(obj any) error { return s.Update(obj) }

// Update stores obj. It returns a KeyError, or the transformer's error.
func (s *store) Update(obj any) error {
	key, obj, err := s.admit(obj)
	if err != nil {
		return err
	}
	s.threadSafeStore.Update(key, obj)
	return nil
}

// Delete removes the object with obj's key, if there is one.
func (s *store) Delete(obj any) error {
	key, err := s.keyOf(obj)
	if err != nil {
		return err
	}
	s.DeleteWithObject(key, obj)
	return nil
}

// Get returns the object with obj's key.
func (s *store) Get(obj any) (item any, exists bool, err error) {
	key, err := s.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return s.GetByKey(key)
}

// GetByKey returns the object under key. The error is always nil.
func (s *store) GetByKey(key string) (item any, exists bool, err error) {
	item, exists = s.threadSafeStore.Get(key)
	return item, exists, nil
}

// Replace replaces the content with list and takes ownership of it. On an error nothing changes.
func (s *store) Replace(list []any, resourceVersion string) error {
	items := make(map[string]any, len(list))
	for _, obj := range list {
		key, obj, err := s.admit(obj)
		if err != nil {
			return err
		}
		items[key] = obj
	}
	s.threadSafeStore.Replace(items, resourceVersion)
	return nil
}

// Transaction makes the writes under one lock. It skips those without a key and names them in the error.
func (s *store) Transaction(txns ...Transaction) *TransactionError {
	keyed := make([]ThreadSafeStoreTransaction, 0, len(txns))
	successful := make([]int, 0, len(txns))
	var errs []error
	for i, txn := range txns {
		key, err := s.keyOf(txn.Object)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		successful = append(successful, i)
		keyed = append(keyed, ThreadSafeStoreTransaction{Transaction: txn, Key: key})
	}
	s.threadSafeStore.Transaction(keyed...)
	if len(errs) == 0 {
		return nil
	}
	return &TransactionError{SuccessfulIndices: successful, TotalTransactions: len(txns), Errors: errs}
}

// controllerStore adapts a store to informer's Controller.
type controllerStore struct{ *store }

var _ informer.Store = controllerStore{}

func (s controllerStore) SetKey(key string, obj any) (old any, existed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set(key, obj)
}

func (s controllerStore) DeleteKey(key string, final any) (old any, existed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.delete(key, final)
}

func (s controllerStore) ReplaceKeys(keys []string, objs []any, resourceVersion string) []informer.Removed {
	return s.replaceKeys(keys, objs, resourceVersion)
}

// lockedStore is a controllerStore whose lock the caller holds, for the writes of a batch.
type lockedStore struct{ controllerStore }

func (s lockedStore) SetKey(key string, obj any) (old any, existed bool) { return s.set(key, obj) }

func (s lockedStore) DeleteKey(key string, final any) (old any, existed bool) {
	return s.delete(key, final)
}
