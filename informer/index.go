package informer

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// itemList is a set of items that tracks whether it is in key order. Adding and removing are O(1); readers call sort to
// restore the order.
type itemList struct {
	items    []*item
	unsorted bool
}

func (l *itemList) add(it *item) (pos int32) {
	if n := len(l.items); n > 0 && l.items[n-1].key > it.key {
		l.unsorted = true
	}
	l.items = append(l.items, it)
	return int32(len(l.items) - 1)
}

// removeAt removes the item at pos and returns the one that took its place, if any.
func (l *itemList) removeAt(pos int32) (moved *item) {
	last := int32(len(l.items) - 1)
	if pos != last {
		moved = l.items[last]
		l.items[pos] = moved
		l.unsorted = true
	}
	l.items[last] = nil
	l.items = l.items[:last]
	return moved
}

// sort reports whether positions changed.
func (l *itemList) sort() bool {
	if !l.unsorted {
		return false
	}
	slices.SortFunc(l.items, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
	l.unsorted = false
	return true
}

func objectsOf(items []*item) []any {
	list := make([]any, len(items))
	for i, it := range items {
		list[i] = it.obj
	}
	return list
}

func keysOf(items []*item) []string {
	list := make([]string, len(items))
	for i, it := range items {
		list[i] = it.key
	}
	return list
}

// index is one index function and its items by value.
type index struct {
	name    string
	fn      cache.IndexFunc
	buckets map[string]*bucket
	// byNamespace is set if fn is cache.MetaNamespaceIndexFunc, which nearly every informer has. A stored object never
	// changes its namespace, so its updates skip the call and the slice it returns.
	byNamespace bool
}

// isNamespaceIndex compares code pointers: functions have no other identity.
func isNamespaceIndex(fn cache.IndexFunc) bool {
	return fn != nil && reflect.ValueOf(fn).Pointer() == reflect.ValueOf(cache.MetaNamespaceIndexFunc).Pointer()
}

// bucket holds the items of one value of one index. An empty bucket is removed from its index (I72).
type bucket struct {
	of    *index
	value string
	list  itemList
}

// indexRef is an item's membership in a bucket.
type indexRef struct {
	bucket *bucket
	pos    int32
}

// refs returns the number of the item's memberships.
func (it *item) refs() int {
	switch {
	case it.first.bucket == nil:
		return 0
	case it.more == nil:
		return 1
	}
	return 1 + len(*it.more)
}

func (it *item) ref(i int) *indexRef {
	if i == 0 {
		return &it.first
	}
	return &(*it.more)[i-1]
}

// leaveAll ends all memberships.
func (it *item) leaveAll() {
	for i := range it.refs() {
		it.ref(i).leave()
	}
	it.first, it.more = indexRef{}, nil
}

func (i *index) join(it *item, value string) indexRef {
	b := i.buckets[value]
	if b == nil {
		b = &bucket{of: i, value: value}
		i.buckets[value] = b
	}
	return indexRef{bucket: b, pos: b.list.add(it)}
}

func (r *indexRef) leave() {
	b := r.bucket
	if moved := b.list.removeAt(r.pos); moved != nil {
		moved.refTo(b).pos = r.pos
	}
	if len(b.list.items) == 0 {
		delete(b.of.buckets, b.value)
	}
}

// refTo returns the item's membership in b. An item has only a handful, so a scan is fastest.
func (it *item) refTo(b *bucket) *indexRef {
	for i := range it.refs() {
		if r := it.ref(i); r.bucket == b {
			return r
		}
	}
	return nil
}

// sorted returns the bucket's items in key order.
func (b *bucket) sorted() []*item {
	if b.list.sort() {
		for i, it := range b.list.items {
			it.refTo(b).pos = int32(i)
		}
	}
	return b.list.items
}

func (x *Indexer) addIndexes(added cache.Indexers) {
	for _, name := range slices.Sorted(maps.Keys(added)) {
		x.indexers[name] = added[name]
		x.indexes = append(x.indexes, &index{
			name:        name,
			fn:          added[name],
			buckets:     map[string]*bucket{},
			byNamespace: isNamespaceIndex(added[name]),
		})
	}
	slices.SortFunc(x.indexes, func(a, b *index) int { return cmp.Compare(a.name, b.name) })
	x.values = make([][]string, len(x.indexes))
}

// staysInNamespace reports whether the only index is by namespace and metadata m leaves the item in the same bucket.
func (x *Indexer) staysInNamespace(it *item, m metav1.Object) bool {
	return m != nil && len(x.indexes) == 1 && x.indexes[0].byNamespace && it.first.bucket != nil && it.more == nil &&
		m.GetNamespace() == it.first.bucket.value
}

// reindex moves it to the index values of obj. All functions run before anything changes, so a failing one leaves the
// indices intact (k43605).
func (x *Indexer) reindex(it *item, obj any) {
	same, have := true, it.refs()
	next := 0 // first ref of the current index: refs are grouped by index
	for i, ix := range x.indexes {
		values := x.valuesOf(ix, it.key, obj)
		x.values[i] = values
		var b *bucket
		if next < have {
			b = it.ref(next).bucket
		}
		if len(values) == 1 && b != nil && b.of == ix && b.value == values[0] {
			next++
			continue
		}
		same = same && len(values) == 0 && (b == nil || b.of != ix)
	}
	if !same || next != have {
		x.rejoin(it)
	}
	clear(x.values)
}

func (x *Indexer) valuesOf(ix *index, key string, obj any) []string {
	if obj == nil {
		return nil
	}
	values, err := ix.fn(obj)
	if err != nil {
		panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %v", key, ix.name, err))
	}
	return values
}

// rejoin replaces the memberships of it with those in x.values.
func (x *Indexer) rejoin(it *item) {
	it.leaveAll()
	n := 0
	for _, values := range x.values {
		n += len(values)
	}
	// A new slice, sized to fit: the old one may be longer than this object ever needs again.
	more := make([]indexRef, 0, max(n-1, 0))
	for i, values := range x.values {
		ix := x.indexes[i]
		for j, value := range values {
			switch {
			case slices.Contains(values[:j], value): // an index function may repeat a value
			case it.first.bucket == nil:
				it.first = ix.join(it, value)
			default:
				more = append(more, ix.join(it, value))
			}
		}
	}
	if len(more) > 0 {
		others := more // allocated only when there is more than one membership
		it.more = &others
	}
}

func (x *Indexer) indexNamed(name string) (*index, error) {
	for _, ix := range x.indexes {
		if ix.name == name {
			return ix, nil
		}
	}
	return nil, fmt.Errorf("Index with name %s does not exist", name) //nolint:staticcheck // client-go's text
}

func (i *index) itemsOf(value string) []*item {
	if b := i.buckets[value]; b != nil {
		return b.sorted()
	}
	return nil
}

// Index returns, in ascending key order, the objects that share a value of the named index with obj.
func (x *Indexer) Index(name string, obj any) ([]any, error) {
	ix, err := x.indexNamed(name)
	if err != nil {
		return nil, err
	}
	values, err := ix.fn(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return objectsOf(ix.itemsOf(values[0])), nil
	}
	var found []*item
	for _, value := range values {
		found = append(found, ix.itemsOf(value)...)
	}
	slices.SortFunc(found, func(a, b *item) int { return cmp.Compare(a.key, b.key) })
	return objectsOf(slices.Compact(found)), nil
}

// ByIndex returns, in ascending key order, the objects that have value in the named index.
func (x *Indexer) ByIndex(name, value string) ([]any, error) {
	ix, err := x.indexNamed(name)
	if err != nil {
		return nil, err
	}
	return objectsOf(ix.itemsOf(value)), nil
}

// IndexKeys returns, in ascending order, the keys of the objects that have value in the named index (I74).
func (x *Indexer) IndexKeys(name, value string) ([]string, error) {
	ix, err := x.indexNamed(name)
	if err != nil {
		return nil, err
	}
	return keysOf(ix.itemsOf(value)), nil
}

// ListIndexFuncValues returns the values of the named index in ascending order, or none if it does not exist.
func (x *Indexer) ListIndexFuncValues(name string) []string {
	ix, err := x.indexNamed(name)
	if err != nil {
		return []string{}
	}
	values := make([]string, 0, len(ix.buckets))
	for value := range ix.buckets { // order: sorted below
		values = append(values, value)
	}
	slices.Sort(values)
	return values
}
