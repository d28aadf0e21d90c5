package dropin

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	lru "k8s.io/apimachinery/pkg/util/cache"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"k8s.io/apimachinery/pkg/api/meta"
)

const (
	mutationCacheSize = 100
	mutationCacheTTL  = 5 * time.Minute
)

// NewIntegerResourceVersionMutationCache is NewIntegerResourceVersionMutationCacheWithOptions for 100 objects.
func NewIntegerResourceVersionMutationCache(logger klog.Logger, backingCache Store, indexer Indexer, ttl time.Duration, includeAdds bool) MutationCache {
	return NewIntegerResourceVersionMutationCacheWithOptions(logger, backingCache, MutationCacheOptions{
		Indexer: indexer, TTL: ttl, IncludeAdds: includeAdds,
	})
}

// NewIntegerResourceVersionMutationCacheWithOptions returns a cache that shows a writer its own writes before the store
// does: it remembers reported writes for a time and returns those or the stored objects, whichever have the greater
// resourceVersion. ResourceVersions must be increasing integers.
//
// With IncludeAdds it also returns objects that the store does not have, even if they may have been deleted from it;
// calling OnAddOrUpdate and OnDelete from the store's informer makes that less likely.
func NewIntegerResourceVersionMutationCacheWithOptions(logger klog.Logger, backingCache Store, options MutationCacheOptions) MutationCache {
	if options.MaxCacheSize == 0 {
		options.MaxCacheSize = mutationCacheSize
	}
	if options.TTL == 0 {
		options.TTL = mutationCacheTTL
	}
	return &mutationCache{
		store:     backingCache,
		options:   options,
		mutations: lru.NewLRUExpireCache(options.MaxCacheSize),
		logger:    logger,
	}
}

// mutationCache embeds the interface for its unexported method.
type mutationCache struct {
	MutationCache
	store     Store
	options   MutationCacheOptions
	logger    klog.Logger
	mu        sync.Mutex
	mutations *lru.LRUExpireCache // key to a written object, or to a deletionMark
}

// deletionMark records a deleted object: a write of the same object, or of an older resourceVersion, is ignored.
type deletionMark struct {
	uid types.UID
	rv  string
}

// GetByKey returns the newer of the written and the stored object.
func (c *mutationCache) GetByKey(key string) (any, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stored, exists, err := c.store.GetByKey(key)
	if err != nil {
		return nil, false, err
	}
	if exists {
		return c.newer(key, stored), true, nil
	}
	if !c.options.IncludeAdds { // either an add not seen yet, or a deletion already seen
		return nil, false, nil
	}
	written, exists := c.written(key)
	if exists {
		c.mutations.Remove(key) // as in client-go, which returns an object known only to the cache once
	}
	return written, exists, nil
}

// written returns the object written under key, ignoring deletion marks.
func (c *mutationCache) written(key string) (any, bool) {
	obj, exists := c.mutations.Get(key)
	if _, deleted := obj.(deletionMark); deleted || !exists {
		return nil, false
	}
	return obj, true
}

// newer returns the newer of the stored and the written object, and forgets the written one if it is outdated.
func (c *mutationCache) newer(key string, stored any) any {
	mutation, exists := c.mutations.Get(key)
	if _, err := meta.Accessor(stored); err != nil || !exists {
		return stored
	}
	if compareResourceVersions(resourceVersionOf(stored), resourceVersionOf(mutation)) >= 0 {
		c.mutations.Remove(key)
		return stored
	}
	if _, deleted := mutation.(deletionMark); deleted {
		return stored // impossible: an object that a store deletes is older than a later one
	}
	return mutation
}

// ByIndex returns the newer version of each object that the store's indexer finds, and with IncludeAdds also written ones
// that the store does not have.
func (c *mutationCache) ByIndex(name, indexKey string) ([]any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options.Indexer == nil {
		return nil, errors.New("no indexer has been provided to the mutation cache")
	}
	keys, err := c.options.Indexer.IndexKeys(name, indexKey)
	if err != nil {
		return nil, err
	}
	var items []any
	found := make(map[string]bool, len(keys))
	for _, key := range keys {
		found[key] = true
		obj, exists, err := c.options.Indexer.GetByKey(key)
		if err != nil {
			return nil, err
		}
		if exists {
			items = append(items, c.newer(key, obj))
		}
	}
	if c.options.IncludeAdds {
		items = append(items, c.writtenByIndex(name, indexKey, found)...)
	}
	return items, nil
}

func (c *mutationCache) writtenByIndex(name, indexKey string, found map[string]bool) (items []any) {
	fn := c.options.Indexer.GetIndexers()[name]
	for _, k := range c.mutations.Keys() { // oldest first
		key := k.(string)
		obj, exists := c.written(key) // for all, oldest first, to preserve their order in the LRU
		if !exists || found[key] {
			continue
		}
		values, err := fn(obj)
		if err != nil {
			c.logger.V(4).Info("Unable to calculate an index entry for mutation cache entry", "key", key, "err", err)
			continue
		}
		for _, value := range values {
			if value == indexKey {
				items = append(items, obj)
				break
			}
		}
	}
	return items
}

// Mutation remembers a written object, unless a newer one is remembered or the object is known to be deleted.
func (c *mutationCache) Mutation(obj any) {
	key, ok := c.keyOf(obj)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isOutdated(key, obj) {
		return
	}
	c.mutations.Add(key, obj, c.options.TTL)
}

func (c *mutationCache) isOutdated(key string, obj any) bool {
	remembered, exists := c.mutations.Get(key)
	m, err := meta.Accessor(obj)
	if !exists || err != nil {
		return false
	}
	order := compareResourceVersions(m.GetResourceVersion(), resourceVersionOf(remembered))
	if g, deleted := remembered.(deletionMark); deleted {
		return order <= 0 || g.uid == m.GetUID()
	}
	return order < 0
}

// OnAddOrUpdate reports that the store received an object: the written one is forgotten unless it is newer.
func (c *mutationCache) OnAddOrUpdate(obj runtime.Object) {
	key, ok := c.keyOf(obj)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if remembered, exists := c.mutations.Get(key); exists &&
		compareResourceVersions(resourceVersionOf(obj), resourceVersionOf(remembered)) >= 0 {
		c.mutations.Remove(key)
	}
}

// OnDelete reports that the store lost an object: the written one is replaced by a deletion mark. A newer object of the
// same name is left alone.
func (c *mutationCache) OnDelete(obj runtime.Object) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	key, ok := c.keyOf(obj)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if remembered, exists := c.mutations.Get(key); exists &&
		compareResourceVersions(m.GetResourceVersion(), resourceVersionOf(remembered)) < 0 && uidOf(remembered) != m.GetUID() {
		return
	}
	c.mutations.Add(key, deletionMark{uid: m.GetUID(), rv: m.GetResourceVersion()}, c.options.TTL)
}

func (c *mutationCache) keyOf(obj any) (string, bool) {
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil { // harmless: the cache only remembers less
		utilruntime.HandleErrorWithLogger(c.logger, err, "No key for the mutation cache")
		return "", false
	}
	return key, true
}

func resourceVersionOf(obj any) string {
	if g, deleted := obj.(deletionMark); deleted {
		return g.rv
	}
	if m, err := meta.Accessor(obj); err == nil {
		return m.GetResourceVersion()
	}
	return ""
}

func uidOf(obj any) types.UID {
	if g, deleted := obj.(deletionMark); deleted {
		return g.uid
	}
	if m, ok := obj.(metav1.Object); ok {
		return m.GetUID()
	}
	return ""
}

// compareResourceVersions panics, as client-go does, if one is not a number: the cache does not support such objects.
func compareResourceVersions(a, b string) int {
	x, y := parseResourceVersion(a), parseResourceVersion(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func parseResourceVersion(rv string) uint64 {
	if rv == "" {
		return 0
	}
	n, err := strconv.ParseUint(rv, 10, 64)
	if err != nil {
		panic(fmt.Errorf("mutation cache: resourceVersion %q is not an integer: %w", rv, err))
	}
	return n
}
