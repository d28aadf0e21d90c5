package fakeapiserver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
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

// I106: what is at or below the initial revision is not sent again.
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

// S14, I102: a watch from the future is silent until then, and never gets what was before.
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
			w.advance(61 * time.Second) // a bookmark that tells nothing is not sent
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

// S17, I106: entering and leaving a selection; what leaves is shown as it was, with the new revision.
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
		t.Errorf("what left is %v", gone.ObjectMeta)
	}
	if was := r.events[1].Object.(*corev1.Pod); was.ResourceVersion != "1005" {
		t.Errorf("the object before was changed: %v", was.ObjectMeta)
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

// I105: a watch that has not been sent what falls out of the window is closed.
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

// I107: a restart resets watches; until the cache is initialised, requests get 429, but an unfiltered list with a limit.
func TestReplicaRestart(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.settle()
	r := w.watch(metav1.ListOptions{ResourceVersion: "1001"})
	pending := &receiver{}
	w.do(func() {
		w.c.Replica(0).Hold()
		w.cl.List(w.pods, "", metav1.ListOptions{ResourceVersion: "1002"}, pending)
	})
	w.settle()
	w.do(func() { w.c.Replica(0).Restart() })
	w.settle()
	if !r.closed || !errors.Is(r.closeErr, syscall.ECONNRESET) {
		t.Errorf("the watch: closed %v, %v", r.closed, r.closeErr)
	}
	if !errors.Is(pending.err, syscall.ECONNRESET) {
		t.Errorf("the pending list: %v", pending.err)
	}
	for _, o := range []metav1.ListOptions{{ResourceVersion: "0"}, {}, {ResourceVersion: "0", Limit: 5}, {Limit: 5, LabelSelector: "a"}} {
		_, err := w.list("", o)
		if s, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || s < 1 || s > 30 {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if page, err := w.list("", metav1.ListOptions{Limit: 5}); err != nil || len(page.Items) != 1 {
		t.Errorf("an unfiltered list with a limit: %v", err)
	}
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1001"}); !apierrors.IsTooManyRequests(r.openErr) {
		t.Errorf("a watch: %v", r.openErr)
	}
	w.do(func() { w.c.Replica(0).Release() })
	w.create("default/b")
	w.settle()
	// The window starts anew: at the revision at which the cache was initialised.
	if page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"}); err != nil || len(page.Items) != 2 {
		t.Errorf("after initialisation: %+v, %v", page, err)
	}
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1001"}); len(r.events) != 1 || r.events[0].Type != watch.Error {
		t.Errorf("a watch from before the window: %v", r.text())
	}
}

// Replicas lag on their own: the same list gives different answers.
func TestReplicasLag(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: 2})
	w.do(func() { w.c.Replica(1).Hold() })
	w.create("default/a")
	w.settle()
	for i, want := range []int{1, 0} {
		w.c.Connect("a", Sticky(i))
		page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
		if err != nil || len(page.Items) != want {
			t.Errorf("replica %d: %+v, %v", i, page, err)
		}
	}
	w.c.Connect("a", RoundRobin())
	var counts []string
	for range 4 {
		page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, strconv.Itoa(len(page.Items)))
	}
	if got := strings.Join(counts, ""); got != "1010" {
		t.Errorf("round robin gives %s", got)
	}
	w.c.Connect("a", ByChoice())
	seen := map[int]bool{}
	for range 50 {
		page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		seen[len(page.Items)] = true
	}
	if len(seen) != 2 {
		t.Errorf("by choice only saw %v", seen)
	}
}

// k107457: the Store is restored to the past. Replicas keep what they had, and miss writes until the revision is past it.
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

// With a bump, everything before is compacted: watches end, caches initialise anew.
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

// Cancel: the receiver hears no more, at whatever stage the request is.
func TestCancel(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	for steps := range 8 {
		r := &receiver{}
		w.do(func() {
			r.id = w.cl.Watch(w.pods, "", metav1.ListOptions{}, r)
		})
		for n := 0; n < steps && !w.k.Quiet(); n++ {
			w.k.Step()
		}
		w.do(func() { w.cl.Cancel(r.id) })
		events := len(r.events)
		w.update("default/a")
		w.settle()
		if len(r.events) != events || r.closed || w.cl.InFlight() != 0 {
			t.Errorf("after %d steps: heard %v, closed %v, in flight %d", steps, r.text(), r.closed, w.cl.InFlight())
		}
	}
	w.do(func() { w.cl.Cancel(4711) })
	r := &receiver{}
	r.onOpening = func() { w.cl.Cancel(r.id) }
	w.do(func() { r.id = w.cl.Watch(w.pods, "", metav1.ListOptions{}, r) })
	w.settle()
	if len(r.events) != 0 || w.k.Clock().Timers() != 0 {
		t.Errorf("cancelled in OnWatchOpened: %v, %d timers", r.text(), w.k.Clock().Timers())
	}
}

// A write is one choice to be served and one to be answered.
func TestWrites(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	write := func(x Write) *receiver {
		r := &receiver{}
		x.Resource = w.pods
		w.do(func() { w.cl.Write(x, r) })
		w.settle()
		if r.writes != 1 {
			t.Fatalf("%s: answered %d times", x.describe(), r.writes)
		}
		return r
	}
	mine := pod("default/a")
	r := write(Write{Verb: Create, Object: mine})
	if r.writeErr != nil || mine.ResourceVersion != "" {
		t.Fatalf("create: %v; the client's object has rv %q", r.writeErr, mine.ResourceVersion)
	}
	made := r.written.(*corev1.Pod)
	if made.UID == "" || made.ResourceVersion != "1001" || !made.CreationTimestamp.Equal(ptr(metav1.NewTime(w.k.Clock().Now()))) {
		t.Errorf("created %+v", made.ObjectMeta)
	}
	if r := write(Write{Verb: Create, Object: mine}); !apierrors.IsAlreadyExists(r.writeErr) {
		t.Errorf("second create: %v", r.writeErr)
	}
	next := made.DeepCopy()
	if r := write(Write{Verb: Update, Object: next}); r.writeErr != nil {
		t.Errorf("update: %v", r.writeErr)
	}
	if r := write(Write{Verb: Update, Object: next}); !apierrors.IsConflict(r.writeErr) {
		t.Errorf("stale update: %v", r.writeErr)
	}
	if r := write(Write{Verb: Update, Object: pod("default/b")}); !apierrors.IsNotFound(r.writeErr) {
		t.Errorf("update of nothing: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a", Preconditions: metav1.NewUIDPreconditions("x")}); !apierrors.IsConflict(r.writeErr) {
		t.Errorf("delete with another uid: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a", Preconditions: metav1.NewRVDeletionPrecondition("1").Preconditions}); !apierrors.IsConflict(r.writeErr) {
		t.Errorf("delete of another revision: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a"}); r.writeErr != nil {
		t.Errorf("delete: %v", r.writeErr)
	}
	if r := write(Write{Verb: Delete, Namespace: "default", Name: "a"}); !apierrors.IsNotFound(r.writeErr) {
		t.Errorf("second delete: %v", r.writeErr)
	}
	for _, bad := range []Write{{Verb: Create}, {Verb: Create, Object: pod("noname/")}, {Verb: Create, Object: pod("nonamespace")}, {Verb: "paint"}, {Verb: Create, Object: (*corev1.Pod)(nil)}} {
		if r := write(bad); !apierrors.IsBadRequest(r.writeErr) {
			t.Errorf("%+v: %v", bad, r.writeErr)
		}
	}
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
		t.Error("a replica that is not there is not replaced by the first")
	}
	if w.c.Store().Resource(99) != nil || w.c.Replica(0).Revision(99) != 0 {
		t.Error("an unknown resource is known")
	}
	if err := w.c.Store().Walk(99, 1, "", nil); err == nil {
		t.Error("walking an unknown resource succeeds")
	}
	if err := w.c.EnableFaults("watch-eov"); err == nil || !strings.Contains(err.Error(), `did you mean "watch-eof"`) {
		t.Errorf("EnableFaults: %v", err)
	}
	if err := w.c.Store().Changes(w.pods, 1, nil); err == nil {
		t.Error("changes after a compacted revision are told")
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
