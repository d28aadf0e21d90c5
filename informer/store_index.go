package informer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

// storeIndex is the indices of a store: for each index function, the keys by value. It needs the store's lock.
type storeIndex struct {
	indexers Indexers
	byName   map[string]map[string]keySet
	scratch  []indexChange // of update, reused
}

// indexChange is an index function's values for an object before and after.
type indexChange struct {
	name     string
	old, new []string
}

func newStoreIndex(indexers Indexers) storeIndex {
	return storeIndex{indexers: indexers, byName: map[string]map[string]keySet{}}
}

func (i *storeIndex) empty() bool { return len(i.indexers) == 0 }

// update moves key from where the old object was to where the new one belongs; nil stands for no object. All index
// functions run before anything changes, so one that fails, which panics (I71), leaves the indices whole.
func (i *storeIndex) update(key string, oldObj, newObj any) {
	if len(i.indexers) == 0 {
		return
	}
	i.scratch = i.scratch[:0]
	for name, fn := range i.indexers {
		before := i.valuesOf(name, fn, key, oldObj)
		after := i.valuesOf(name, fn, key, newObj)
		if len(before) == 1 && len(after) == 1 && before[0] == after[0] {
			continue // the usual case: one value, unchanged
		}
		i.scratch = append(i.scratch, indexChange{name, before, after})
	}
	for _, change := range i.scratch {
		i.apply(key, change)
	}
	clear(i.scratch)
}

func (i *storeIndex) valuesOf(name string, fn IndexFunc, key string, obj any) []string {
	if obj == nil {
		return nil
	}
	values, err := fn(obj)
	if err != nil {
		panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %v", key, name, err))
	}
	return values
}

func (i *storeIndex) apply(key string, change indexChange) {
	index := i.byName[change.name]
	if index == nil {
		index = map[string]keySet{}
		i.byName[change.name] = index
	}
	for _, value := range change.old {
		if set := index[value]; set != nil {
			delete(set, key)
			if len(set) == 0 {
				delete(index, value) // or values that come and go would pile up (I72)
			}
		}
	}
	for _, value := range change.new {
		set := index[value]
		if set == nil {
			set = keySet{}
			index[value] = set
		}
		set[key] = struct{}{}
	}
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
		return fmt.Errorf("indexer conflict: %s: an index of that name exists already", strings.Join(taken, ", "))
	}
	maps.Copy(i.indexers, added)
	for key, item := range items {
		for name, fn := range added {
			i.apply(key, indexChange{name: name, new: i.valuesOf(name, fn, key, item)})
		}
	}
	return nil
}

func (i *storeIndex) keysOf(name, value string) (keySet, error) {
	if i.indexers[name] == nil {
		return nil, errNoIndex(name)
	}
	return i.byName[name][value], nil
}

// keysLike returns the keys that share a value with obj.
func (i *storeIndex) keysLike(name string, obj any) (keySet, error) {
	fn := i.indexers[name]
	if fn == nil {
		return nil, errNoIndex(name)
	}
	values, err := fn(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return i.byName[name][values[0]], nil
	}
	keys := keySet{}
	for _, value := range values {
		maps.Copy(keys, i.byName[name][value])
	}
	return keys, nil
}

func (i *storeIndex) values(name string) []string {
	values := make([]string, 0, len(i.byName[name]))
	for value := range i.byName[name] {
		values = append(values, value)
	}
	return values
}

func errNoIndex(name string) error {
	return fmt.Errorf("Index with name %s does not exist", name) //nolint:staticcheck // client-go's text
}
