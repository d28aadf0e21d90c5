package fakeapiserver

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A revision that the watch cache lists exactly can be watched from, even after the Store was compacted. Otherwise a reflector
// that lists at the last revision it has seen, and is then refused the watch, loops forever.
func TestExactListCanBeWatched(t *testing.T) {
	for _, history := range []int64{1, 2, 3, 10} {
		t.Run(fmt.Sprint("history ", history), func(t *testing.T) {
			w := newWorld(t, ClusterOptions{History: history})
			w.create("default/a")
			for range 6 {
				w.must(func() error { // writes of other resources leave gaps between the revisions of pods
					return w.c.SkipTo(w.c.Store().Revision() + 3)
				})
				w.update("default/a")
			}
			w.settle()
			now := w.c.Store().Revision()
			w.must(func() error { return w.c.CompactStore(0) }) // so that the cache alone can serve
			served := 0
			for rev := int64(1); rev < now; rev++ {
				rv := fmt.Sprint(rev)
				_, err := w.list("", metav1.ListOptions{ResourceVersion: rv, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
				if apierrors.IsResourceExpired(err) {
					continue
				}
				if err != nil {
					t.Fatalf("list at %d: %v", rev, err)
				}
				served++
				if r := w.watch(metav1.ListOptions{ResourceVersion: rv}); len(r.events) == 0 || r.events[0].Type == "ERROR" {
					t.Errorf("the list at %d is served, the watch from there is not: %v", rev, r.text())
				}
			}
			if history > 1 && served == 0 {
				t.Error("the cache serves no exact list: nothing was tested")
			}
		})
	}
}

// A watch cache notices within 15 seconds that the Store was compacted, and drops the exact revisions before that. Watches from
// them still work while its window has their events (S11).
func TestWatchCacheFollowsCompaction(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	for i := range 4 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	w.settle()
	exact := metav1.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: metav1.ResourceVersionMatchExact}
	w.must(func() error { return w.c.CompactStore(1003) })
	if _, err := w.list("", exact); err != nil {
		t.Errorf("right after the compaction: %v", err)
	}
	w.advance(16 * time.Second)
	if _, err := w.list("", exact); !apierrors.IsResourceExpired(err) {
		t.Errorf("16 s after the compaction: %v, want Expired", err)
	}
	if _, err := w.list("", metav1.ListOptions{ResourceVersion: "1003", ResourceVersionMatch: metav1.ResourceVersionMatchExact}); err != nil {
		t.Errorf("the compacted revision itself: %v", err)
	}
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1001"}); len(r.events) != 3 {
		t.Errorf("a watch from before the compaction has %v", r.text())
	}
}

// A watch cache that lags behind the compaction also drops the exact revisions before it.
func TestLaggingWatchCacheFollowsCompaction(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.settle()
	w.must(func() error { return w.c.SetHeld("replica/0", true) })
	w.create("default/b")
	w.must(func() error { return w.c.CompactStore(0) })
	w.advance(16 * time.Second)
	w.must(func() error { return w.c.SetHeld("replica/0", false) })
	w.settle()
	_, err := w.list("", metav1.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("got %v, want Expired", err)
	}
}
