package library

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

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
	c.writtenAgain()
	for range 4 {
		c.follows()
	}
	c.repeatedValue()
	c.unindexable()
	c.leavesMeanwhile()
	c.buried()
}

// losing is an Indexer that loses an object once it has named it.
type losing struct{ cache.Indexer }

// IndexKeys implements cache.Indexer.
func (x losing) IndexKeys(name, value string) ([]string, error) {
	keys, err := x.Indexer.IndexKeys(name, value)
	if err == nil {
		err = x.Indexer.Delete(object("ns1/a", 6))
	}
	return keys, err
}

// leavesMeanwhile deletes an object while ByIndex reads the others. What was written of it before is not what is left.
func (c *check) leavesMeanwhile() {
	backing := losing{cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, time.Hour, true)
	c.no("Add", backing.Add(object("ns1/a", 4)))
	c.no("Add", backing.Add(object("ns1/b", 4)))
	s.Mutation(object("ns1/a", 5))
	found, err := s.ByIndex(cache.NamespaceIndex, "ns1")
	c.no("ByIndex", err)
	want := []string{"ns1/b@4"}
	if c.minor >= 38 { // what is not in the index is taken from the cache
		want = []string{"ns1/a@5", "ns1/b@4"}
	}
	c.is("what ByIndex finds beside an object that is deleted meanwhile", want, texts(found))
}

// unindexable writes an object of which an index function knows nothing to say: the others are found.
func (c *check) unindexable() {
	backing := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"even": func(obj any) ([]string, error) {
		if o := obj.(*metav1.PartialObjectMetadata); o.ResourceVersion == "7" {
			return nil, errNoNetwork
		}
		return []string{"yes"}, nil
	}})
	s := cache.NewIntegerResourceVersionMutationCache(klog.Background(), backing, backing, time.Hour, true)
	for n, key := range []string{"ns1/a", "ns1/b", "ns2/a"} {
		s.Mutation(object(key, 6+n))
	}
	found, err := s.ByIndex("even", "yes")
	c.no("ByIndex", err)
	c.is("what ByIndex finds beside an object for which its function fails", []string{"ns1/a@6", "ns2/a@8"}, sorted(texts(found)))
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
	c.no("Delete", backing.Delete(seen))
	finds(" that the store had at the same version, and has lost since", nil)
	c.no("Add", backing.Add(seen))
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
