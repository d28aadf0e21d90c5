package library

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
		c.no("Replace", s.Replace(list, fmt.Sprint(revision)))
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

// mutated is one object as a server has it, and as far as its informer has seen it.
type mutated struct {
	written, earlier, seen *metav1.PartialObjectMetadata
	life                   int
}

// mutationCache writes objects, tells the cache of its own writes, and lets the informer's store follow. The cache has to give what was written or seen last.
func mutationCache(c *check) {
	backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "parts": func(obj any) ([]string, error) {
		o := obj.(*metav1.PartialObjectMetadata)
		return []string{"in " + o.Namespace, o.Name}, nil
	}})
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, time.Hour, true)
	c.inside("how long a mutation cache keeps what was written", time.Hour, s, "ttl")
	all, revision, step := map[string]*mutated{}, 8, 1+c.IntN(2)*255
	for _, key := range keys {
		all[key] = &mutated{}
	}
	for range 24 {
		key := c.key()
		o := all[key]
		switch c.IntN(5) {
		case 0, 1: // a write of one's own
			if o.written == nil {
				o.life++
			}
			o.earlier = o.written
			revision += step
			o.written = object(key, revision)
			o.written.UID = types.UID(fmt.Sprint(o.life))
			s.Mutation(o.written)
		case 2: // the informer follows
			if o.written != nil {
				if o.earlier != nil && o.seen != o.written && c.IntN(2) == 0 {
					o.seen = o.earlier
				} else {
					o.seen = o.written
				}
				c.no("Update", backing.Update(o.seen))
				s.OnAddOrUpdate(o.seen)
			}
		case 3: // somebody else's deletion, and one's own write of before it, which is told late
			if o.written != nil {
				late := o.written
				revision += step
				gone := object(key, revision)
				if o.seen != nil && c.IntN(2) == 0 {
					gone = o.seen.DeepCopy() // its final state is unknown
				}
				gone.UID = late.UID
				o.written, o.earlier, o.seen = nil, nil, nil
				c.no("Delete", backing.Delete(gone))
				s.OnDelete(gone)
				s.Mutation(late)
			}
		default: // somebody else's write, which the informer brings
			if o.written != nil {
				before := o.written
				o.earlier = nil
				revision += step
				o.written = object(key, revision)
				o.written.UID = before.UID
				o.seen = o.written
				c.no("Update", backing.Update(o.seen))
				if c.IntN(2) == 0 {
					s.OnAddOrUpdate(o.seen)
				}
				s.Mutation(before)
			}
		}
		c.newest(s, all, false)
	}
	c.newest(s, all, true)
	c.forgets(backing)
	c.expires()
	for range 4 {
		c.follows()
	}
	c.repeatedValue()
}

// fills writes one object more than a mutation cache keeps that was not told how many those are.
func (c *check) fills(backing cache.Indexer) {
	const most = 100
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, time.Hour, true)
	for n := range most + 1 {
		s.Mutation(object(fmt.Sprint("ns4/", n), n+1))
	}
	for n, want := range []bool{false, true} {
		_, exists, err := s.GetByKey(fmt.Sprint("ns4/", n))
		c.no("GetByKey", err)
		c.is(fmt.Sprintf("whether a mutation cache that has %d of %d objects has number %d", most, most+1, n+1), want, exists)
	}
}

// follows has a mutation cache follow what the informer of its store has seen, at the same version and at a later one, and tells it of the end of an object.
func (c *check) follows() {
	backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	options := cache.MutationCacheOptions{Indexer: backing, IncludeAdds: c.IntN(2) == 0, TTL: time.Hour}
	s := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), backing, options)
	c.inside("how long a mutation cache keeps what was written", time.Hour, s, "ttl")
	finds := func(when string, want *metav1.PartialObjectMetadata) {
		objs, err := s.ByIndex(cache.NamespaceIndex, "ns1")
		c.no("ByIndex", err)
		c.is("how many objects ByIndex finds"+when, map[bool]int{true: 1}[want != nil], len(objs))
		obj, exists, err := s.GetByKey("ns1/a") // upstream forgets what was written, unless the store has it (I118)
		c.no("GetByKey", err)
		c.is("whether GetByKey finds an object"+when, want != nil, exists)
		c.is("whether GetByKey finds the object"+when, true, want == nil || obj == any(want))
	}
	written := object("ns1/a", 5)
	s.Mutation(written)
	if options.IncludeAdds {
		finds(" that was written", written)
	} else {
		finds(" that was written, and is not to be added", nil)
	}
	s.Mutation(written)
	s.OnAddOrUpdate(object("ns1/a", 5+c.IntN(2)))
	finds(" that the informer has seen, and that was deleted since", nil)
	seen := object("ns1/a", 5)
	c.no("Add", backing.Add(seen))
	s.Mutation(written)
	finds(" at the same version", seen)
	newer := object("ns1/a", 6)
	s.Mutation(newer)
	s.Mutation(written)
	finds(" of which an older version was written", newer)
	c.no("Delete", backing.Delete(newer))
	s.OnDelete(newer)
	again := object("ns1/a", 6)
	again.UID = "another"
	s.Mutation(again)
	finds(" at the version of its end", nil)
	if options.IncludeAdds {
		again = object("ns1/a", 7)
		again.UID = "another"
		s.Mutation(again)
		s.OnDelete(newer)
		finds(" that was written after the end of the one before, which is told late", again)
	}
	unversioned, last := object("ns1/a", 0), object("ns1/a", 7)
	unversioned.ResourceVersion, unversioned.UID, last.UID = "", "a third", "a third"
	c.no("Add", backing.Add(unversioned))
	s.Mutation(last)
	s.Mutation(unversioned)
	finds(" of which something without a version was written, too", last)
}

// forgets fills a mutation cache with more than it keeps, or with what has no time to live.
func (c *check) forgets(backing cache.Indexer) {
	options := cache.MutationCacheOptions{Indexer: backing, IncludeAdds: true}
	from, call := 0, "a mutation cache with defaults"
	switch c.IntN(3) {
	case 0:
		options.MaxCacheSize = 1 + c.IntN(len(keys)-1)
		from, call = len(keys)-options.MaxCacheSize, fmt.Sprintf("a mutation cache of %d", options.MaxCacheSize)
	case 1:
		options.TTL = -time.Second
		from, call = len(keys), "a mutation cache whose TTL is over"
	default:
		c.fills(backing)
	}
	for _, key := range keys {
		c.no("Delete", backing.Delete(object(key, 200)))
	}
	s := cache.NewIntegerResourceVersionMutationCacheWithOptions(klog.Background(), backing, options)
	for _, key := range keys {
		s.Mutation(object(key, 201))
	}
	for n, key := range keys {
		_, exists, err := s.GetByKey(key)
		c.no("GetByKey", err)
		c.is("whether "+call+" has number "+fmt.Sprint(n+1), n >= from, exists)
	}
}

// newest compares a mutation cache with what was written. A key that the informer's store lacks is asked for at the end only: upstream forgets
// what was written when it is (I118).
func (c *check) newest(s cache.MutationCache, all map[string]*mutated, end bool) {
	m := model{}
	for _, key := range keys[:2] {
		m[key] = all[key].written
	}
	objs, err := s.ByIndex(cache.NamespaceIndex, "ns1")
	c.no("ByIndex", err)
	c.is("ByIndex of the namespace ns1", m.texts(), texts(objs))
	named := model{}
	for _, key := range []string{"ns1/a", "ns2/a"} {
		named[key] = all[key].written
	}
	objs, err = s.ByIndex("parts", "a")
	c.no("ByIndex", err)
	c.is("ByIndex of the name a, the second value of its index", named.texts(), texts(objs))
	for _, key := range keys {
		want := all[key].written
		if want != nil && all[key].seen == nil && !end {
			continue
		}
		obj, exists, err := s.GetByKey(key)
		c.no("GetByKey", err)
		c.found("GetByKey of "+key, want, obj, exists)
	}
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

// registrations are handlers of informers that have not started.
func registrations(c *check) {
	for range 6 {
		c.registration()
	}
	c.typedHandlers()
	over := errors.New("over")
	result := cache.SyncResult{Err: over, Synced: map[reflect.Type]bool{reflect.TypeFor[*metav1.PartialObjectMetadata](): false, reflect.TypeFor[*metav1.Status](): true}}
	c.is("AsError of a SyncResult", "failed to sync all caches: *v1.PartialObjectMetadata: over", message(result.AsError()))
	c.is("whether AsError of a SyncResult wraps its error", true, errors.Is(result.AsError(), over))
	c.is("AsError of a SyncResult without an error", "", message(cache.SyncResult{}.AsError()))
	c.runsAgain()
	c.shutsBusy()
	c.sameGeneration()
}

// foreign is the registration of a handler of something else.
type foreign struct {
	cache.ResourceEventHandlerRegistration
}

// removes is an informer that removes whatever it is asked to.
type removes struct{ cache.SharedInformer }

// RemoveEventHandler implements cache.SharedInformer.
func (removes) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error { return nil }

// removesNothing is an informer that refuses to remove a handler.
type removesNothing struct{ cache.SharedInformer }

// RemoveEventHandler implements cache.SharedInformer.
func (removesNothing) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error {
	return errRefused
}

// registration adds a handler, and removes it.
func (c *check) registration() {
	period, own := time.Duration(c.IntN(4))*5*time.Second, time.Duration(c.IntN(5))*400*time.Millisecond
	inf := cache.NewSharedIndexInformer(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, period, cache.Indexers{})
	reg, err := inf.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{}, own)
	c.no("AddEventHandler", err)
	want := max(own, time.Second) // I78
	if own == 0 || period == 0 {
		want = 0
	}
	c.inside(fmt.Sprintf("the resync period of a handler that asks for %v, of an informer that has %v", own, period), want, reg, "resyncPeriod")
	c.is("HasSynced of a handler", false, reg.HasSynced())
	c.is("HasSynced", false, inf.HasSynced())
	c.is("HasSynced of GetController", false, inf.GetController().HasSynced())
	c.is("LastSyncResourceVersion", "", inf.LastSyncResourceVersion())
	c.is("LastSyncResourceVersion of GetController", "", inf.GetController().LastSyncResourceVersion())
	c.is("IsStopped", false, inf.IsStopped())
	c.refused("RemoveEventHandler of nothing", inf.RemoveEventHandler(nil))
	var refusal error
	if c.returns("ShutDownEventHandler of a handler that is not removed", func() { refusal = cache.ShutDownEventHandler(removesNothing{inf}, reg) }) {
		c.is("whether ShutDownEventHandler says that a handler is not removed", true, errors.Is(refusal, errRefused))
	}
	running, _ := c.waits(func() { err = cache.ShutDownEventHandler(inf, reg) }, func() {})
	c.is("ShutDownEventHandler waits", false, running)
	c.refused("ShutDownEventHandler of what is no handler", cache.ShutDownEventHandler(inf, foreign{}))
	c.refused("ShutDownEventHandler of a handler that cannot say whether it is busy", cache.ShutDownEventHandler(removes{inf}, foreign{}))
	if !running {
		c.no("ShutDownEventHandler", err)
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
