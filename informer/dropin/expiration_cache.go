package dropin

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ExpirationCache is a Store whose entries expire. Expiry is checked only on reads, which remove expired entries.
type ExpirationCache struct {
	storage ThreadSafeStore
	keyFunc KeyFunc
	clock   clock.Clock
	policy  ExpirationPolicy
	// mu prevents a write between the check that an entry has expired and its removal.
	mu sync.Mutex
}

var _ Store = (*ExpirationCache)(nil)

// expiringEntry is an entry of the storage.
type expiringEntry struct {
	TimestampedEntry
	key string
}

// NewTTLStore returns a store whose entries expire once older than ttl, or never if ttl is not positive.
func NewTTLStore(keyFunc KeyFunc, ttl time.Duration) Store {
	return NewExpirationStore(keyFunc, &TTLPolicy{TTL: ttl, Clock: clock.RealClock{}})
}

// NewExpirationStore returns a store whose entries expire by a policy.
func NewExpirationStore(keyFunc KeyFunc, expirationPolicy ExpirationPolicy) Store {
	return newExpirationCache(newThreadSafeStore(nil), keyFunc, expirationPolicy, clock.RealClock{})
}

// NewFakeExpirationStore is NewExpirationStore for tests: it sends each expired key to deletedKeys and takes the time from
// the clock. With a nil channel nothing is ever removed.
func NewFakeExpirationStore(keyFunc KeyFunc, deletedKeys chan<- string, expirationPolicy ExpirationPolicy, cacheClock clock.Clock) Store {
	return newExpirationCache(announcingStore{newThreadSafeStore(nil), deletedKeys}, keyFunc, expirationPolicy, cacheClock)
}

func newExpirationCache(storage ThreadSafeStore, keyFunc KeyFunc, policy ExpirationPolicy, clock clock.Clock) *ExpirationCache {
	return &ExpirationCache{storage: storage, keyFunc: keyFunc, clock: clock, policy: policy}
}

type announcingStore struct {
	ThreadSafeStore
	deletedKeys chan<- string
}

func (s announcingStore) Delete(key string) {
	if s.deletedKeys != nil {
		s.ThreadSafeStore.Delete(key)
		s.deletedKeys <- key
	}
}

// getOrExpire returns the object under key, or removes it if it has expired.
func (c *ExpirationCache) getOrExpire(key string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	item, _ := c.storage.Get(key)
	entry, ok := item.(*expiringEntry)
	if !ok {
		return nil, false
	}
	if c.policy.IsExpired(&entry.TimestampedEntry) {
		c.storage.Delete(key)
		return nil, false
	}
	return entry.Obj, true
}

// GetByKey returns the object under key unless it has expired. The error is always nil.
func (c *ExpirationCache) GetByKey(key string) (any, bool, error) {
	obj, exists := c.getOrExpire(key)
	return obj, exists, nil
}

// Get returns the object with obj's key unless it has expired.
func (c *ExpirationCache) Get(obj any) (any, bool, error) {
	key, err := c.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return c.GetByKey(key)
}

// List returns the objects that have not expired, in no order.
func (c *ExpirationCache) List() []any {
	items := c.storage.List()
	list := make([]any, 0, len(items))
	for _, item := range items {
		if obj, exists := c.getOrExpire(item.(*expiringEntry).key); exists {
			list = append(list, obj)
		}
	}
	return list
}

// ListKeys returns the keys of all objects, including expired ones that have not been read since.
func (c *ExpirationCache) ListKeys() []string { return c.storage.ListKeys() }

// Add stores an object with the current time.
func (c *ExpirationCache) Add(obj any) error {
	key, err := c.keyOf(obj)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.storage.Add(key, c.entry(key, obj, c.clock.Now()))
	return nil
}

// Update is Add: it renews the object.
func (c *ExpirationCache) Update(obj any) error { return c.Add(obj) }

// Delete removes an object.
func (c *ExpirationCache) Delete(obj any) error {
	key, err := c.keyOf(obj)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.storage.DeleteWithObject(key, obj)
	return nil
}

// Replace replaces the content with list, all with the current time.
func (c *ExpirationCache) Replace(list []any, resourceVersion string) error {
	items := make(map[string]any, len(list))
	now := c.clock.Now()
	for _, obj := range list {
		key, err := c.keyOf(obj)
		if err != nil {
			return err
		}
		items[key] = c.entry(key, obj, now)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.storage.Replace(items, resourceVersion)
	return nil
}

// Resync does nothing.
func (c *ExpirationCache) Resync() error { return nil }

// Bookmark sets the store's resourceVersion.
func (c *ExpirationCache) Bookmark(rv string) { c.storage.Bookmark(rv) }

// LastStoreSyncResourceVersion returns the store's resourceVersion.
func (c *ExpirationCache) LastStoreSyncResourceVersion() string {
	return c.storage.LastStoreSyncResourceVersion()
}

func (c *ExpirationCache) entry(key string, obj any, now time.Time) *expiringEntry {
	return &expiringEntry{TimestampedEntry: TimestampedEntry{Obj: obj, Timestamp: now}, key: key}
}

func (c *ExpirationCache) keyOf(obj any) (string, error) {
	key, err := c.keyFunc(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}
