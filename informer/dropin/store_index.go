package dropin

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keySet is a set of store keys.
type keySet map[string]struct{}

func (s keySet) sorted() []string {
	keys := make([]string, 0, len(s))
	for key := range s {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// storeIndex holds the indices of a store: keys by value for each index function. It needs the store's lock.
type storeIndex struct {
	indexers Indexers
	funcs    []*namedIndex // the same, to iterate without a map
}

// namedIndex is one index function and its keys by value.
type namedIndex struct {
	name string
	fn   IndexFunc
	keys map[string]keySet
	// byNamespace is set if fn is MetaNamespaceIndexFunc, which nearly every informer has. A stored object never changes
	// its namespace, so its updates skip the calls and the slices they return.
	byNamespace bool
	// scratch of update, between compare and apply
	changed  bool
	old, new []string
}

func newStoreIndex(indexers Indexers) storeIndex {
	i := storeIndex{indexers: indexers}
	for name, fn := range indexers {
		i.funcs = append(i.funcs, newNamedIndex(name, fn))
	}
	return i
}

func newNamedIndex(name string, fn IndexFunc) *namedIndex {
	// Functions have no identity other than their code pointer.
	same := fn != nil && reflect.ValueOf(fn).Pointer() == reflect.ValueOf(MetaNamespaceIndexFunc).Pointer()
	return &namedIndex{name: name, fn: fn, keys: map[string]keySet{}, byNamespace: same}
}

func (i *storeIndex) empty() bool { return len(i.funcs) == 0 }

// update moves key from the index values of the old object to those of the new one; nil means no object. All index
// functions run before anything changes, so a failing one, which panics (I71), leaves the indices intact.
func (i *storeIndex) update(key string, oldObj, newObj any) {
	for _, ix := range i.funcs {
		ix.compare(key, oldObj, newObj)
	}
	for _, ix := range i.funcs {
		if ix.changed {
			ix.apply(key)
		}
	}
}

// compare calls the index function for both objects.
func (ix *namedIndex) compare(key string, oldObj, newObj any) {
	ix.changed = false
	if ix.byNamespace && sameNamespace(oldObj, newObj) {
		return
	}
	ix.old, ix.new = ix.valuesOf(key, oldObj), ix.valuesOf(key, newObj)
	ix.changed = len(ix.old) != 1 || len(ix.new) != 1 || ix.old[0] != ix.new[0]
}

func sameNamespace(oldObj, newObj any) bool {
	before, ok := oldObj.(metav1.Object)
	if !ok {
		return false
	}
	after, ok := newObj.(metav1.Object)
	return ok && before.GetNamespace() == after.GetNamespace()
}

func (ix *namedIndex) valuesOf(key string, obj any) []string {
	if obj == nil {
		return nil
	}
	values, err := ix.fn(obj)
	if err != nil {
		panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %v", key, ix.name, err))
	}
	return values
}

// apply makes the change that compare found.
func (ix *namedIndex) apply(key string) {
	for _, value := range ix.old {
		if set := ix.keys[value]; set != nil {
			delete(set, key)
			if len(set) == 0 {
				delete(ix.keys, value) // otherwise values that come and go would accumulate (I72)
			}
		}
	}
	for _, value := range ix.new {
		set := ix.keys[value]
		if set == nil {
			set = keySet{}
			ix.keys[value] = set
		}
		set[key] = struct{}{}
	}
	ix.old, ix.new = nil, nil
}

// add adds index functions and indexes items with them (I73).
func (i *storeIndex) add(added Indexers, items map[string]any) error {
	var taken []string
	for name := range added {
		if _, conflict := i.indexers[name]; conflict {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		slices.Sort(taken)
		return fmt.Errorf("indexer conflict: %s: an index of that name already exists", strings.Join(taken, ", "))
	}
	for name, fn := range added {
		ix := newNamedIndex(name, fn)
		i.indexers[name] = fn
		i.funcs = append(i.funcs, ix)
		for key, item := range items {
			ix.compare(key, nil, item)
			ix.apply(key)
		}
	}
	return nil
}

func (i *storeIndex) named(name string) (*namedIndex, error) {
	for _, ix := range i.funcs {
		if ix.name == name && ix.fn != nil {
			return ix, nil
		}
	}
	return nil, fmt.Errorf("Index with name %s does not exist", name) //nolint:staticcheck // client-go's text
}

func (i *storeIndex) keysOf(name, value string) (keySet, error) {
	ix, err := i.named(name)
	if err != nil {
		return nil, err
	}
	return ix.keys[value], nil
}

// keysLike returns the keys that share a value with obj.
func (i *storeIndex) keysLike(name string, obj any) (keySet, error) {
	ix, err := i.named(name)
	if err != nil {
		return nil, err
	}
	values, err := ix.fn(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return ix.keys[values[0]], nil
	}
	keys := keySet{}
	for _, value := range values {
		maps.Copy(keys, ix.keys[value])
	}
	return keys, nil
}

func (i *storeIndex) values(name string) []string {
	ix, err := i.named(name)
	if err != nil {
		return []string{}
	}
	values := make([]string, 0, len(ix.keys))
	for value := range ix.keys {
		values = append(values, value)
	}
	return values
}
