package dropin

import (
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clientfeatures "k8s.io/client-go/features"
	utiltrace "k8s.io/utils/trace"

	"github.com/informersim/informersim/informer"
)

// ThreadSafeStoreOption configures NewThreadSafeStore.
type ThreadSafeStoreOption = func(*threadSafeStore)

// WithThreadSafeStoreMetrics makes the store report its resourceVersion, if the identifier is reserved.
func WithThreadSafeStoreMetrics(identifier InformerNameAndResource, metricsProvider InformerMetricsProvider) ThreadSafeStoreOption {
	return func(s *threadSafeStore) { s.rvMetric = newStoreMetric(identifier, metricsProvider) }
}

// NewThreadSafeStore returns an empty store. It takes ownership of indexers; indices exists for compatibility and is not
// used.
func NewThreadSafeStore(indexers Indexers, indices Indices, opts ...ThreadSafeStoreOption) ThreadSafeStore {
	return newThreadSafeStore(indexers, opts...)
}

func newThreadSafeStore(indexers Indexers, opts ...ThreadSafeStoreOption) *threadSafeStore {
	if indexers == nil {
		indexers = Indexers{}
	}
	s := &threadSafeStore{items: map[string]any{}, index: newStoreIndex(indexers)}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

var _ ThreadSafeStoreWithTransaction = (*threadSafeStore)(nil)

// threadSafeStore is a map with indices behind a lock that readers share (I70 to I74).
type threadSafeStore struct {
	mu       sync.RWMutex
	items    map[string]any
	index    storeIndex
	rv       string      // of the last write, Replace or Bookmark (I70)
	rvMetric GaugeMetric // nil: not reported
}

// Add stores obj under key.
func (s *threadSafeStore) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key.
func (s *threadSafeStore) Update(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(key, obj)
}

// Delete removes key and leaves the store's resourceVersion alone.
func (s *threadSafeStore) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes key and sets the store's resourceVersion to that of obj, the final state.
func (s *threadSafeStore) DeleteWithObject(key string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delete(key, obj)
}

// set returns the previous object. It needs the lock. If an index function fails, it panics without changing anything
// (I71).
func (s *threadSafeStore) set(key string, obj any) (old any, existed bool) {
	old, existed = s.items[key]
	s.index.update(key, old, obj)
	s.items[key] = obj
	s.observe(obj)
	return old, existed
}

// delete needs the lock.
func (s *threadSafeStore) delete(key string, final any) (old any, existed bool) {
	if old, existed = s.items[key]; existed {
		s.index.update(key, old, nil)
		delete(s.items, key)
	}
	if final != nil {
		s.observe(final)
	}
	return old, existed
}

// observe sets the store's resourceVersion to the object's, whether it is greater or not (I70).
func (s *threadSafeStore) observe(obj any) {
	if m, err := meta.Accessor(obj); err == nil {
		s.setResourceVersion(m.GetResourceVersion())
	}
}

func (s *threadSafeStore) setResourceVersion(rv string) {
	s.rv = rv
	if s.rvMetric == nil {
		return
	}
	if n, err := resourceVersionForMetric(rv); err == nil {
		s.rvMetric.Set(float64(n))
	}
}

// resourceVersionForMetric keeps the last 15 digits, which a float64 holds exactly.
func resourceVersionForMetric(rv string) (int64, error) {
	if rv == "" {
		return 0, nil
	}
	if len(rv) > 15 {
		rv = rv[len(rv)-15:]
	}
	return strconv.ParseInt(rv, 10, 64)
}

// Transaction makes the writes under one lock, so that a reader sees all of them or none (I67).
func (s *threadSafeStore) Transaction(txns ...ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	trace := utiltrace.New("ThreadSafeStore Transaction",
		utiltrace.Field{Key: "Size", Value: len(txns)},
		utiltrace.Field{Key: "Reason", Value: "slow batch due to too many items"})
	defer trace.LogIfLong(min(500*time.Millisecond*time.Duration(len(txns)), 5*time.Second))
	rv := s.rv
	for i := range txns {
		switch txns[i].Type {
		case TransactionTypeAdd, TransactionTypeUpdate:
			s.set(txns[i].Key, txns[i].Object)
		case TransactionTypeDelete:
			s.delete(txns[i].Key, txns[i].Object)
		}
	}
	// Only the last write counts, and none if that one has no resourceVersion.
	if _, err := meta.Accessor(txns[len(txns)-1].Object); err != nil {
		s.setResourceVersion(rv)
	}
}

// Get returns the object stored under key.
func (s *threadSafeStore) Get(key string) (item any, exists bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	item, exists = s.items[key]
	return item, exists
}

// List returns the objects in no order.
func (s *threadSafeStore) List() []any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]any, 0, len(s.items))
	for _, item := range s.items {
		list = append(list, item)
	}
	return list
}

// ListKeys returns the keys in no order.
func (s *threadSafeStore) ListKeys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]string, 0, len(s.items))
	for key := range s.items {
		list = append(list, key)
	}
	return list
}

// Replace replaces the content with items and takes ownership of the map.
func (s *threadSafeStore) Replace(items map[string]any, resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(items, resourceVersion)
}

// replace needs the lock. It updates the indices instead of rebuilding them: after a relist nearly all objects are
// unchanged in them.
func (s *threadSafeStore) replace(items map[string]any, resourceVersion string) {
	if !s.index.empty() {
		s.reindex(items)
	}
	if items == nil {
		items = map[string]any{}
	}
	s.items = items
	s.setResourceVersion(resourceVersion)
}

func (s *threadSafeStore) reindex(items map[string]any) {
	stayed := 0
	for key, item := range items {
		old, stays := s.items[key]
		if stays {
			stayed++
		}
		s.index.update(key, old, item)
	}
	if stayed == len(s.items) {
		return
	}
	for key, old := range s.items {
		if _, stays := items[key]; !stays {
			s.index.update(key, old, nil)
		}
	}
}

// replaceKeys is replace for a list. It returns the removed objects.
func (s *threadSafeStore) replaceKeys(keys []string, objs []any, resourceVersion string) (removed []informer.Removed) {
	items := make(map[string]any, len(keys))
	for i, key := range keys {
		items[key] = objs[i]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, old := range s.items {
		if _, stays := items[key]; !stays {
			removed = append(removed, informer.Removed{Key: key, Obj: old})
		}
	}
	s.replace(items, resourceVersion)
	return removed
}

// Index returns the objects that share a value of the named index with obj.
func (s *threadSafeStore) Index(indexName string, obj any) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys, err := s.index.keysLike(indexName, obj)
	if err != nil {
		return nil, err
	}
	return s.objectsOf(keys), nil
}

// ByIndex returns the objects that have the value in the named index, in no order.
func (s *threadSafeStore) ByIndex(indexName, indexedValue string) ([]any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys, err := s.index.keysOf(indexName, indexedValue)
	if err != nil {
		return nil, err
	}
	return s.objectsOf(keys), nil
}

func (s *threadSafeStore) objectsOf(keys keySet) []any {
	list := make([]any, 0, len(keys))
	for key := range keys {
		list = append(list, s.items[key])
	}
	return list
}

// IndexKeys returns the sorted keys of the objects that have the value in the named index (I74).
func (s *threadSafeStore) IndexKeys(indexName, indexedValue string) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	keys, err := s.index.keysOf(indexName, indexedValue)
	if err != nil {
		return nil, err
	}
	return keys.sorted(), nil
}

// ListIndexFuncValues returns the values that the named index has, in no order.
func (s *threadSafeStore) ListIndexFuncValues(name string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.values(name)
}

// GetIndexers returns the index functions. The map belongs to the store: do not modify it.
func (s *threadSafeStore) GetIndexers() Indexers { return s.index.indexers }

// AddIndexers adds index functions and indexes the stored objects. If a name is taken, it fails and adds none (I73).
func (s *threadSafeStore) AddIndexers(newIndexers Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.add(newIndexers, s.items)
}

// Bookmark sets the store's resourceVersion (I70).
func (s *threadSafeStore) Bookmark(rv string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setResourceVersion(rv)
}

// LastStoreSyncResourceVersion returns the resourceVersion of the last write, Replace or Bookmark, or "" unless the gate
// AtomicFIFO is on (I70).
func (s *threadSafeStore) LastStoreSyncResourceVersion() string {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		return ""
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rv
}

// Resync does nothing.
func (s *threadSafeStore) Resync() error { return nil }
