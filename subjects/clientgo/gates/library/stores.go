package library

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// change makes a random change of a store and of its model.
func (c *check) change(s cache.Store, m model, revision int) {
	key := c.key()
	obj := object(key, revision)
	switch c.IntN(5) {
	case 0:
		c.no("Delete", s.Delete(obj))
		delete(m, key)
	case 1:
		clear(m)
		var list []any
		for _, key := range keys[c.IntN(len(keys)+1):] {
			m[key] = object(key, revision)
			list = append(list, m[key])
		}
		if m[key] != nil && c.IntN(2) == 0 {
			list = slices.Insert(list, 0, any(object(key, revision-1))) // the later one counts
		}
		before := texts(list)
		c.no("Replace", s.Replace(list, fmt.Sprint(revision)))
		c.is("what Replace was given, when it has returned", before, texts(list))
	case 2:
		c.no("Update", s.Update(obj))
		m[key] = obj
	default:
		c.no("Add", s.Add(obj))
		m[key] = obj
	}
}

// holds compares a store with its model.
func (c *check) holds(when string, s cache.Store, m model) {
	c.is("List"+when, m.texts(), texts(s.List()))
	c.is("ListKeys"+when, m.keys(), sorted(s.ListKeys()))
	for _, key := range keys {
		want := m[key]
		obj, exists, err := s.GetByKey(key)
		c.no("GetByKey", err)
		c.found("GetByKey of "+key+when, want, obj, exists)
		obj, exists, err = s.Get(object(key, 0))
		c.no("Get", err)
		c.found("Get of "+key+when, want, obj, exists)
	}
}

// found compares what was found with what there is.
func (c *check) found(call string, want *metav1.PartialObjectMetadata, obj any, exists bool) {
	c.is(call+": it exists", want != nil, exists)
	if want != nil && exists {
		c.is(call, text(want), text(obj))
	}
}

// unversioned has an object come after another one of the same revision, or of none: a store has the later one, under the later one's values.
func (c *check) unversioned() {
	s := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": func(obj any) ([]string, error) {
		return []string{obj.(*metav1.PartialObjectMetadata).Labels["app"]}, nil
	}})
	revision := []string{"", "7"}[c.IntN(2)]
	for _, app := range []string{"x", "y"} {
		obj := object("ns1/a", 7)
		obj.ResourceVersion, obj.Labels = revision, map[string]string{"app": app}
		c.no("Update", []func(any) error{s.Add, s.Update}[c.IntN(2)](obj))
	}
	listed := []string{}
	for _, obj := range s.List() {
		listed = append(listed, obj.(*metav1.PartialObjectMetadata).Labels["app"])
	}
	c.is("what a store has of two objects of one revision", []string{"y"}, listed)
	c.is("ListIndexFuncValues after two objects of one revision", []string{"y"}, s.ListIndexFuncValues("app"))
}

func sorted(texts []string) []string {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	return texts
}

// ahead is a clock that is ahead of the bubble's, in which no time passes meanwhile.
type ahead struct {
	clock.RealClock
	by time.Duration
}

// Now implements clock.Clock.
func (a *ahead) Now() time.Time { return a.RealClock.Now().Add(a.by) }

// Since implements clock.Clock.
func (a *ahead) Since(t time.Time) time.Duration { return a.Now().Sub(t) }

func expirationCache(c *check) {
	later, ttl, m := &ahead{}, time.Minute, model{}
	s := cache.NewExpirationStore(cache.MetaNamespaceKeyFunc, &cache.TTLPolicy{TTL: ttl, Clock: later})
	for n := range 8 {
		c.change(s, m, n+1)
		c.holds("", s, m)
	}
	later.by = ttl
	c.holds(" after the TTL", s, m)
	later.by++
	held := m.keys()
	c.is("ListKeys behind the TTL, before anything was asked for", held, sorted(s.ListKeys()))
	for _, key := range keys {
		_, exists, _ := s.GetByKey(key)
		c.is("GetByKey of "+key+" behind the TTL: it exists", false, exists)
	}
	c.is(fmt.Sprintf("ListKeys behind the TTL, once %v were asked for", held), []string{}, sorted(s.ListKeys()))
	for _, key := range keys {
		c.no("Add", s.Add(object(key, 100)))
	}
	later.by += ttl
	c.is("List behind the TTL", []string{}, texts(s.List()))
	young := c.key()
	for _, key := range keys {
		c.no("Add", s.Add(object(key, 101)))
	}
	time.Sleep(time.Nanosecond) // the store has a clock of its own
	c.no("Update", s.Update(object(young, 102)))
	later.by = 0
	for _, key := range keys { // to be read makes nothing young
		_, exists, _ := s.GetByKey(key)
		c.is("GetByKey of "+key+" within the TTL: it exists", true, exists)
	}
	later.by = ttl
	c.is("List behind the TTL of all but one that was updated", []string{text(object(young, 102))}, texts(s.List()))
	c.renewed(ttl)
	for n, forever := range []cache.Store{
		cache.NewTTLStore(cache.MetaNamespaceKeyFunc, 0),
		cache.NewExpirationStore(cache.MetaNamespaceKeyFunc, &cache.TTLPolicy{Clock: later}),
	} {
		clear(m)
		c.change(forever, m, n+1)
		later.by += time.Hour
		c.holds(" without a TTL", forever, m)
	}
	plain := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, of := range []cache.Store{plain, s} {
		of.Bookmark("200")
	}
	c.is("LastStoreSyncResourceVersion after Bookmark", plain.LastStoreSyncResourceVersion(), s.LastStoreSyncResourceVersion())
	for _, of := range []cache.Store{plain, s} {
		c.no("Replace", of.Replace(nil, "300"))
	}
	c.is("LastStoreSyncResourceVersion after Replace", plain.LastStoreSyncResourceVersion(), s.LastStoreSyncResourceVersion())
	for _, of := range []cache.Store{plain, s} {
		c.no("Delete", of.Delete(object("c", 400)))
	}
	c.is("LastStoreSyncResourceVersion after Delete", plain.LastStoreSyncResourceVersion(), s.LastStoreSyncResourceVersion())
	c.listed(ttl)
	c.stamped()
	c.renewedInRead()
}

func undeltaStore(c *check) {
	var pushed [][]string
	m := model{}
	s := cache.NewUndeltaStore(func(objs []any) { pushed = append(pushed, texts(objs)) }, cache.MetaNamespaceKeyFunc)
	for n := range 10 {
		c.change(s, m, n+1)
		c.is("what it pushes", [][]string{m.texts()}, pushed)
		pushed = nil
	}
	c.holds("", s, m)
}

// stores are those with a transform, and what typed readers and IndexKeys make of an Indexer.
func stores(c *check) {
	transformed := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.WithTransformer(func(obj any) (any, error) {
		o := obj.(*metav1.PartialObjectMetadata).DeepCopy()
		o.ResourceVersion += "0"
		return o, nil
	}))
	plain, as := model{}, model{}
	for n := range 6 {
		c.change(transformed, plain, n+1)
		clear(as)
		for _, key := range plain.keys() {
			as[key] = plain[key].DeepCopy()
			as[key].ResourceVersion += "0"
		}
		c.holds(" with a transform", transformed, as)
	}

	type T = *metav1.PartialObjectMetadata
	inf := cache.NewTypedSharedIndexInformer[T](cache.NewSharedIndexInformer(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
	x, m := inf.GetTypedIndexer(), model{}
	if c.IntN(2) == 0 {
		c.no("AddTypedIndexers of the informer", inf.AddTypedIndexers(cache.TypedIndexers[T]{"name": func(o T) ([]string, error) { return []string{o.Name}, nil }}))
	} else {
		c.no("AddTypedIndexers", x.AddTypedIndexers(cache.TypedIndexers[T]{"name": func(o T) ([]string, error) { return []string{o.Name}, nil }}))
	}
	for n := range 6 {
		c.change(x, m, n+1)
	}
	c.holds(" of an informer", x, m)
	c.typed(x, m, "name", func(o T) string { return o.Name })
	c.typed(x, m, cache.NamespaceIndex, func(o T) string { return o.Namespace })
	_, err := x.ByTypedIndex("absent", "")
	c.refused("ByTypedIndex of an index that there is not", err)
	_, err = x.TypedIndex("absent", object("c", 1))
	c.refused("TypedIndex of an index that there is not", err)
	c.listers()
	c.renames()
	c.indices()
	c.manyObjects()
	c.typedIndices()
}

// typed compares an index with what its function makes of the model.
func (c *check) typed(x cache.TypedIndexer[*metav1.PartialObjectMetadata], m model, index string, value func(*metav1.PartialObjectMetadata) string) {
	for _, of := range []string{"ns1", "ns2", "a", "b", "c", "absent", ""} {
		under := model{}
		for _, key := range m.keys() {
			if value(m[key]) == of {
				under[key] = m[key]
			}
		}
		objs, err := x.ByTypedIndex(index, of)
		c.no("ByTypedIndex", err)
		c.is("ByTypedIndex "+index+" with "+of, under.texts(), texts(objs))
		found, err := x.IndexKeys(index, of)
		c.no("IndexKeys", err)
		c.is("IndexKeys "+index+" with "+of, under.keys(), sorted(found))
		for _, obj := range under.objects() {
			objs, err := x.TypedIndex(index, obj)
			c.no("TypedIndex", err)
			c.is("TypedIndex "+index+" with "+text(obj), under.texts(), texts(objs))
		}
	}
}

// writtenAgain has a mutation cache keep for longer what is written a second time, at the same version or at the next.
func (c *check) writtenAgain() {
	backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, 3*time.Nanosecond, c.IntN(2) == 0)
	c.no("Add", backing.Add(object("c", 1)))
	again := object("c", 2+c.IntN(2))
	s.Mutation(object("c", 2))
	for n, want := range []string{"c@2", text(again), "c@1"} {
		time.Sleep(2 * time.Nanosecond)
		got, _, err := s.GetByKey("c")
		c.no("GetByKey of a mutation cache", err)
		c.is("GetByKey of a mutation cache that keeps writes for 3 ns, of which there was one, another 2 ns later, and none 4 ns later", want, text(got))
		if n == 0 {
			s.Mutation(again)
		}
	}
}

// expires has a mutation cache forget a write in time, though it is read meanwhile.
func (c *check) expires() {
	backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, 3*time.Nanosecond, c.IntN(2) == 0)
	c.no("Add", backing.Add(object("c", 1)))
	s.Mutation(object("c", 2))
	for _, want := range []string{"c@2", "c@1"} {
		time.Sleep(2 * time.Nanosecond)
		got, _, err := s.GetByKey("c")
		c.no("GetByKey of a mutation cache", err)
		c.is("GetByKey of a mutation cache that keeps writes for 3 ns, after 2 ns each time", want, text(got))
	}
}
