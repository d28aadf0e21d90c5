package fakeapiserver

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DefaultFirstRevision is the revision of the first write unless told otherwise: far enough from 1 that a client that asks
// for resourceVersion 1 asks for something before history.
const DefaultFirstRevision = 1001

// StoreOptions configure a Store. The zero value works.
type StoreOptions struct {
	// FirstRevision is the revision that the first write gets, DefaultFirstRevision if not positive. Below 2 the list of
	// an empty Store has the resourceVersion "0", which means something else to clients.
	FirstRevision int64
	// Seed goes into uids.
	Seed uint64
	// Now stamps creationTimestamp. nil leaves it unset.
	Now func() time.Time
}

// Store is the cluster's one truth, as etcd is: a revision that every write raises by one over all resources together
// (S1), the state at each revision since the last compaction, and a log per resource. Objects are immutable once
// committed: whoever commits one gives it up.
//
// Reading an old revision copies nothing: the versions of a key form a chain, and a reader takes the newest that is not too
// new.
type Store struct {
	revision  int64
	compacted int64 // the oldest revision that can be read (S11)
	timelines []*timeline
	resources []*Resource
	seed      uint64
	now       func() time.Time
	printer   revisionPrinter
	mintedAt  int64  // the revision at which minted counts
	minted    uint64 // how many uids were minted at it
	memos     bool   // versions get one
	// floor tells how far back a resource must be kept for readers that are not bound by compaction: watch caches.
	floor func(ResourceID) int64
}

// NewStore returns an empty Store.
func NewStore(o StoreOptions) *Store {
	if o.FirstRevision <= 0 {
		o.FirstRevision = DefaultFirstRevision
	}
	return &Store{revision: o.FirstRevision - 1, compacted: o.FirstRevision - 1, seed: o.Seed, now: o.Now}
}

// Revision is the revision of the last write.
func (s *Store) Revision() int64 { return s.revision }

// Compacted is the revision of the last compaction: the oldest that can still be read.
func (s *Store) Compacted() int64 { return s.compacted }

// AddResource makes room for a resource. Ids count from 0.
func (s *Store) AddResource(r Resource) (ResourceID, error) {
	if err := r.validate(); err != nil {
		return 0, err
	}
	for _, have := range s.resources {
		if have.GroupResource() == r.GroupResource() {
			return 0, fmt.Errorf("fakeapiserver: resource %s is there already", r.GroupResource())
		}
	}
	s.resources = append(s.resources, &r)
	t := newTimeline(r.Plural)
	t.memos = s.memos
	s.timelines = append(s.timelines, t)
	return ResourceID(len(s.resources) - 1), nil
}

// Redefine changes what is known of a resource. Its group and plural name stay, and its objects, in whatever version they are.
func (s *Store) Redefine(id ResourceID, r Resource) error {
	if err := r.validate(); err != nil {
		return err
	}
	if int(id) >= len(s.resources) || s.resources[id].GroupResource() != r.GroupResource() {
		return fmt.Errorf("fakeapiserver: resource %d is not %s", id, r.GroupResource())
	}
	s.resources[id] = &r
	return nil
}

// Resource describes a resource; nil if the id is not one of this Store.
func (s *Store) Resource(id ResourceID) *Resource {
	if int(id) >= len(s.resources) {
		return nil
	}
	return s.resources[id]
}

// SkipTo makes the next write have revision rev, as if others had written meanwhile: imported histories keep their
// resourceVersions.
func (s *Store) SkipTo(rev int64) error {
	if rev <= s.revision {
		return fmt.Errorf("fakeapiserver: cannot write at revision %d: the store is at %d already", rev, s.revision)
	}
	if rev == math.MaxInt64 {
		return fmt.Errorf("fakeapiserver: revision %d leaves no room for another write", rev)
	}
	s.revision = rev - 1
	return nil
}

// Committed is what a write did.
type Committed struct {
	Revision int64
	Key      string         // "namespace/name", or "name"
	Display  string         // "<plural> <key>"
	Object   runtime.Object // the new state; of a deletion, the last state with the deletion's resourceVersion
	Old      runtime.Object // the state before; nil of a creation
	Deleted  bool
}

func (c *Committed) from(v *version) {
	*c = Committed{Revision: v.rev, Key: v.entry.key, Display: v.entry.display, Object: v.obj, Deleted: v.deleted}
	if old := v.before(); old != nil {
		c.Old = old.obj
	}
}

func (s *Store) timeline(id ResourceID) (*timeline, error) {
	if int(id) >= len(s.timelines) {
		return nil, fmt.Errorf("fakeapiserver: there is no resource %d", id)
	}
	return s.timelines[id], nil
}

// check says whether a resource can hold an object of that namespace and name.
func (s *Store) check(id ResourceID, namespace, name string) error {
	r := s.resources[id]
	switch {
	case name == "":
		return fmt.Errorf("fakeapiserver: an object of %s has no name", r.Plural)
	case r.Namespaced && namespace == "":
		return fmt.Errorf("fakeapiserver: %s are namespaced, but %q has no namespace", r.Plural, name)
	case !r.Namespaced && namespace != "":
		return fmt.Errorf("fakeapiserver: %s are cluster scoped, but %q has namespace %q", r.Plural, name, namespace)
	}
	return nil
}

// Put commits an object: creates its key or replaces the state of it. It checks nothing of the API's rules (see Cluster for
// those). The object belongs to the Store from then on, which stamps its resourceVersion and, if it is created, uid and
// creationTimestamp where they are unset.
func (s *Store) Put(id ResourceID, obj runtime.Object) (Committed, error) {
	t, err := s.timeline(id)
	if err != nil {
		return Committed{}, err
	}
	m, err := objectMeta(obj)
	if err != nil {
		return Committed{}, err
	}
	e := t.find(m.GetNamespace(), m.GetName())
	if e == nil {
		if err := s.check(id, m.GetNamespace(), m.GetName()); err != nil {
			return Committed{}, err
		}
		e = t.add(string(t.scratch))
	}
	var c Committed
	c.from(s.put(t, e, obj, m))
	return c, nil
}

func (s *Store) put(t *timeline, e *entry, obj runtime.Object, m metav1.Object) *version {
	s.revision++
	rev := s.revision
	createRev := rev
	if last := e.newest; last != nil && !last.deleted {
		createRev = last.createRev
	}
	m.SetResourceVersion(s.printer.print(rev))
	if createRev == rev {
		if m.GetUID() == "" {
			m.SetUID(seededUID(s.seed, rev))
		}
		if created := m.GetCreationTimestamp(); s.now != nil && created.IsZero() {
			// The API knows whole seconds.
			m.SetCreationTimestamp(metav1.NewTime(s.now().Truncate(time.Second)))
		}
	}
	return t.append(e, rev, createRev, obj, false)
}

// Delete commits the deletion of a key; ok is false, and nothing is written, if it does not exist.
func (s *Store) Delete(id ResourceID, namespace, name string) (c Committed, ok bool, err error) {
	t, err := s.timeline(id)
	if err != nil {
		return Committed{}, false, err
	}
	e := t.find(namespace, name)
	if e == nil || e.newest == nil || e.newest.deleted {
		return Committed{}, false, nil
	}
	c.from(s.remove(t, e, e.newest.obj))
	return c, true, nil
}

// remove commits a deletion whose last state is obj.
func (s *Store) remove(t *timeline, e *entry, obj runtime.Object) *version {
	s.revision++
	return t.append(e, s.revision, e.newest.createRev, s.printer.withRevision(obj, s.revision), true)
}

// Get is the newest state of a key and the revision of it; nil if it does not exist.
func (s *Store) Get(id ResourceID, namespace, name string) (runtime.Object, int64) {
	t, err := s.timeline(id)
	if err != nil {
		return nil, 0
	}
	e := t.find(namespace, name)
	if e == nil || e.newest == nil || e.newest.deleted {
		return nil, 0
	}
	return e.newest.obj, e.newest.rev
}

// Walk visits the objects that existed at a revision in the order of keys, until visit returns false. It fails if the
// revision was compacted or is yet to come.
func (s *Store) Walk(id ResourceID, rev int64, namespace string, visit func(key string, obj runtime.Object) bool) error {
	t, err := s.timeline(id)
	if err != nil {
		return err
	}
	if rev < s.compacted {
		return fmt.Errorf("fakeapiserver: revision %d was compacted; the oldest readable one is %d", rev, s.compacted)
	}
	if rev > s.revision {
		return fmt.Errorf("fakeapiserver: revision %d is in the future; the store is at %d", rev, s.revision)
	}
	t.walk(rev, namespace, "", func(v *version) bool { return visit(v.entry.key, v.obj) })
	return nil
}

// Changes visits the writes of a resource after a revision in the order of revisions, until visit returns false. It fails
// if the revision was compacted.
func (s *Store) Changes(id ResourceID, after int64, visit func(Committed) bool) error {
	t, err := s.timeline(id)
	if err != nil {
		return err
	}
	if after < s.compacted {
		return fmt.Errorf("fakeapiserver: revision %d was compacted; the oldest one to follow from is %d", after, s.compacted)
	}
	for pos := t.log.after(after); pos < t.log.end(); pos++ {
		var c Committed
		if c.from(t.log.at(pos)); !visit(c) {
			break
		}
	}
	return nil
}
