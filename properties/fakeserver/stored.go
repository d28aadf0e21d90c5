package fakeserver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// saved is a write of a Store's model.
type saved struct {
	rev     int64
	res     store.ResourceID
	key     string
	obj     runtime.Object // nil if it deletes
	uid     string
	created int64 // seconds
	kept    *store.Memo
}

// shelf is a Store by itself, and the model of it: all that was written.
type shelf struct {
	*sim.Stream
	*store.Store
	verdict
	now       time.Time
	saved     []saved
	rev       int64
	compacted int64
	memos     bool
	full      bool // the journal takes nothing
	journal   []string
}

// uidText is a random uid, of version 4.
var uidText = regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")

var errFull = &store.RefusedError{Full: true, Err: errors.New("there is no room")}

// Write implements store.Journal.
func (s *shelf) Write(id store.ResourceID, key string, rev int64, obj runtime.Object) error {
	if s.full {
		return errFull
	}
	s.journal = append(s.journal, fmt.Sprint(id, key, rev, obj == nil))
	return nil
}

// Restore implements store.Journal.
func (s *shelf) Restore(rev, now int64) error {
	if s.full {
		return errFull
	}
	s.journal = append(s.journal, fmt.Sprint(rev, now))
	return nil
}

// lastTold is what the journal was told last.
func (s *shelf) lastTold() string {
	if len(s.journal) == 0 {
		return "nothing"
	}
	return s.journal[len(s.journal)-1]
}

// refuses compares whether a call fails.
func (s *shelf) refuses(what string, want bool, err error) {
	s.is(what+" is refused", want, err != nil)
}

// jobs are a resource without namespaces, whose objects have no Go type.
var jobs = store.Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job"}

// stored calls a Store as its readers and the journal see it.
func stored(r *sim.Stream, turn uint64) string {
	s := &shelf{Stream: r, now: sim.Epoch.Add(1500 * time.Millisecond)}
	s.Store = store.New(store.Options{Seed: turn, FirstRevision: int64(r.IntN(2)) * first, Now: func() time.Time { return s.now }})
	s.rev = s.Revision()
	s.is("the revision before the first write", map[bool]int64{true: first - 1, false: store.DefaultFirstRevision - 1}[s.rev < 100], s.rev)
	s.compacted = s.rev
	early := s.IntN(2) == 0
	if s.memos = s.IntN(2) == 0; s.memos && early {
		s.KeepMemos()
	}
	s.resources()
	if s.memos && !early {
		s.KeepMemos()
	}
	s.SetJournal(s)
	for range 16 {
		s.now = s.now.Add(time.Duration(s.IntN(3)) * 700 * time.Millisecond)
		s.full = s.IntN(6) == 0
		switch s.IntN(8) {
		case 0:
			s.compacts()
		case 1:
			s.skips()
		case 2:
			s.restores()
		case 3, 4:
			s.deletes()
		default:
			s.puts()
		}
		s.is("Revision", s.rev, s.Revision())
		s.is("Compacted", s.compacted, s.Compacted())
		if s.wrong != "" {
			break
		}
	}
	s.reads()
	s.mints()
	if s.wrong != "" {
		return "of a Store: " + s.wrong
	}
	return ""
}

// resources adds two resources, the second of which may be redefined.
func (s *shelf) resources() {
	for n, r := range []store.Resource{pods, jobs} {
		id, err := s.AddResource(r)
		s.is("AddResource", fmt.Sprint(n, nil), fmt.Sprint(id, err))
	}
	_, err := s.AddResource(jobs)
	s.refuses("a resource that is there already", true, err)
	for _, r := range []store.Resource{{Version: "v1", Kind: "Job"}, {Plural: "x", Kind: "Job"}, {Plural: "x", Version: "v1"}} {
		_, err := s.AddResource(r)
		s.refuses("a resource that lacks something", true, err)
	}
	changed := jobs
	changed.Version = "v2"
	s.refuses("Redefine", false, s.Redefine(1, changed))
	s.refuses("Redefine of another resource", true, s.Redefine(0, changed))
	s.refuses("Redefine of none", true, s.Redefine(2, changed))
	s.is("the version of what was redefined", "v2", s.Resource(1).Version)
	u, ok := s.Resource(1).Empty().(*unstructured.Unstructured)
	s.is("an empty object of what was redefined", true, ok && u.GroupVersionKind() == changed.GroupVersionKind())
	s.is("a resource that is not there", true, s.Resource(2) == nil && s.Timeline(2) == nil && s.Find(2, "a", "x") == nil)
	s.is("how many resources there are", 2, len(s.Resources()))
}

// key draws one of a resource.
func (s *shelf) key() (id store.ResourceID, namespace, name, key string) {
	name = names[s.IntN(2)]
	if s.IntN(3) == 0 {
		return 1, "", name, name
	}
	namespace = namespaces[s.IntN(len(namespaces))]
	return 0, namespace, name, namespace + "/" + name
}

// live is the newest write of a key, nil if that is gone.
func (s *shelf) live(id store.ResourceID, key string) *saved { return s.state(id, s.rev)[key] }

// state is what a resource had at a revision.
func (s *shelf) state(id store.ResourceID, rev int64) map[string]*saved {
	all := map[string]*saved{}
	for n := range s.saved {
		x := &s.saved[n]
		if x.res != id || x.rev > rev {
			continue
		}
		if all[x.key] = x; x.obj == nil {
			delete(all, x.key)
		}
	}
	return all
}

// puts writes an object.
func (s *shelf) puts() {
	id, namespace, name, key := s.key()
	var obj runtime.Object = &object{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if id == 1 {
		u := &unstructured.Unstructured{}
		u.SetName(name)
		obj = u
	}
	if s.IntN(8) == 0 {
		s.misnamed(id, obj)
		return
	}
	m, err := store.Meta(obj)
	s.is("Meta", nil, err)
	was := s.live(id, key)
	x := saved{rev: s.rev + 1, res: id, key: key, obj: obj, created: s.now.Unix()}
	if was != nil {
		x.uid, x.created = was.uid, was.created
		m.SetUID("the uid")
		x.uid = "the uid"
	}
	c, err := s.Put(id, obj)
	s.refuses("a write", s.full, err)
	if s.full {
		s.is("the error of a write that the journal refuses", error(errFull), err)
		return
	}
	s.rev++
	s.is("the revision of a write", fmt.Sprint(s.rev, strconv.FormatInt(s.rev, 10)), fmt.Sprint(c.Revision, m.GetResourceVersion()))
	s.is("the key of a write", fmt.Sprint(key, " ", s.Resource(id).Plural+" "+key), fmt.Sprint(c.Key, " ", c.Display))
	s.is("a write finds an object", was != nil, c.Old != nil)
	if was != nil {
		s.is("what a write replaces", true, store.Same(was.obj, c.Old))
	} else {
		x.uid = string(m.GetUID())
		created := m.GetCreationTimestamp()
		s.is("the time of a creation", x.created, created.Unix())
		s.is("the time of a creation, nanoseconds", 0, created.Nanosecond())
		s.is("what a uid looks like", true, uidText.MatchString(x.uid))
		s.is("a uid of its own", false, x.uid == "" || slices.ContainsFunc(s.saved, func(y saved) bool { return y.uid == x.uid }))
	}
	s.is("what the journal is told", fmt.Sprint(id, key, s.rev, false), s.lastTold())
	x.kept = s.MemoOf(id, namespace, name, obj)
	s.is("an object has a memo", s.memos, x.kept != nil)
	s.is("another object's memo", true, s.MemoOf(id, namespace, name, obj.DeepCopyObject()) == nil)
	s.saved = append(s.saved, x)
}

// misnamed writes an object with a name that its resource does not have.
func (s *shelf) misnamed(id store.ResourceID, obj runtime.Object) {
	m, err := store.Meta(obj)
	s.is("Meta", nil, err)
	switch {
	case s.IntN(2) == 0:
		m.SetName("")
	case id == 0:
		m.SetNamespace("")
	default:
		m.SetNamespace("a")
	}
	_, err = s.Put(id, obj)
	s.refuses(fmt.Sprintf("a write of %q/%q of %s", m.GetNamespace(), m.GetName(), s.Resource(id).Plural), true, err)
	_, err = s.Put(id, (*object)(nil))
	s.refuses("a write of nil", true, err)
	_, err = s.Put(2, obj)
	s.refuses("a write of a resource that is not there", true, err)
	_, _, err = s.Delete(2, "a", "x")
	s.refuses("a deletion of a resource that is not there", true, err)
}

func (s *shelf) deletes() {
	id, namespace, name, key := s.key()
	was := s.live(id, key)
	c, ok, err := s.Delete(id, namespace, name)
	s.is("a deletion finds an object", was != nil, ok)
	s.refuses("a deletion", was != nil && s.full, err)
	if was == nil || s.full {
		return
	}
	s.rev++
	m, err := store.Meta(c.Object)
	s.is("Meta", nil, err)
	s.is("the revision of a deletion", fmt.Sprint(s.rev, strconv.FormatInt(s.rev, 10)), fmt.Sprint(c.Revision, m.GetResourceVersion()))
	old, err := store.Meta(was.obj)
	s.is("the revision of what a deletion deletes", fmt.Sprint(was.rev), old.GetResourceVersion())
	s.is("Meta", nil, err)
	s.is("a deletion's last state is a copy of what it deletes", true, c.Deleted && store.Same(c.Old, was.obj) && !store.Same(c.Object, was.obj))
	s.is("what the journal is told", fmt.Sprint(id, key, s.rev, true), s.lastTold())
	s.saved = append(s.saved, saved{rev: s.rev, res: id, key: key})
}

func (s *shelf) compacts() {
	rev := s.compacted - 1 + int64(s.IntN(6))
	err := s.Compact(rev)
	s.refuses(fmt.Sprintf("a compaction to %d", rev), rev <= s.compacted || rev > s.rev, err)
	if err == nil {
		s.compacted = rev
	}
}

func (s *shelf) skips() {
	rev := s.rev - 1 + int64(s.IntN(5))
	err := s.SkipTo(rev)
	s.refuses(fmt.Sprintf("SkipTo %d", rev), rev <= s.rev, err)
	s.refuses("SkipTo the last revision of all", true, s.SkipTo(1<<63-1))
	if err == nil {
		s.rev = rev - 1
	}
}

// restores goes back to an older revision.
func (s *shelf) restores() {
	rev, bump := s.compacted-1+int64(s.IntN(6)), int64(s.IntN(3)-1)*50
	err := s.Store.Restore(rev, bump)
	s.refuses(fmt.Sprintf("a restore to %d with a bump of %d", rev, bump), s.full || rev > s.rev || rev < s.compacted || bump < 0, err)
	s.refuses("a restore with a bump that is too large", true, s.Store.Restore(s.compacted, 1<<62))
	if err != nil {
		return
	}
	s.is("what the journal is told", fmt.Sprint(rev, rev+bump), s.lastTold())
	s.saved = slices.DeleteFunc(s.saved, func(x saved) bool { return x.rev > rev })
	if s.rev = rev + bump; bump > 0 {
		s.compacted = s.rev
	}
}

// reads compares what the Store says of every revision.
func (s *shelf) reads() {
	for id := range store.ResourceID(2) {
		for _, rev := range []int64{s.compacted - 1, s.compacted, s.rev, s.rev + 1} {
			s.readsAt(id, rev)
		}
		for range 3 {
			s.readsAt(id, max(s.rev-int64(s.IntN(12)), s.compacted))
		}
		for key, x := range s.state(id, s.rev) { // order: each is compared by itself, and one that is wrong is wrong whatever comes first
			namespace, name, ok := strings.Cut(key, "/")
			if !ok {
				namespace, name = "", key
			}
			m, err := store.Meta(x.obj)
			s.is("the revision of what was committed", fmt.Sprint(x.rev), m.GetResourceVersion())
			s.is("Meta", nil, err)
			obj, rev := s.Get(id, namespace, name)
			s.is("Get of "+key, fmt.Sprint(x.rev, true), fmt.Sprint(rev, obj != nil && store.Same(obj, x.obj)))
		}
	}
	obj, rev := s.Get(0, "nowhere", "x")
	s.is("Get of nothing", fmt.Sprint(nil, 0), fmt.Sprint(obj, rev))
	s.is("All", len(s.state(0, s.rev)), len(store.All[*object](s.Store, 0, "")))
	s.is("All of another type", 0, len(store.All[*metav1.Status](s.Store, 0, "")))
}

// readsAt compares the state at a revision, and what came since.
func (s *shelf) readsAt(id store.ResourceID, rev int64) {
	state := s.state(id, rev)
	namespace := ""
	if s.IntN(2) == 0 && id == 0 {
		namespace = namespaces[s.IntN(len(namespaces))]
	}
	var keys, got []string
	for key := range state { // order: sorted below
		if namespace == "" || strings.HasPrefix(key, namespace+"/") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	err := s.Walk(id, rev, namespace, func(key string, obj runtime.Object) bool {
		if x := state[key]; x == nil || !store.Same(x.obj, obj) {
			key += " in another version"
		}
		got = append(got, key)
		return true
	})
	s.refuses(fmt.Sprintf("a walk at %d, compacted %d, now %d", rev, s.compacted, s.rev), rev < s.compacted || rev > s.rev, err)
	if err == nil {
		s.is(fmt.Sprintf("a walk of %q at %d", namespace, rev), fmt.Sprint(keys), fmt.Sprint(got))
	}
	var since, told []int64
	for _, x := range s.saved {
		if x.res == id && x.rev > rev {
			since = append(since, x.rev)
		}
	}
	err = s.Changes(id, rev, func(c store.Committed) bool { told = append(told, c.Revision); return len(told) < 3 })
	s.refuses(fmt.Sprintf("changes from %d, compacted %d", rev, s.compacted), rev < s.compacted, err)
	if err == nil {
		s.is(fmt.Sprintf("the first changes from %d", rev), fmt.Sprint(since[:min(3, len(since))]), fmt.Sprint(told))
	}
}

// mints makes names for objects that are to be created.
func (s *shelf) mints() {
	seen := map[string]bool{}
	for range 4 {
		uid, suffix := s.Mint("bcd", 5)
		s.is("a minted uid", true, uid != "" && !seen[string(uid)])
		s.is("a minted suffix", true, len(suffix) == 5 && strings.Trim(suffix, "bcd") == "")
		seen[string(uid)] = true
	}
}
