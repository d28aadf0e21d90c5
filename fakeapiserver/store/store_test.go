package store

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

// storeModel is a simple model of the Store: for each key all its changes.
type storeModel struct {
	revision, compacted int64
	changes             map[ResourceID]map[string][]modelChange
}

type modelChange struct {
	rev     int64
	content string // "" for a deletion
}

func (m *storeModel) stateAt(id ResourceID, rev int64) []string {
	var lines []string
	for key, changes := range m.changes[id] {
		last := modelChange{}
		for _, c := range changes {
			if c.rev <= rev {
				last = c
			}
		}
		if last.content != "" {
			lines = append(lines, fmt.Sprintf("%s@%d=%s", key, last.rev, last.content))
		}
	}
	sort.Strings(lines)
	return lines
}

func (m *storeModel) since(id ResourceID, rev int64) []string {
	type line struct {
		rev  int64
		text string
	}
	var lines []line
	for key, changes := range m.changes[id] {
		was := ""
		for _, c := range changes {
			if c.rev > rev {
				lines = append(lines, line{c.rev, fmt.Sprintf("%s@%d %s->%s", key, c.rev, was, c.content)})
			}
			was = c.content
		}
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i].rev < lines[j].rev })
	texts := []string{}
	for _, l := range lines {
		texts = append(texts, l.text)
	}
	return texts
}

// storeMachine drives a Store and the model of it with the same operations.
type storeMachine struct {
	store *Store
	model storeModel
	ids   []ResourceID
	views []oldView
	floor int64 // the oldest revision that a watch cache would still need
}

// oldView is a timeline held by a watch cache, which neither trimming nor restoring may change.
type oldView struct {
	t    *Timeline
	rev  int64
	want []string
}

func newStoreMachine(t *rapid.T) *storeMachine {
	m := &storeMachine{store: New(Options{FirstRevision: 10, Seed: 1})}
	m.model = storeModel{revision: 9, compacted: 9, changes: map[ResourceID]map[string][]modelChange{}}
	for _, plural := range []string{"pods", "boxes"} {
		r := podResource()
		r.Plural = plural
		id, err := m.store.AddResource(r)
		if err != nil {
			t.Fatal(err)
		}
		m.ids = append(m.ids, id)
		m.model.changes[id] = map[string][]modelChange{}
	}
	m.floor = 9
	m.store.floor = func(ResourceID) int64 { return m.floor }
	return m
}

var (
	anyNamespace = rapid.SampledFrom([]string{"a", "a-1", "b"})
	anyName      = rapid.SampledFrom([]string{"x", "y", "z"})
)

func (m *storeMachine) put(t *rapid.T) {
	id := rapid.SampledFrom(m.ids).Draw(t, "resource")
	ns, name := anyNamespace.Draw(t, "namespace"), anyName.Draw(t, "name")
	m.model.revision++
	content := fmt.Sprint("v", m.model.revision)
	c, err := m.store.Put(id, pod(ns+"/"+name, content))
	if err != nil {
		t.Fatal(err)
	}
	key := ns + "/" + name
	if c.Key != key || c.Revision != m.model.revision || c.Deleted {
		t.Fatalf("committed %+v, want %s at %d", c, key, m.model.revision)
	}
	changes := m.model.changes[id][key]
	existed := len(changes) > 0 && changes[len(changes)-1].content != ""
	if (c.Old != nil) != existed {
		t.Fatalf("%s: the object before is %v", key, c.Old)
	}
	m.model.changes[id][key] = append(changes, modelChange{c.Revision, content})
}

func (m *storeMachine) delete(t *rapid.T) {
	id := rapid.SampledFrom(m.ids).Draw(t, "resource")
	ns, name := anyNamespace.Draw(t, "namespace"), anyName.Draw(t, "name")
	key := ns + "/" + name
	changes := m.model.changes[id][key]
	existed := len(changes) > 0 && changes[len(changes)-1].content != ""
	c, ok, err := m.store.Delete(id, ns, name)
	if err != nil || ok != existed {
		t.Fatalf("deleting %s: %v, %v; existed %v", key, ok, err, existed)
	}
	if !ok {
		return
	}
	m.model.revision++
	if c.Revision != m.model.revision || mustRev(c.Object) != c.Revision || c.Object == c.Old {
		t.Fatalf("deleted %+v", c)
	}
	m.model.changes[id][key] = append(changes, modelChange{c.Revision, ""})
}

func (m *storeMachine) compact(t *rapid.T) {
	rev := rapid.Int64Range(m.model.compacted-2, m.model.revision+2).Draw(t, "revision")
	err := m.store.Compact(rev)
	if valid := rev > m.model.compacted && rev <= m.model.revision; valid != (err == nil) {
		t.Fatalf("compacting to %d: %v", rev, err)
	}
	if err == nil {
		m.model.compacted = rev
	}
}

// advance moves the watch cache's window.
func (m *storeMachine) advance(t *rapid.T) {
	m.floor = rapid.Int64Range(m.floor, m.model.revision).Draw(t, "floor")
	for _, id := range m.ids {
		m.store.Trim(id)
	}
}

func (m *storeMachine) skip(t *rapid.T) {
	rev := m.model.revision + rapid.Int64Range(-1, 5).Draw(t, "by")
	err := m.store.SkipTo(rev)
	if (err == nil) != (rev > m.model.revision) {
		t.Fatalf("SkipTo(%d) at %d: %v", rev, m.model.revision, err)
	}
	if err == nil {
		m.model.revision = rev - 1
	}
}

func (m *storeMachine) restore(t *rapid.T) {
	rev := rapid.Int64Range(m.model.compacted-1, m.model.revision+1).Draw(t, "revision")
	bump := rapid.SampledFrom([]int64{0, 0, 100}).Draw(t, "bump")
	var views []oldView
	for _, id := range m.ids {
		views = append(views, oldView{m.store.timelines[id], m.model.revision, m.model.stateAt(id, m.model.revision)})
	}
	err := m.store.Restore(rev, bump)
	if valid := rev >= m.model.compacted && rev <= m.model.revision; valid != (err == nil) {
		t.Fatalf("restoring to %d: %v", rev, err)
	}
	if err != nil {
		return
	}
	m.views = append(m.views, views...)
	for _, id := range m.ids {
		for key, changes := range m.model.changes[id] {
			m.model.changes[id][key] = slices.DeleteFunc(slices.Clone(changes), func(c modelChange) bool { return c.rev > rev })
		}
	}
	m.model.revision = rev + bump
	if bump > 0 {
		m.model.compacted = m.model.revision
	}
	m.floor = min(m.floor, m.model.revision)
}

func stateOf(t *Timeline, rev int64) []string {
	var lines []string
	t.Walk(rev, "", "", func(v *Version) bool {
		lines = append(lines, fmt.Sprintf("%s@%d=%s", v.entry.key, v.rev, v.obj.(*corev1.Pod).Labels["content"]))
		return true
	})
	return lines
}

// check compares everything readable.
func (m *storeMachine) check(t *rapid.T) {
	s := m.store
	if s.Revision() != m.model.revision || s.Compacted() != m.model.compacted {
		t.Fatalf("at %d, compacted %d; want %d and %d", s.Revision(), s.Compacted(), m.model.revision, m.model.compacted)
	}
	for _, id := range m.ids {
		m.checkStates(t, id)
		m.checkChanges(t, id)
	}
	for _, v := range m.views {
		got := stateOf(v.t, v.rev)
		sort.Strings(got)
		if !slices.Equal(got, v.want) {
			t.Fatalf("the old history at %d is\n %v, want\n %v", v.rev, got, v.want)
		}
	}
}

func (m *storeMachine) checkStates(t *rapid.T, id ResourceID) {
	for rev := m.model.compacted; rev <= m.model.revision; rev++ {
		var lines, keys []string
		if err := m.store.Walk(id, rev, "", func(key string, obj runtime.Object) bool {
			keys = append(keys, key)
			lines = append(lines, fmt.Sprintf("%s@%d=%s", key, mustRev(obj), obj.(*corev1.Pod).Labels["content"]))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(keys) {
			t.Fatalf("keys at %d are not sorted: %v", rev, keys)
		}
		sort.Strings(lines)
		if want := m.model.stateAt(id, rev); !slices.Equal(lines, want) {
			t.Fatalf("state at %d is\n %v, want\n %v", rev, lines, want)
		}
	}
	for _, rev := range []int64{m.model.compacted - 1, m.model.revision + 1} {
		if err := m.store.Walk(id, rev, "", func(string, runtime.Object) bool { return true }); err == nil {
			t.Fatalf("Walk at revision %d succeeds", rev)
		}
	}
}

func (m *storeMachine) checkChanges(t *rapid.T, id ResourceID) {
	for rev := m.model.compacted; rev <= m.model.revision; rev++ {
		got := []string{}
		content := func(obj runtime.Object) string {
			if obj == nil {
				return ""
			}
			return obj.(*corev1.Pod).Labels["content"]
		}
		if err := m.store.Changes(id, rev, func(c Committed) bool {
			now := content(c.Object)
			if c.Deleted {
				now = ""
			}
			got = append(got, fmt.Sprintf("%s@%d %s->%s", c.Key, c.Revision, content(c.Old), now))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if want := m.model.since(id, rev); !slices.Equal(got, want) {
			t.Fatalf("changes after %d are\n %v, want\n %v", rev, got, want)
		}
	}
}

// The Store agrees with the model at every readable revision, under any sequence of writes, compactions, trims and restores.
func TestStoreModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newStoreMachine(t)
		t.Repeat(map[string]func(*rapid.T){
			"put": m.put, "put again": m.put, "delete": m.delete, "compact": m.compact,
			"advance": m.advance, "skip": m.skip, "restore": m.restore, "": m.check,
		})
	})
}

// Trimming drops the keys, log entries and versions that are compacted and out of every window.
func TestTrimForgets(t *testing.T) {
	s := New(Options{})
	id, err := s.AddResource(podResource())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		key := fmt.Sprintf("default/%d", i%10)
		if _, err := s.Put(id, pod(key, "")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		if _, ok, err := s.Delete(id, "default", fmt.Sprint(i)); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if err := s.Compact(s.Revision()); err != nil {
		t.Fatal(err)
	}
	tl := s.timelines[id]
	if tl.entries.Len() != 5 || tl.order.Len() != 5 || tl.log.base != tl.log.next {
		t.Errorf("%d keys, %d in order, %d in the log are left; want 5, 5, 0", tl.entries.Len(), tl.order.Len(), tl.log.next-tl.log.base)
	}
	tl.order.Scan(func(e *Entry) bool {
		if e.newest.prev != nil {
			t.Errorf("%s still has its previous version", e.display)
		}
		return true
	})
	// 95 of the 105 versions were replaced, and 5 of those left were deletions.
	if tl.freed != 100 {
		t.Errorf("the free list has %d versions, want 100", tl.freed)
	}
	for v := tl.free; v != nil; v = v.prev {
		if v.obj != nil || v.entry != nil {
			t.Fatal("a version on the free list still has its object")
		}
	}
	if _, err := s.Put(id, pod("default/9", "")); err != nil {
		t.Fatal(err)
	}
	if e := tl.entries.Get("default/9"); tl.freed != 99 || e.newest.rev != s.Revision() || e.newest.prev == nil || e.newest.prev.prev != nil {
		t.Errorf("a reused version: %+v, %d are left, want 99", e.newest, tl.freed)
	}
}

// A log that once was long shrinks.
func TestHistoryShrinks(t *testing.T) {
	var h history
	for i := range int64(5000) {
		h.add(&Version{rev: i + 1})
	}
	h.dropHead(4900)
	for pos := h.base; pos < h.end(); pos++ {
		if h.at(pos).rev != pos+1 {
			t.Fatalf("at %d is %+v", pos, h.at(pos))
		}
	}
	if len(h.ring) > 2048 || h.after(4950) != 4950 || h.after(0) != 4900 || h.after(9999) != h.end() {
		t.Errorf("%d slots for %d versions; after 4950 comes %d", len(h.ring), h.end()-h.base, h.after(4950))
	}
}

// Revisions are printed as by strconv, whether they count up or jump, and printed strings do not change.
func TestRevisionPrinter(t *testing.T) {
	var p revisionPrinter
	printed := map[int64]string{}
	for _, start := range []int64{1, 8, 95, 995, 1 << 40, 7, 7} {
		for rev := start; rev < start+30; rev++ {
			printed[rev] = p.print(rev)
		}
	}
	for rev, text := range printed {
		if text != strconv.FormatInt(rev, 10) {
			t.Errorf("%d is printed as %s", rev, text)
		}
	}
}

// However often the revision is bumped, it does not overflow.
func TestRestoreBumpDoesNotOverflow(t *testing.T) {
	s := New(Options{})
	for range 3 {
		rev := s.Revision()
		if err := s.Restore(rev, math.MaxInt64/2); err != nil {
			if s.Revision() != rev {
				t.Errorf("refused, but at %d after %d", s.Revision(), rev)
			}
			continue
		}
		if s.Revision() < rev {
			t.Errorf("at %d after %d", s.Revision(), rev)
		}
	}
}
