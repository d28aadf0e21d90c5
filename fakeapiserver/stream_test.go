package fakeapiserver

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

func ptr[T any](v T) *T { return &v }

func TestListThenWatch(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.create("default/b")
	page, err := w.list("", metav1.ListOptions{})
	if err != nil || len(page.Items) != 2 || page.ResourceVersion != "1002" {
		t.Fatalf("list: %+v, %v", page, err)
	}
	r := w.watch(metav1.ListOptions{ResourceVersion: page.ResourceVersion})
	w.update("default/a")
	w.delete("default/b")
	w.create("default/c")
	w.settle()
	wantEvents(t, r, "MODIFIED default/a@1003", "DELETED default/b@1004", "ADDED default/c@1005")
}

// I106: events at or below the initial revision are not sent.
func TestWatchFromRevision(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.create("default/b")
	w.create("default/c")
	w.settle()
	wantEvents(t, w.watch(metav1.ListOptions{ResourceVersion: "1001"}), "ADDED default/b@1002", "ADDED default/c@1003")
	wantEvents(t, w.watch(metav1.ListOptions{ResourceVersion: "1003"}))
}

// I101: without a revision, or with "0", the current state comes first.
func TestWatchWithoutRevision(t *testing.T) {
	for _, rv := range []string{"", "0"} {
		w := newWorld(t, ClusterOptions{})
		w.create("default/b")
		w.create("default/a")
		w.settle()
		r := w.watch(metav1.ListOptions{ResourceVersion: rv})
		w.update("default/b")
		w.settle()
		wantEvents(t, r, "ADDED default/a@1002", "ADDED default/b@1001", "MODIFIED default/b@1003")
	}
}

// S13, I100: a watch older than history is opened, gets one ERROR event and a clean end.
func TestWatchTooOld(t *testing.T) {
	w := newWorld(t, ClusterOptions{History: 2})
	for i := range 4 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	w.settle()
	for _, rv := range []string{"1", "1001"} {
		r := w.watch(metav1.ListOptions{ResourceVersion: rv})
		if !r.opened || len(r.events) != 1 || r.events[0].Type != watch.Error || !r.closed || r.closeErr != nil {
			t.Fatalf("rv %s: %+v", rv, r)
		}
		st := r.events[0].Object.(*metav1.Status)
		if st.Code != 410 || st.Reason != metav1.StatusReasonExpired || st.Message != "too old resource version: "+rv+" (1002)" {
			t.Errorf("the ERROR event is %+v", st)
		}
	}
	wantEvents(t, w.watch(metav1.ListOptions{ResourceVersion: "1002"}), "ADDED default/2@1003", "ADDED default/3@1004")
}

// S14, I102: a watch from a future revision is silent until then, and never gets earlier events.
func TestWatchFuture(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1002"})
	w.create("default/a")
	w.create("default/b")
	w.create("default/c")
	w.settle()
	if !r.opened {
		t.Fatal("the watch is not open")
	}
	wantEvents(t, r, "ADDED default/c@1003")
}

// S15, I104: with bookmarks the state is followed by a bookmark with the annotation, and only by one such.
func TestStreamingList(t *testing.T) {
	for name, o := range map[string]metav1.ListOptions{
		"watch-list at any":     {ResourceVersion: "0", SendInitialEvents: ptr(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true},
		"watch-list at N":       {ResourceVersion: "1001", SendInitialEvents: ptr(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true},
		"watch-list, newest":    {SendInitialEvents: ptr(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true},
		"watch from 0":          {ResourceVersion: "0", AllowWatchBookmarks: true},
		"watch from 0, limited": {ResourceVersion: "0", AllowWatchBookmarks: true, Limit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ClusterOptions{})
			w.create("default/a")
			w.create("default/b")
			w.settle()
			r := w.watch(o)
			w.advance(61 * time.Second) // a bookmark without news is not sent
			w.must(func() error { _, err := w.c.Create(w.nodes, pod("n")); return err })
			w.advance(61 * time.Second)
			wantEvents(t, r, "ADDED default/a@1001", "ADDED default/b@1002", "BOOKMARK @1002", "BOOKMARK @1003")
			for i, want := range map[int]string{2: "true", 3: ""} {
				p := r.events[i].Object.(*corev1.Pod)
				if p.Annotations[metav1.InitialEventsAnnotationKey] != want || p.ResourceVersion != fmt.Sprint(1000+i) {
					t.Errorf("bookmark %d is %+v", i, p.ObjectMeta)
				}
			}
		})
	}
}

// I103: RV="" with sendInitialEvents is the Store's newest state, which the watch cache must reach first.
func TestWatchListWaits(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.do(func() { w.c.Replica(0).Hold() })
	w.create("default/a")
	o := metav1.ListOptions{SendInitialEvents: ptr(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true}
	r := w.watch(o)
	if r.opened {
		t.Fatal("opened before the cache is fresh")
	}
	w.do(func() { w.c.Replica(0).Release() })
	w.settle()
	wantEvents(t, r, "ADDED default/a@1001", "BOOKMARK @1001")
}

// S16: sendInitialEvents with a too-old revision succeeds; with one from the future it is opened, and after 3 s gets ERROR
// 504; without NotOlderThan it is refused.
func TestWatchListVersions(t *testing.T) {
	w := newWorld(t, ClusterOptions{History: 1})
	for i := range 3 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	w.settle()
	o := metav1.ListOptions{
		ResourceVersion: "1", SendInitialEvents: ptr(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	}
	if r := w.watch(o); len(r.events) != 4 || r.events[3].Type != watch.Bookmark {
		t.Errorf("too old: %v", r.text())
	}
	o.ResourceVersion = "9000"
	r := w.watch(o)
	w.advance(3 * time.Second)
	if len(r.events) != 1 || !r.closed {
		t.Fatalf("future: %v", r.text())
	}
	if st := r.events[0].Object.(*metav1.Status); st.Code != 504 || st.Details.Causes[0].Type != metav1.CauseTypeResourceVersionTooLarge {
		t.Errorf("future: %+v", st)
	}
	for _, send := range []bool{true, false} {
		o = metav1.ListOptions{SendInitialEvents: &send}
		if r := w.watch(o); !apierrors.IsInvalid(r.openErr) {
			t.Errorf("sendInitialEvents=%v without a match: %v", send, r.openErr)
		}
	}
	o = metav1.ListOptions{ResourceVersion: "0", SendInitialEvents: ptr(false), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	r = w.watch(o)
	w.create("default/x")
	w.settle()
	wantEvents(t, r, "ADDED default/x@1004")
}

// S17, I106: entering and leaving a selection; an object that leaves is shown as it was, with the new revision.
func TestWatchSelector(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	in, out := labelled("in", "1"), labelled("in", "0")
	w.create("default/a", in)
	w.create("default/b", out)
	w.settle()
	r := w.watch(metav1.ListOptions{ResourceVersion: "1002", LabelSelector: "in=1"})
	w.update("default/b", out) // 1003: never seen
	w.update("default/b", in)  // enters
	w.update("default/a", in)
	w.update("default/a", out) // leaves
	w.delete("default/a")      // 1007: never seen
	w.delete("default/b")
	w.settle()
	wantEvents(t, r, "ADDED default/b@1004", "MODIFIED default/a@1005", "DELETED default/a@1006", "DELETED default/b@1008")
	gone := r.events[2].Object.(*corev1.Pod)
	if gone.Labels["in"] != "1" || gone.ResourceVersion != "1006" {
		t.Errorf("the object that left is %v", gone.ObjectMeta)
	}
	if was := r.events[1].Object.(*corev1.Pod); was.ResourceVersion != "1005" {
		t.Errorf("the previous object was changed: %v", was.ObjectMeta)
	}
}

func TestWatchNamespace(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := &receiver{}
	w.do(func() { w.cl.Watch(w.pods, "a", metav1.ListOptions{}, r) })
	w.settle()
	w.create("b/x")
	w.create("a/x")
	w.delete("b/x")
	w.delete("a/x")
	w.settle()
	wantEvents(t, r, "ADDED a/x@1002", "DELETED a/x@1004")
}

// S18: DELETED carries the last state with the deletion's revision.
func TestDeletedObject(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a", labelled("x", "y"))
	r := w.watch(metav1.ListOptions{ResourceVersion: "1001"})
	w.delete("default/a")
	w.settle()
	p := r.events[0].Object.(*corev1.Pod)
	if p.ResourceVersion != "1002" || p.Labels["x"] != "y" || p.UID == "" || p.CreationTimestamp.IsZero() {
		t.Errorf("deleted object: %+v", p.ObjectMeta)
	}
}

// S19: bookmarks come about each minute and 2 s before the end, and cover writes of other resources.
func TestBookmarks(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000", AllowWatchBookmarks: true, TimeoutSeconds: ptr[int64](90)})
	w.must(func() error { _, err := w.c.Create(w.nodes, pod("n")); return err })
	var at []time.Duration
	r.onEvent = func(Event) { at = append(at, w.k.Elapsed()) }
	w.advance(time.Hour)
	wantEvents(t, r, "BOOKMARK @1001", "BOOKMARK @1001")
	if fmt.Sprint(at) != "[1m0s 1m28s]" {
		t.Errorf("bookmarks at %v", at)
	}
	if !r.closed || r.closeErr != nil {
		t.Errorf("closed %v, %v: want a clean end", r.closed, r.closeErr)
	}
	r = w.watch(metav1.ListOptions{ResourceVersion: "1000", TimeoutSeconds: ptr[int64](90)})
	w.advance(time.Hour)
	wantEvents(t, r)
}

// A bookmark does not overtake events.
func TestBookmarkAfterEvents(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000", AllowWatchBookmarks: true})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchDelay, Duration: 2 * time.Minute}) })
	w.create("default/a")
	w.advance(3 * time.Minute)
	wantEvents(t, r, "ADDED default/a@1001", "BOOKMARK @1001", "BOOKMARK @1001")
}

// I111, S20: the server ends a watch after timeoutSeconds, 1800 s × [1,2) without; a negative one at once.
func TestWatchTimeout(t *testing.T) {
	for _, tt := range []struct {
		seconds  *int64
		min, max time.Duration
	}{
		{ptr[int64](10), 10 * time.Second, 10 * time.Second},
		{nil, 1800 * time.Second, 3600 * time.Second},
		{ptr[int64](0), 1800 * time.Second, 3600 * time.Second},
		{ptr[int64](-5), 0, 0},
	} {
		w := newWorld(t, ClusterOptions{})
		r := w.watch(metav1.ListOptions{ResourceVersion: "1000", TimeoutSeconds: tt.seconds})
		for !r.closed {
			if !w.k.Step() {
				t.Fatal("the watch never ends")
			}
		}
		if at := w.k.Elapsed(); at < tt.min || at > tt.max {
			t.Errorf("ended after %v, want %v to %v", at, tt.min, tt.max)
		}
	}
}

// S2: a garbage revision in a watch is a 500.
func TestWatchGarbageRevision(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	if r := w.watch(metav1.ListOptions{ResourceVersion: "abc"}); !apierrors.IsInternalError(r.openErr) {
		t.Errorf("got %v", r.openErr)
	}
}

// I105: a watch is closed when an event that it still has to send falls out of the window.
func TestSlowWatchIsClosed(t *testing.T) {
	w := newWorld(t, ClusterOptions{History: 3})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchDelay}) })
	for i := range 4 {
		w.create(fmt.Sprintf("default/%d", i))
	}
	w.settle()
	if !r.closed || r.closeErr != nil || len(r.events) != 0 {
		t.Errorf("closed %v, %v after %v", r.closed, r.closeErr, r.text())
	}
}
