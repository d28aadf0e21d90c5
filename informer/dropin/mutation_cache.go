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

// NewIntegerResourceVersionMutationCacheWithOptions makes a cache that shows a writer its own writes before the store does:
// it remembers what it is told was written, for a time, and answers with that or with what the store holds, whichever has
// the greater resourceVersion. Those must be integers that grow.
//
// With IncludeAdds it also answers with objects that the store does not have, which it may not have any more; OnAddOrUpdate
// and OnDelete, called from the store's informer, make that less likely.
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
	mutations *lru.LRUExpireCache // key to a written object, or to a grave
}

// grave is where an object was deleted: a write of the same object, or of an older resourceVersion, is not to be believed.
type grave struct {
	uid types.UID
	rv  string
}

// GetByKey returns the newer of what was written and what the store holds.
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
	if !c.options.IncludeAdds { // an add that was not seen yet, or a deletion that was: nobody knows
		return nil, false, nil
	}
	written, exists := c.written(key)
	if exists {
		c.mutations.Remove(key) // as in client-go, where what only the cache knows is told once
	}
	return written, exists, nil
}

// written returns what was written under key, graves excepted.
func (c *mutationCache) written(key string) (any, bool) {
	obj, exists := c.mutations.Get(key)
	if _, dead := obj.(grave); dead || !exists {
		return nil, false
	}
	return obj, true
}

// newer decides between the stored object and the written one, which is forgotten when it has been overtaken.
func (c *mutationCache) newer(key string, stored any) any {
	mutation, exists := c.mutations.Get(key)
	if _, err := meta.Accessor(stored); err != nil || !exists {
		return stored
	}
	if compareResourceVersions(resourceVersionOf(stored), resourceVersionOf(mutation)) >= 0 {
		c.mutations.Remove(key)
		return stored
	}
	if _, dead := mutation.(grave); dead {
		return stored // which cannot be: what a store deletes is older than what it holds later
	}
	return mutation
}

// ByIndex returns the newer of each object that the store's indexer finds, and with IncludeAdds the written ones that the
// store does not have.
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
		obj, exists := c.written(key) // for all, oldest first, so that their order in the LRU stays
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

// Mutation remembers what was written, unless something newer is remembered or it is known to have been deleted.
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
	if g, dead := remembered.(grave); dead {
		return order <= 0 || g.uid == m.GetUID()
	}
	return order < 0
}

// OnAddOrUpdate tells that the store has got an object: what was written is forgotten, unless it is newer.
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

// OnDelete tells that the store has lost an object: what was written of it is forgotten, and a grave remains. A newer object
// of the same name is left alone.
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
	c.mutations.Add(key, grave{uid: m.GetUID(), rv: m.GetResourceVersion()}, c.options.TTL)
}

func (c *mutationCache) keyOf(obj any) (string, bool) {
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil { // nothing depends on it: the cache only knows less
		utilruntime.HandleErrorWithLogger(c.logger, err, "No key for the mutation cache")
		return "", false
	}
	return key, true
}

func resourceVersionOf(obj any) string {
	if g, dead := obj.(grave); dead {
		return g.rv
	}
	if m, err := meta.Accessor(obj); err == nil {
		return m.GetResourceVersion()
	}
	return ""
}

func uidOf(obj any) types.UID {
	if g, dead := obj.(grave); dead {
		return g.uid
	}
	if m, ok := obj.(metav1.Object); ok {
		return m.GetUID()
	}
	return ""
}

// compareResourceVersions panics, as client-go does, if one is not a number: the cache must not be used for such objects.
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
