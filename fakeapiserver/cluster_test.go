package fakeapiserver

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// k107457: after a restore to an older revision, replicas keep their state, and miss writes until the revision passes it.
func TestRestoreWithoutBump(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a") // 1001
	w.create("default/b") // 1002
	w.create("default/c") // 1003
	w.settle()
	r := w.watch(metav1.ListOptions{ResourceVersion: "1003"})
	w.must(func() error { return w.c.Restore(1001, 0) })
	if got := w.c.Store().Revision(); got != 1001 {
		t.Fatalf("restored to %d", got)
	}
	w.create("default/x") // 1002 again: unseen
	w.create("default/y") // 1003 again: unseen
	w.settle()
	wantEvents(t, r)
	w.create("default/z") // 1004
	w.settle()
	wantEvents(t, r, "ADDED default/z@1004")
	page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
	if err != nil || strings.Join(page.Keys, " ") != "default/a default/b default/c default/z" {
		t.Errorf("the cache has %v, %v", page.Keys, err)
	}
	w.do(func() { w.c.Replica(0).Restart() })
	w.settle()
	page, err = w.list("", metav1.ListOptions{ResourceVersion: "0"})
	if err != nil || strings.Join(page.Keys, " ") != "default/a default/x default/y default/z" {
		t.Errorf("the cache of a restarted replica has %v, %v", page.Keys, err)
	}
	if _, err := w.list("", metav1.ListOptions{ResourceVersion: "1002", ResourceVersionMatch: metav1.ResourceVersionMatchExact}); err != nil {
		t.Errorf("an exact list of the new history: %v", err)
	}
}

// With a bump, everything before is compacted: watches end, caches reinitialise.
func TestRestoreWithBump(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.create("default/b")
	w.settle()
	r := w.watch(metav1.ListOptions{ResourceVersion: "1002"})
	w.must(func() error { return w.c.Restore(1001, 1_000_000) })
	w.settle()
	if !r.closed || r.closeErr != nil {
		t.Errorf("the watch: closed %v, %v", r.closed, r.closeErr)
	}
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1002"}); len(r.events) != 1 || r.events[0].Type != watch.Error {
		t.Errorf("a watch from before: %v", r.text())
	}
	page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
	if err != nil || page.ResourceVersion != "1001001" || strings.Join(page.Keys, " ") != "default/a" {
		t.Errorf("got %+v, %v", page, err)
	}
	w.do(func() {
		for _, bad := range [][2]int64{{1, 0}, {9_999_999, 0}, {1001001, -1}, {1001001, 1<<63 - 1}} {
			if err := w.c.Restore(bad[0], bad[1]); err == nil {
				t.Errorf("Restore(%d, %d) succeeds", bad[0], bad[1])
			}
		}
	})
}

// The same seed gives the same uids.
func TestUIDsAreSeeded(t *testing.T) {
	uid := func() string {
		w := newWorld(t, ClusterOptions{})
		w.create("default/a")
		obj, _ := w.c.Store().Get(w.pods, "default", "a")
		return string(obj.(*corev1.Pod).UID)
	}
	a, b := uid(), uid()
	if a != b || len(a) != 36 || a[14] != '4' {
		t.Errorf("uids %s and %s", a, b)
	}
}

func TestSkipTo(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.must(func() error { return w.c.SkipTo(5000) })
	if got := w.create("default/a"); got != 5000 {
		t.Errorf("created at %d", got)
	}
	w.do(func() {
		for _, rev := range []int64{5000, 4999, -1, 1<<63 - 1} {
			if err := w.c.SkipTo(rev); err == nil {
				t.Errorf("SkipTo(%d) succeeds", rev)
			}
		}
	})
	if got := w.create("default/b"); got != 5001 {
		t.Errorf("created at %d", got)
	}
}

// Options and resources out of range do not panic.
func TestBadOptions(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: -1, History: -2, FirstRevision: -7, Faults: []fault.Kind{"nonsense"}, MaxFaults: -1, CompactEvery: -1})
	if w.c.Replicas() != 1 || w.c.Replica(-1) != nil || w.c.Replica(1) != nil || w.create("default/a") != store.DefaultFirstRevision {
		t.Error("bad options do not mean the defaults")
	}
	for _, r := range []store.Resource{{}, {Plural: "x"}, {Plural: "x", Version: "v1"}, podResource()} {
		if _, err := w.c.AddResource(r); err == nil {
			t.Errorf("AddResource(%+v) succeeds", r)
		}
	}
	if w.c.Connect("b", Sticky(99)).policy.replica != 0 {
		t.Error("a policy with a missing replica does not fall back to the first")
	}
	if w.c.Store().Resource(99) != nil || w.c.Replica(0).Revision(99) != 0 {
		t.Error("resource 99 exists")
	}
	if err := w.c.Store().Walk(99, 1, "", nil); err == nil {
		t.Error("walking an unknown resource succeeds")
	}
	if err := w.c.EnableFaults("watch-eov"); err == nil || !strings.Contains(err.Error(), `did you mean "watch-eof"`) {
		t.Errorf("EnableFaults: %v", err)
	}
	if err := w.c.Store().Changes(w.pods, 1, nil); err == nil {
		t.Error("Changes after a compacted revision succeeds")
	}
}

// Periodic compaction keeps between one and two periods of history.
func TestPeriodicCompaction(t *testing.T) {
	w := newWorld(t, ClusterOptions{CompactEvery: 5 * time.Minute})
	w.create("default/a")
	w.advance(5 * time.Minute)
	w.create("default/b")
	if got := w.c.Store().Compacted(); got != 1000 {
		t.Errorf("compacted to %d after one period", got)
	}
	w.advance(5 * time.Minute)
	if got := w.c.Store().Compacted(); got != 1001 {
		t.Errorf("compacted to %d after two periods", got)
	}
}

// S1: each write raises the revision by exactly 1, over all resources together.
func TestRevisionCountsAllResources(t *testing.T) {
	w := newWorld(t, ClusterOptions{FirstRevision: 7})
	if got := w.create("default/a"); got != 7 {
		t.Errorf("the first write has revision %d, want 7", got)
	}
	node := pod("n")
	w.must(func() error { _, err := w.c.Create(w.nodes, node); return err })
	if got := w.c.Store().Revision(); got != 8 {
		t.Errorf("the second write, of another resource, has revision %d, want 8", got)
	}
	if got := w.delete("default/a"); got != 9 {
		t.Errorf("a deletion has revision %d, want 9", got)
	}
}
