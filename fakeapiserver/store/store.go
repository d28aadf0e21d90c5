package store

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DefaultFirstRevision is the default revision of the first write: far enough from 1 that a request at resourceVersion 1 is
// one from before all history.
const DefaultFirstRevision = 1001

// Options configure a Store. The zero value works.
type Options struct {
	// FirstRevision is the revision of the first write, DefaultFirstRevision if not positive. If it is below 2, the list of
	// an empty Store has the resourceVersion "0", which in a request means any.
	FirstRevision int64
	// Seed goes into uids.
	Seed uint64
	// Now stamps creationTimestamp. nil leaves it unset.
	Now func() time.Time
	// Floor returns the oldest revision of a resource that readers not bound by compaction, watch caches, still need. nil means
	// that there are no such readers.
	Floor func(ResourceID) int64
}

// Store is the cluster's source of truth, as etcd is: one revision for all resources, which every write increments (S1), the
// state at each revision since the last compaction, and a log per resource. Objects are immutable once committed, and belong
// to the Store.
//
// Reading an old revision copies nothing: the versions of a key form a chain, and a reader takes the newest one that is not
// newer than its revision.
type Store struct {
	revision  int64
	compacted int64 // the oldest revision that can be read (S11)
	timelines []*Timeline
	resources []*Resource
	seed      uint64
	now       func() time.Time
	printer   revisionPrinter
	mintedAt  int64  // the revision at which minted counts
	minted    uint64 // how many uids were minted at it
	memos     bool   // new versions get a memo
	floor     func(ResourceID) int64
	journal   Journal // nil for none
}

// New returns an empty Store.
func New(o Options) *Store {
	if o.FirstRevision <= 0 {
		o.FirstRevision = DefaultFirstRevision
	}
	return &Store{revision: o.FirstRevision - 1, compacted: o.FirstRevision - 1, seed: o.Seed, now: o.Now, floor: o.Floor}
}

// Revision returns the revision of the last write.
func (s *Store) Revision() int64 { return s.revision }

// Compacted returns the revision of the last compaction: the oldest one that can still be read.
func (s *Store) Compacted() int64 { return s.compacted }

// AddResource adds a resource. Ids count from 0.
func (s *Store) AddResource(r Resource) (ResourceID, error) {
	if err := r.validate(); err != nil {
		return 0, err
	}
	for _, have := range s.resources {
		if have.GroupResource() == r.GroupResource() {
			return 0, fmt.Errorf("fakeapiserver: resource %s exists already", r.GroupResource())
		}
	}
	s.resources = append(s.resources, &r)
	t := newTimeline(r.Plural)
	t.memos = s.memos
	s.timelines = append(s.timelines, t)
	return ResourceID(len(s.resources) - 1), nil
}

// Redefine replaces the definition of a resource. Its group, plural name and objects stay, whatever version those are in.
func (s *Store) Redefine(id ResourceID, r Resource) error {
	if err := r.validate(); err != nil {
		return err
	}
	if int(id) >= len(s.resources) || s.resources[id].GroupResource() != r.GroupResource() {
		return fmt.Errorf("fakeapiserver: resource %d is not %s: a redefinition cannot change group or plural", id, r.GroupResource())
	}
	s.resources[id] = &r
	return nil
}

// Resource returns the definition of a resource; nil if the id is unknown.
func (s *Store) Resource(id ResourceID) *Resource {
	if int(id) >= len(s.resources) {
		return nil
	}
	return s.resources[id]
}

// Resources returns the definitions of all resources, in the order of their ids. The slice is shared: it must not be changed.
func (s *Store) Resources() []*Resource { return s.resources }

// SkipTo gives the next write revision rev, as if others had written meanwhile: imported histories keep their
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

// Timeline returns the resource's current history; nil if the id is unknown.
func (s *Store) Timeline(id ResourceID) *Timeline {
	if int(id) >= len(s.timelines) {
		return nil
	}
	return s.timelines[id]
}

func (s *Store) timeline(id ResourceID) (*Timeline, error) {
	if int(id) >= len(s.timelines) {
		return nil, fmt.Errorf("fakeapiserver: there is no resource %d", id)
	}
	return s.timelines[id], nil
}

// validateName fails if a resource cannot hold an object of that namespace and name.
func (s *Store) validateName(id ResourceID, namespace, name string) error {
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

// Put commits an object: it creates the key or replaces its state, without the API's checks (Cluster has those). The Store owns
// the object from then on; it stamps the resourceVersion and, on creation, uid and creationTimestamp where they are unset.
func (s *Store) Put(id ResourceID, obj runtime.Object) (Committed, error) {
	t, err := s.timeline(id)
	if err != nil {
		return Committed{}, err
	}
	m, err := Meta(obj)
	if err != nil {
		return Committed{}, err
	}
	v, err := s.Commit(id, t.find(m.GetNamespace(), m.GetName()), obj, m)
	if err != nil {
		return Committed{}, err
	}
	return v.Committed(), nil
}

// Find looks a key up; nil if it is unknown. A deleted key may stay known while its history is retained.
func (s *Store) Find(id ResourceID, namespace, name string) *Entry {
	if int(id) >= len(s.timelines) {
		return nil
	}
	return s.timelines[id].find(namespace, name)
}

// Commit is Put for a caller that has already looked up the key and the metadata of obj; a nil key is a new one. It fails if the key
// is invalid or the journal refuses the write; obj may have been stamped by then.
func (s *Store) Commit(id ResourceID, e *Entry, obj runtime.Object, m metav1.Object) (*Version, error) {
	t := s.timelines[id]
	var display, key string
	if e != nil {
		key = e.key
	} else {
		if err := s.validateName(id, m.GetNamespace(), m.GetName()); err != nil {
			return nil, err
		}
		display = t.displayOf(m)
		key = display[len(t.plural)+1:]
	}
	rev := s.revision + 1
	createRev := rev
	if live := e.Live(); live != nil {
		createRev = live.createRev
	}
	m.SetResourceVersion(s.printer.print(rev))
	if createRev == rev {
		if m.GetUID() == "" {
			m.SetUID(seededUID(s.seed, rev))
		}
		if created := m.GetCreationTimestamp(); s.now != nil && created.IsZero() {
			// The API has whole seconds only.
			m.SetCreationTimestamp(metav1.NewTime(s.now().Truncate(time.Second)))
		}
	}
	if s.journal != nil {
		if err := s.journal.Write(id, key, rev, obj); err != nil {
			return nil, err
		}
	}
	if e == nil {
		e = t.add(display)
	}
	s.revision = rev
	return t.append(e, rev, createRev, obj, false), nil
}

// Delete commits the deletion of a key; ok is false, and nothing is written, if it does not exist.
func (s *Store) Delete(id ResourceID, namespace, name string) (c Committed, ok bool, err error) {
	t, err := s.timeline(id)
	if err != nil {
		return Committed{}, false, err
	}
	e := t.find(namespace, name)
	live := e.Live()
	if live == nil {
		return Committed{}, false, nil
	}
	v, err := s.Remove(id, e, live.obj)
	if err != nil {
		return Committed{}, true, err
	}
	return v.Committed(), true, nil
}

// Remove commits the deletion of an existing key. Watchers see final as its last state. It fails if the journal refuses the write.
func (s *Store) Remove(id ResourceID, e *Entry, final runtime.Object) (*Version, error) {
	rev := s.revision + 1
	if s.journal != nil {
		if err := s.journal.Write(id, e.key, rev, nil); err != nil {
			return nil, err
		}
	}
	s.revision = rev
	return s.timelines[id].append(e, rev, e.newest.createRev, s.WithRevision(final, rev), true), nil
}

// WithRevision returns a shallow copy of an object with another resourceVersion.
func (s *Store) WithRevision(obj runtime.Object, rev int64) runtime.Object {
	c := shallowCopy(obj)
	if m, ok := c.(metav1.Object); ok {
		m.SetResourceVersion(s.printer.print(rev))
	}
	return c
}

// Get returns the newest state of a key and its revision; nil if the key does not exist.
func (s *Store) Get(id ResourceID, namespace, name string) (runtime.Object, int64) {
	t, err := s.timeline(id)
	if err != nil {
		return nil, 0
	}
	live := t.find(namespace, name).Live()
	if live == nil {
		return nil, 0
	}
	return live.obj, live.rev
}

// Walk visits the objects that existed at a revision in the order of keys, until visit returns false. It fails if the
// revision was compacted or is in the future.
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
	t.Walk(rev, namespace, "", func(v *Version) bool { return visit(v.entry.key, v.obj) })
	return nil
}

// Newest visits the objects that there are now, as Walk does. The newest revision is always readable.
func (s *Store) Newest(id ResourceID, namespace string, visit func(key string, obj runtime.Object) bool) {
	_ = s.Walk(id, s.revision, namespace, visit)
}

// All returns the objects of a type that there are now of a resource, in the order of keys, as Newest visits them.
func All[T runtime.Object](s *Store, id ResourceID, namespace string) (all []T) {
	s.Newest(id, namespace, func(_ string, obj runtime.Object) bool {
		if o, ok := obj.(T); ok {
			all = append(all, o)
		}
		return true
	})
	return all
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
		if !visit(t.log.at(pos).Committed()) {
			break
		}
	}
	return nil
}

// KeepMemos gives a Memo to each version committed from now on. Without it Pages and Events have none.
func (s *Store) KeepMemos() {
	s.memos = true
	for _, t := range s.timelines {
		t.memos = true
	}
}

// MemoOf returns the memo of an object that is the newest state of its key; nil if it is not, or without KeepMemos.
func (s *Store) MemoOf(id ResourceID, namespace, name string, obj runtime.Object) *Memo {
	t, err := s.timeline(id)
	if err != nil {
		return nil
	}
	live := t.find(namespace, name).Live()
	if live == nil || !Same(live.obj, obj) {
		return nil
	}
	return live.memo
}
