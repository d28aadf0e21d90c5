package informer

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"
)

func (r *reflecting) wantWatchList(rv string) {
	r.t.Helper()
	w := r.Want()
	o := w.Options
	if w.Op != OpWatch || o.ResourceVersion != rv || o.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan ||
		o.SendInitialEvents == nil || !*o.SendInitialEvents || !o.AllowWatchBookmarks || *o.TimeoutSeconds != 300 {
		r.t.Fatalf("wants %v %+v, not a watch-list at %q", w.Op, o, rv)
	}
}

func endBookmark(rv int) *v1.Pod {
	p := pod("", rv)
	p.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return p
}

func startWatchList(t testing.TB, o ReflectorOptions) *reflecting {
	t.Helper()
	o.WatchList = true
	r := startReflector(t, o)
	r.wantWatchList("")
	return r
}

func TestI13WatchListComesFirstEachRound(t *testing.T) {
	r := startWatchList(t, ReflectorOptions{})
	r.OnWatchOpenError(errBoom)
	r.wantList("0", 500, "") // I19: any other error falls back, for this round
	r.OnListError(errBoom)
	r.pass(time.Minute)
	r.wantWatchList("")
}

func TestI14I16WatchListCompletesAtItsBookmark(t *testing.T) {
	r := startWatchList(t, ReflectorOptions{ResyncPeriod: time.Minute})
	seq := r.Seq()
	r.OnWatchOpened()
	r.event(watch.Added, pod("b", 7))
	r.event(watch.Added, pod("a", 3))
	r.event(watch.Modified, pod("b", 8))
	r.event(watch.Bookmark, pod("", 9)) // not annotated: not the end
	if r.Watching() || r.LastSyncResourceVersion() != "" {
		t.Fatalf("complete too early, at %q", r.LastSyncResourceVersion())
	}
	if _, running := r.NextResync(); running {
		t.Error("the resync timer runs during a watch-list")
	}
	equal(t, r.q.take(), nil) // I15: the queue is untouched
	r.event(watch.Bookmark, endBookmark(10))
	equal(t, r.q.take(), []string{`replace a@3 b@8 at 10 after ""`})
	if !r.Watching() || r.Seq() != seq || r.LastSyncResourceVersion() != "10" {
		t.Fatalf("watching %v, seq %d→%d, at %s; want the same stream to continue", r.Watching(), seq, r.Seq(), r.LastSyncResourceVersion())
	}
	r.event(watch.Added, pod("c", 11)) // past the initial events: every event counts
	if r.LastSyncResourceVersion() != "11" {
		t.Errorf("at %s", r.LastSyncResourceVersion())
	}
	r.inStream(expired)
	r.pass(time.Second)
	r.wantWatchList("11") // I14: the last resourceVersion, never "0"
}

func TestI15TransformerRunsTwice(t *testing.T) {
	inf := NewInformer(InformerOptions{Reflector: ReflectorOptions{WatchList: true}, Transformer: markTransformed})
	inf.Start(t0)
	inf.Reflector.OnWatchOpened()
	inf.Reflector.OnEvent(watch.Event{Type: watch.Added, Object: pod("a", 1)})
	inf.Reflector.OnEvent(watch.Event{Type: watch.Bookmark, Object: endBookmark(2)})
	equal(t, popAll(inf.Queue), []string{"Replaced:a@1tt initial"})
}

func TestI17UnavailableResourceVersionRetriesAtOnceWithoutOne(t *testing.T) {
	for _, err := range []error{expired, gone, tooLarge()} {
		for _, inStream := range []bool{false, true} {
			r := startWatchList(t, ReflectorOptions{})
			r.OnWatchOpened()
			r.event(watch.Bookmark, endBookmark(5))
			r.inStream(expired)
			r.pass(time.Second)
			r.wantWatchList("5")
			if inStream {
				r.OnWatchOpened()
				r.OnEvent(watch.Event{Type: watch.Error, Object: statusOf(err)})
			} else {
				r.OnWatchOpenError(err)
			}
			r.wantWatchList("")
		}
	}
}

func statusOf(err error) *metav1.Status {
	s := err.(interface{ Status() metav1.Status }).Status()
	return &s
}

func TestI18BusyServerIsTriedAgainAndTheWaitIgnoresStop(t *testing.T) {
	for _, err := range []error{tooMany, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)} {
		r := startWatchList(t, ReflectorOptions{})
		r.OnWatchOpenError(err)
		r.wantSleep(800 * time.Millisecond)
		r.pass(800 * time.Millisecond)
		r.wantWatchList("")
		r.OnWatchOpenError(err)
		r.Stop()
		if r.Stopped() {
			t.Error("stopped before the wait was over")
		}
		r.wantSleep(1600 * time.Millisecond)
		r.pass(1600 * time.Millisecond)
		if !r.Stopped() || r.Want().Op != OpNone {
			t.Error("not stopped after the wait")
		}
	}
}

func TestI19OtherErrorsFallBackToList(t *testing.T) {
	r := startWatchList(t, ReflectorOptions{})
	r.OnWatchOpened()
	r.event(watch.Added, pod("a", 1))
	r.inStream(internalError)
	r.wantList("0", 500, "")
	r.OnPage(objects(pod("b", 4)), "4", "", nil)
	equal(t, r.q.take(), []string{`replace b@4 at 4 after ""`})
	r.wantWatch("4")

	r = startWatchList(t, ReflectorOptions{})
	r.OnWatchOpened()
	r.q.err = errBoom
	r.event(watch.Bookmark, endBookmark(5))
	r.wantList("0", 500, "")
	if len(r.handled) != 1 || !errors.Is(r.handled[0], errBoom) {
		t.Errorf("reported %v", r.handled)
	}
}

func TestI20I23ClosedWithoutBookmarkRetriesAtOnceWithNothing(t *testing.T) {
	r := startWatchList(t, ReflectorOptions{})
	r.OnWatchOpened()
	r.event(watch.Added, pod("a", 1))
	r.OnWatchClosed(io.EOF)
	r.wantWatchList("")
	r.OnWatchOpened()
	r.event(watch.Added, pod("b", 2))
	r.event(watch.Bookmark, endBookmark(3))
	equal(t, r.q.take(), []string{`replace b@2 at 3 after ""`}) // I23: a@1 is forgotten

	r = startWatchList(t, ReflectorOptions{})
	r.OnWatchOpened()
	r.pass(time.Second)
	r.OnWatchClosed(nil)
	r.wantWatchList("")
}

func TestI21VeryShortWatchListFallsBack(t *testing.T) {
	r := startWatchList(t, ReflectorOptions{})
	r.OnWatchOpened()
	r.pass(999 * time.Millisecond)
	r.OnWatchClosed(nil)
	r.wantList("0", 500, "")
}

func TestI22MissingBookmarkIsOnlyReported(t *testing.T) {
	r := startWatchList(t, ReflectorOptions{})
	r.OnWatchOpened()
	r.pass(9 * time.Second)
	if at, any := r.NextTime(); len(r.handled) != 0 || !any || !at.Equal(t0.Add(10*time.Second)) {
		t.Fatalf("reported %v, next time %v %v", r.handled, at, any)
	}
	r.pass(time.Second)
	r.event(watch.Added, pod("a", 1))
	r.pass(10 * time.Second)
	if len(r.handled) != 2 || !strings.Contains(r.handled[0].Error(), "no events received for 10s") ||
		!strings.Contains(r.handled[1].Error(), "10s ago") {
		t.Fatalf("reported %v", r.handled)
	}
	r.event(watch.Added, pod("b", 2))
	r.pass(9 * time.Second)
	r.event(watch.Added, pod("c", 2))
	r.pass(time.Second)
	if len(r.handled) != 2 || r.Watching() {
		t.Errorf("an event a second ago: reported %v", r.handled[2:])
	}
}

func TestI24Consistency(t *testing.T) {
	var at string
	var got []any
	r := startWatchList(t, ReflectorOptions{WatchListCompleted: func(rv string, items []any) { at, got = rv, items }})
	r.OnWatchOpened()
	r.event(watch.Added, pod("a", 1))
	r.event(watch.Added, pod("b", 2))
	r.event(watch.Bookmark, endBookmark(3))
	o, ok := ConsistencyListOptions(at)
	if !ok || o.ResourceVersion != "3" || o.ResourceVersionMatch != metav1.ResourceVersionMatchExact {
		t.Fatalf("options %+v", o)
	}
	if _, ok := ConsistencyListOptions("0"); ok {
		t.Error(`ConsistencyListOptions accepted "0", which cannot be listed exactly`)
	}
	must(t, CheckConsistency(objects(pod("b", 2), pod("a", 1)), got, nil))
	for name, listed := range map[string][]*v1.Pod{
		"changed": {pod("a", 1), pod("b", 9)}, "fewer": {pod("a", 1)}, "more": {pod("a", 1), pod("b", 2), pod("c", 3)},
	} {
		if CheckConsistency(objects(listed...), got, nil) == nil {
			t.Errorf("%s: no difference found", name)
		}
	}
	if CheckConsistency(objects(pod("a", 1)), anys("x"), nil) == nil ||
		CheckConsistency(objects(func() *v1.Pod { p := pod("a", 1); p.Spec.NodeName = "n2"; return p }()), nil, markTransformed) == nil {
		t.Error("an object without metadata or a failing transformer went unnoticed")
	}
	must(t, CheckConsistency(objects(pod("a", 1)), anys(func() *v1.Pod { p := pod("a", 1); p.ResourceVersion = "1t"; return p }()), markTransformed))
}

func TestI26I29WatchListSkipsWhatAWatchSkips(t *testing.T) {
	r := startWatchList(t, ReflectorOptions{ExpectedType: &v1.Pod{}})
	r.OnWatchOpened()
	r.event(watch.Added, &v1.Node{})
	r.event("STRANGE", pod("x", 1))
	r.event(watch.Deleted, pod("x", 1))
	r.OnEvent(watch.Event{Type: watch.Added, Object: pod("a", 2)})
	r.event(watch.Bookmark, endBookmark(3))
	equal(t, r.q.take(), []string{`replace a@2 at 3 after ""`})
	if len(r.handled) != 2 {
		t.Errorf("reported %v", r.handled)
	}
}

func TestInformerConvergesByWatchList(t *testing.T) {
	for name, q := range map[string]func(*Indexer) Queue{"delta": nil, "inorder": plainQueue, "atomic": atomicQueue} {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { runWorld(t, q, true) }) })
	}
}
