package render

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Cache keeps encoded objects and frames, the oldest of which go first. It holds bytes for objects by identity, which is right
// because a stored object never changes; an object that is kept here stays in memory. It is not for concurrent use.
type Cache struct {
	limit int
	bytes int
	data  map[cacheKey][]byte
	order []cacheKey
	head  int
}

// cacheKey is an object in a format; the event is empty for the object itself.
type cacheKey struct {
	object runtime.Object
	format Format
	event  watch.EventType
}

// DefaultCacheBytes is how much a Cache holds that is not told otherwise.
const DefaultCacheBytes = 16 << 20

// NewCache makes a cache that holds so many bytes of encoded objects; 0 means DefaultCacheBytes.
func NewCache(limitBytes int) *Cache {
	if limitBytes <= 0 {
		limitBytes = DefaultCacheBytes
	}
	return &Cache{limit: limitBytes, data: map[cacheKey][]byte{}}
}

// Object is the encoded view of a stored object. Tables are not kept: they show ages. Nobody may write to the bytes.
func (c *Cache) Object(v *View, obj runtime.Object, now time.Time) ([]byte, error) {
	key := cacheKey{object: obj, format: v.format}
	return c.get(key, func() ([]byte, error) {
		shown, err := v.Of(obj, now)
		if err != nil {
			return nil, err
		}
		return v.format.Encode(shown)
	})
}

// Frame is the frame of an event about a stored object. Nobody may write to the bytes.
func (c *Cache) Frame(v *View, event watch.EventType, obj runtime.Object, now time.Time) ([]byte, error) {
	key := cacheKey{object: obj, format: v.format, event: event}
	return c.get(key, func() ([]byte, error) { return v.Frame(event, obj, now) })
}

func (c *Cache) get(key cacheKey, encode func() ([]byte, error)) ([]byte, error) {
	if key.format.As.Kind == "Table" {
		return encode()
	}
	if data, ok := c.data[key]; ok {
		return data, nil
	}
	data, err := encode()
	if err != nil || len(data) > c.limit {
		return data, err
	}
	c.data[key] = data
	c.order = append(c.order, key)
	c.bytes += len(data)
	c.evict()
	return data, nil
}

// evict drops the oldest until the rest fits.
func (c *Cache) evict() {
	for c.bytes > c.limit {
		key := c.order[c.head]
		c.bytes -= len(c.data[key])
		delete(c.data, key)
		c.order[c.head] = cacheKey{}
		c.head++
	}
	// What was dropped from the front is given back once it is the greater part.
	if c.head > len(c.order)/2 && c.head > 1024 {
		c.order = append([]cacheKey(nil), c.order[c.head:]...)
		c.head = 0
	}
}
