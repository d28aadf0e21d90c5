package informer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/internal/keytable"
)

// IndexerOptions configures an Indexer. The zero value is a store keyed by MetaNamespaceKey without indices.
type IndexerOptions struct {
	// KeyFunc returns an object's key. nil means MetaNamespaceKey.
	KeyFunc cache.KeyFunc
	// Indexers are the index functions by name. The map is copied.
	Indexers cache.Indexers
	// Transformer is applied to objects passed to Add, Update and Replace (the watch-list's temporary store has one, I15),
	// but not to those passed to SetKey and ReplaceKeys, which the queue has already transformed. nil means none.
	Transformer cache.TransformFunc
	// DisableResourceVersion makes LastStoreSyncResourceVersion return "", as client-go does unless its queue is atomic
	// (I70).
	DisableResourceVersion bool
}

// item is one stored object and its position in every list that holds it. It keeps its key so that lists can be sorted. It
// takes 64 bytes, so with one index it fills a single CPU cache line.
type item struct {
	key   string
	obj   any
	first indexRef    // the first membership in an index, if it has a bucket
	more  *[]indexRef // the others; nil for none. All are grouped by index, in the order of Indexer.indexes
	pos   int32       // in Indexer.all
	epoch uint32      // of the last ReplaceKeys that listed it
}

// Indexer is the stack's store: objects by key, and keys by value for each index function (I71 to I74). It is not safe for
// concurrent use.
//
// It lists everything in ascending key order, which client-go leaves open. The order costs nothing until it is needed:
// writes append and swap-remove, and lists are sorted only when read.
type Indexer struct {
	keyFunc     cache.KeyFunc
	transformer cache.TransformFunc
	indexers    cache.Indexers
	indexes     []*index // ascending by name
	items       keytable.Table[item]
	all         itemList
	rv          string
	trackRV     bool
	epoch       uint32
	values      [][]string // scratch of reindex, one per index
}

// NewIndexer returns an empty Indexer.
func NewIndexer(o IndexerOptions) *Indexer {
	x := &Indexer{
		keyFunc:     o.KeyFunc,
		transformer: o.Transformer,
		indexers:    cache.Indexers{},
		trackRV:     !o.DisableResourceVersion,
	}
	if x.keyFunc == nil {
		x.keyFunc = MetaNamespaceKey
	}
	x.addIndexes(o.Indexers)
	return x
}

var _ cache.Indexer = &Indexer{}

// Add stores obj under its key. It returns a cache.KeyError if obj has no key, or the transformer's error.
func (x *Indexer) Add(obj any) error { return x.Update(obj) }

// Update is Add: both replace what the key held.
func (x *Indexer) Update(obj any) error {
	key, obj, err := x.admit(obj)
	if err != nil {
		return err
	}
	x.SetKey(key, obj)
	return nil
}

// Delete removes the object with obj's key, if there is one.
func (x *Indexer) Delete(obj any) error {
	key, err := x.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	x.DeleteKey(key, obj)
	return nil
}

func (x *Indexer) admit(obj any) (string, any, error) {
	key, err := x.keyFunc(obj)
	if err != nil {
		return "", nil, cache.KeyError{Obj: obj, Err: err}
	}
	if x.transformer != nil {
		if obj, err = x.transformer(obj); err != nil {
			return "", nil, fmt.Errorf("transforming: %w", err)
		}
	}
	return key, obj, nil
}

// SetKey stores obj under key and returns the previous object. If an index function fails, it panics without changing
// anything (I71).
func (x *Indexer) SetKey(key string, obj any) (old any, existed bool) {
	m := metaOf(obj)
	_, old, existed = x.set(key, obj, m)
	if m != nil && x.trackRV {
		x.rv = m.GetResourceVersion()
	}
	return old, existed
}

// set stores obj, whose metadata is m, nil if it has none.
func (x *Indexer) set(key string, obj any, m metav1.Object) (it *item, old any, existed bool) {
	if it = x.items.Adopt(key); it == nil {
		it = &item{key: key}
		if len(x.indexes) > 0 {
			x.reindex(it, obj)
		}
		it.obj = obj
		it.pos = x.all.add(it)
		x.items.Put(key, it)
		return it, nil, false
	}
	it.key = key
	old = it.obj
	if len(x.indexes) > 0 && !x.staysInNamespace(it, m) {
		x.reindex(it, obj)
	}
	it.obj = obj
	return it, old, true
}

// DeleteKey removes key and returns what was there. final is the object the deletion came with: its resourceVersion
// becomes the store's (I70). It may be nil, or a tombstone, which has none.
func (x *Indexer) DeleteKey(key string, final any) (old any, existed bool) {
	if it := x.items.Get(key); it != nil {
		old, existed = it.obj, true
		x.drop(it)
	}
	if final != nil {
		x.observe(final)
	}
	return old, existed
}

func (x *Indexer) drop(it *item) {
	it.leaveAll()
	if moved := x.all.removeAt(it.pos); moved != nil {
		moved.pos = it.pos
	}
	x.items.Delete(it.key)
}

// observe takes over the resourceVersion of a written object: the last one, not the greatest (I70).
func (x *Indexer) observe(obj any) {
	if !x.trackRV {
		return
	}
	if m := metaOf(obj); m != nil {
		x.rv = m.GetResourceVersion()
	}
}

// Get returns the object with obj's key.
func (x *Indexer) Get(obj any) (item any, exists bool, err error) {
	key, err := x.keyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

// GetByKey returns the object stored under key. The error is always nil.
func (x *Indexer) GetByKey(key string) (obj any, exists bool, err error) {
	if it := x.items.Get(key); it != nil {
		return it.obj, true, nil
	}
	return nil, false, nil
}

// Len returns the number of objects.
func (x *Indexer) Len() int { return x.items.Len() }

// List returns the objects in ascending key order.
func (x *Indexer) List() []any {
	x.sortAll()
	return objectsOf(x.all.items)
}

// ListKeys returns the keys in ascending order.
func (x *Indexer) ListKeys() []string {
	x.sortAll()
	return keysOf(x.all.items)
}

func (x *Indexer) sortAll() {
	if x.all.sort() {
		for i, it := range x.all.items {
			it.pos = int32(i)
		}
	}
}

// Replace replaces the store's content with list and its resourceVersion with rv. On a key or transformer error nothing
// changes. If two objects share a key, the later wins.
func (x *Indexer) Replace(list []any, rv string) error {
	keys := make([]string, len(list))
	objs := list
	if x.transformer != nil {
		objs = make([]any, len(list))
	}
	for i, obj := range list {
		key, obj, err := x.admit(obj)
		if err != nil {
			return err
		}
		keys[i], objs[i] = key, obj
	}
	x.ReplaceKeys(keys, objs, rv)
	return nil
}

// Removed is an object that a Replace removed.
type Removed struct {
	Key string
	Obj any
}

// ReplaceKeys is Replace for objects whose keys are known: keys[i] is the key of objs[i]. It returns the stored objects
// that are not in objs, in ascending key order.
func (x *Indexer) ReplaceKeys(keys []string, objs []any, rv string) []Removed {
	x.epoch++
	for i, key := range keys {
		it, _, _ := x.set(key, objs[i], metaOf(objs[i]))
		it.epoch = x.epoch
	}
	x.rv = rv
	if x.items.Len() == len(keys) && x.allOfEpoch() {
		return nil
	}
	return x.dropOlder()
}

func (x *Indexer) allOfEpoch() bool {
	for _, it := range x.all.items {
		if it.epoch != x.epoch {
			return false
		}
	}
	return true
}

func (x *Indexer) dropOlder() []Removed {
	x.sortAll()
	var removed []Removed
	var gone []*item
	for _, it := range x.all.items {
		if it.epoch != x.epoch {
			gone = append(gone, it)
			removed = append(removed, Removed{Key: it.key, Obj: it.obj})
		}
	}
	for _, it := range gone {
		x.drop(it)
	}
	return removed
}

// Bookmark makes rv the store's resourceVersion (I70).
func (x *Indexer) Bookmark(rv string) { x.rv = rv }

// LastStoreSyncResourceVersion returns the resourceVersion of the last write, Replace or Bookmark, or "" if disabled (I70).
func (x *Indexer) LastStoreSyncResourceVersion() string {
	if !x.trackRV {
		return ""
	}
	return x.rv
}

// Resync does nothing: only queues resync.
func (x *Indexer) Resync() error { return nil }

// GetIndexers returns the index functions. The map belongs to the Indexer: do not modify it.
func (x *Indexer) GetIndexers() cache.Indexers { return x.indexers }

// AddIndexers adds index functions and indexes the stored objects. If one of the names is taken, it fails and adds none
// (I73).
func (x *Indexer) AddIndexers(added cache.Indexers) error {
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(added)) {
		if _, ok := x.indexers[name]; ok {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("indexer conflict: %s: an index of that name already exists", strings.Join(taken, ", "))
	}
	x.addIndexes(added)
	for _, it := range x.all.items {
		x.reindex(it, it.obj)
	}
	return nil
}
