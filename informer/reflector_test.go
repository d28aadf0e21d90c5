package informer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// fakeQueue is a QueueWriter that records its calls, with the Reflector's resourceVersion at that moment.
type fakeQueue struct {
	calls       []string
	err         error // returned by every write
	resyncErr   error
	transformer cache.TransformFunc
	lastRV      func() string
}

func (q *fakeQueue) log(format string, args ...any) error {
	q.calls = append(q.calls, fmt.Sprintf(format, args...))
	return q.err
}
func (q *fakeQueue) Add(obj any) error    { return q.log("add %s", show(obj)) }
func (q *fakeQueue) Update(obj any) error { return q.log("update %s", show(obj)) }
func (q *fakeQueue) Delete(obj any) error { return q.log("delete %s", show(obj)) }
func (q *fakeQueue) Replace(list []any, rv string) error {
	s := ""
	for _, obj := range list {
		s += " " + show(obj)
	}
	return q.log("replace%s at %s after %q", s, rv, q.lastRV())
}
func (q *fakeQueue) Resync() error                    { q.log("resync"); return q.resyncErr }
func (q *fakeQueue) Bookmark(rv string) error         { return q.log("bookmark %s", rv) }
func (q *fakeQueue) Transformer() cache.TransformFunc { return q.transformer }

func (q *fakeQueue) take() []string {
	calls := q.calls
	q.calls = nil
	return calls
}

// reflecting is a Reflector under test with the errors it reported.
type reflecting struct {
	*Reflector
	t       testing.TB
	q       *fakeQueue
	errs    []error // of the watch error handler
	handled []error // of HandleError
	now     time.Time
}

func startReflector(t testing.TB, o ReflectorOptions) *reflecting {
	t.Helper()
	r := &reflecting{t: t, q: &fakeQueue{}, now: t0}
	r.q.lastRV = func() string { return r.LastSyncResourceVersion() }
	o.Queue = r.q
	o.Name = "r"
	o.WatchErrorHandler = func(err error) { r.errs = append(r.errs, err) }
	o.HandleError = func(err error) { r.handled = append(r.handled, err) }
	r.Reflector = NewReflector(o)
	if w := r.Want(); w.Op != OpNone {
		t.Fatalf("before Start it wants %v, want none", w.Op)
	}
	r.Start(r.now)
	return r
}

func (r *reflecting) pass(d time.Duration) {
	r.now = r.now.Add(d)
	r.OnTime(r.now)
}

// wantList fails unless the Reflector wants a LIST with these options.
func (r *reflecting) wantList(rv string, limit int64, cont string) {
	r.t.Helper()
	w := r.Want()
	if o := w.Options; w.Op != OpList || o.ResourceVersion != rv || o.Limit != limit || o.Continue != cont || o.ResourceVersionMatch != "" {
		r.t.Fatalf("wants %v rv=%q match=%q limit=%d continue=%q, expected list rv=%q limit=%d continue=%q",
			w.Op, o.ResourceVersion, o.ResourceVersionMatch, o.Limit, o.Continue, rv, limit, cont)
	}
}

func (r *reflecting) wantWatch(rv string) {
	r.t.Helper()
	w := r.Want()
	if w.Op != OpWatch || w.Options.ResourceVersion != rv || !w.Options.AllowWatchBookmarks || w.Options.SendInitialEvents != nil {
		r.t.Fatalf("wants %v %+v, expected a watch from %q", w.Op, w.Options, rv)
	}
}

func (r *reflecting) wantSleep(d time.Duration) {
	r.t.Helper()
	if w := r.Want(); w.Op != OpSleep || !w.Until.Equal(r.now.Add(d)) {
		r.t.Fatalf("wants %v until %v, expected a sleep of %v", w.Op, w.Until, d)
	}
}

// watching advances the Reflector to an open stream at rv.
func (r *reflecting) watching(rv int, list ...*v1.Pod) {
	r.t.Helper()
	r.OnPage(objects(list...), fmt.Sprint(rv), "", nil)
	r.wantWatch(fmt.Sprint(rv))
	r.OnWatchOpened()
	if !r.Watching() {
		r.t.Fatal("not watching")
	}
}

func (r *reflecting) event(t watch.EventType, obj runtime.Object) {
	r.OnEvent(watch.Event{Type: t, Object: obj})
}

func (r *reflecting) inStream(err *apierrors.StatusError) { r.event(watch.Error, &err.ErrStatus) }

var (
	expired       = apierrors.NewResourceExpired("compacted")
	gone          = apierrors.NewGone("gone") //nolint:staticcheck // old servers
	tooMany       = apierrors.NewTooManyRequests("busy", 1)
	internalError = apierrors.NewInternalError(errBoom)
	refused       = &http.MaxBytesError{}
)

func tooLarge() *apierrors.StatusError {
	err := apierrors.NewTimeoutError("Too large resource version: 9, current: 8", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return err
}

func TestI1ListResourceVersions(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.wantList("0", 500, "")
	r.watching(10)
	r.inStream(expired)
	r.pass(800 * time.Millisecond)
	r.wantList("10", 0, "")
	r.OnListError(expired)
	r.wantList("", 0, "")
	r.OnListError(errBoom)
	r.pass(time.Minute)
	r.wantList("", 500, "") // still marked unavailable
	r.watching(20)
	r.inStream(expired)
	r.pass(time.Minute)
	r.wantList("20", 0, "") // I2: a success clears the mark
}

func TestI2I4WhatMakesAResourceVersionUnavailable(t *testing.T) {
	oldServer := apierrors.NewTimeoutError("Too large resource version: 9, current: 8", 1)
	oldServer.ErrStatus.Details = &metav1.StatusDetails{}
	cause := apierrors.NewTimeoutError("x", 1)
	cause.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "Too large resource version"}}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"expired": {expired, true}, "gone": {gone, true}, "too large": {tooLarge(), true}, "message": {oldServer, true},
		"cause": {cause, true}, "timeout": {apierrors.NewTimeoutError("slow", 1), false}, "other": {errBoom, false},
	} {
		r := startReflector(t, ReflectorOptions{})
		r.watching(5)
		r.OnWatchClosed(nil) // very short
		r.pass(time.Minute)
		r.OnListError(c.err)
		if got := r.Want().Op == OpList; got != c.want {
			t.Errorf("%s: retried at once: %v, want %v", name, got, c.want)
		}
	}
}

func TestI3SecondListErrorIsReturned(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.OnListError(expired)
	r.wantList("", 500, "")
	r.OnListError(tooLarge())
	r.wantSleep(800 * time.Millisecond)
	if len(r.errs) != 1 || !IsTooLargeResourceVersion(errors.Unwrap(r.errs[0])) {
		t.Fatalf("handler got %v", r.errs)
	}
}

func TestI5Limits(t *testing.T) {
	r := startReflector(t, ReflectorOptions{WatchListPageSize: 7})
	r.wantList("0", 7, "")
	r.watching(3)
	r.inStream(expired)
	r.pass(time.Minute)
	r.wantList("3", 7, "")

	r = startReflector(t, ReflectorOptions{})
	r.wantList("0", 500, "")
	r.OnPage(objects(pod("a", 1)), "3", "token", nil)
	r.OnPage(nil, "99", "", nil)
	r.wantWatch("3")
	r.OnWatchOpened()
	r.inStream(expired)
	r.pass(time.Minute)
	r.wantList("3", 500, "") // I6: latched by pages at "0"
}

func TestI6OnlyPagesAtZeroLatch(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.OnListError(expired) // now at ""
	r.OnPage(objects(pod("a", 1)), "3", "token", nil)
	r.OnPage(nil, "4", "", nil)
	r.OnWatchOpened()
	r.inStream(expired)
	r.pass(time.Minute)
	// client-go considers the resourceVersion of the first attempt, "0", and the pages of the second.
	r.wantList("3", 500, "")

	r = startReflector(t, ReflectorOptions{})
	r.watching(3)
	r.inStream(expired)
	r.pass(time.Minute)
	r.OnListError(expired)
	r.wantList("", 0, "")
	r.OnPage(objects(pod("a", 1)), "9", "token", nil)
	r.OnPage(nil, "9", "", nil)
	r.OnWatchOpened()
	r.inStream(expired)
	r.pass(time.Minute)
	r.wantList("9", 0, "")
}

func TestI7PagesKeepTheFirstPagesResourceVersion(t *testing.T) {
	r := startReflector(t, ReflectorOptions{WatchListPageSize: 2})
	remaining := int64(1)
	r.OnPage(objects(pod("a", 1), pod("b", 2)), "10", "next", &remaining)
	r.wantList("", 2, "next")
	r.OnPage(objects(pod("c", 3)), "12", "", nil)
	equal(t, r.q.take(), []string{`replace a@1 b@2 c@3 at 10 after ""`})
	r.wantWatch("10")
}

func TestI8ExpiredContinueFallsBackToTheFullList(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.OnPage(objects(pod("a", 1)), "10", "next", nil)
	r.OnListError(expired)
	r.wantList("0", 0, "")
	r.OnPage(objects(pod("a", 1), pod("b", 11)), "11", "", nil)
	equal(t, r.q.take(), []string{`replace a@1 b@11 at 11 after ""`})

	r = startReflector(t, ReflectorOptions{})
	r.OnPage(objects(pod("a", 1)), "10", "next", nil)
	r.OnListError(gone) // not Expired: the pager does not fall back, but the Reflector relists at ""
	r.wantList("", 500, "")
}

func TestI9StopDuringListReplacesNothing(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	seq := r.Seq()
	r.Stop()
	if r.Seq() == seq || r.Want().Op != OpNone {
		t.Error("the list is still wanted")
	}
	r.OnPage(objects(pod("a", 1)), "1", "", nil)
	r.OnTime(t0.Add(time.Hour))
	equal(t, r.q.take(), nil)
	if len(r.errs) != 0 {
		t.Errorf("handler got %v", r.errs)
	}
}

func TestI10ReplaceComesBeforeLastSync(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.OnPage(objects(pod("a", 1)), "7", "", nil)
	equal(t, r.q.take(), []string{`replace a@1 at 7 after ""`})
	if rv := r.LastSyncResourceVersion(); rv != "7" {
		t.Errorf("got %q", rv)
	}
	r = startReflector(t, ReflectorOptions{})
	r.q.err = errBoom
	r.OnPage(objects(pod("a", 1)), "7", "", nil)
	if rv := r.LastSyncResourceVersion(); rv != "" || len(r.errs) != 1 || !errors.Is(r.errs[0], errBoom) {
		t.Errorf("after a failed Replace: last sync %q, handler got %v", rv, r.errs)
	}
}

func TestI11I12ListErrorsAreReportedThenBackOff(t *testing.T) {
	r := startReflector(t, ReflectorOptions{Random: func() float64 { return 0.5 }})
	want := []time.Duration{1200, 2400, 4800, 9600, 19200, 38400, 45000, 45000}
	for i, ms := range want {
		r.OnListError(errBoom)
		if len(r.errs) != i+1 || !strings.Contains(r.errs[i].Error(), "failed to list <unspecified>: boom") {
			t.Fatalf("handler got %v", r.errs)
		}
		r.wantSleep(ms * time.Millisecond)
		r.pass(ms*time.Millisecond - 1)
		r.wantSleep(1)
		r.pass(1)
		if i == len(want)-2 {
			r.wantList("0", 500, "")
		}
		if r.now.Sub(t0) > 2*time.Minute {
			break
		}
	}
	r.OnListError(errBoom)
	r.wantSleep(1200 * time.Millisecond) // over 2 minutes since the start: the backoff restarts
}

func TestI12BackoffFollowsACleanReturnToo(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.watching(1)
	r.inStream(expired)
	if len(r.errs) != 0 {
		t.Errorf("handler got %v", r.errs)
	}
	r.wantSleep(800 * time.Millisecond)
}

func TestI25WatchOptions(t *testing.T) {
	for _, c := range []struct {
		min    time.Duration
		random float64
		want   int64
	}{{0, 0, 300}, {0, 0.5, 450}, {time.Minute, 0.999, 599}, {10 * time.Minute, 0.5, 900}} {
		r := startReflector(t, ReflectorOptions{MinWatchTimeout: c.min, Random: func() float64 { return c.random }})
		r.OnPage(nil, "5", "", nil)
		r.wantWatch("5")
		if got := *r.Want().Options.TimeoutSeconds; got != c.want {
			t.Errorf("min %v random %v: timeout %ds, want %ds", c.min, c.random, got, c.want)
		}
	}
}

func TestI26FromNoResourceVersionAddedDoesNotAdvance(t *testing.T) {
	for _, rv := range []string{"", "0"} {
		r := startReflector(t, ReflectorOptions{})
		r.OnPage(nil, rv, "", nil)
		r.OnWatchOpened()
		r.event(watch.Added, pod("a", 9))
		if got := r.LastSyncResourceVersion(); got != rv {
			t.Errorf("from %q: an ADDED moved it to %q (k74022)", rv, got)
		}
		r.event(watch.Modified, pod("b", 4))
		r.event(watch.Added, pod("c", 5))
		if got := r.LastSyncResourceVersion(); got != "5" {
			t.Errorf("from %q: got %q, want 5", rv, got)
		}
	}
}

func TestI27EveryAcceptedEventSetsTheResourceVersion(t *testing.T) {
	var told []string
	r := startReflector(t, ReflectorOptions{OnResourceVersion: func(rv string) { told = append(told, rv) }})
	r.watching(10)
	r.event(watch.Added, pod("a", 11))
	r.event(watch.Modified, pod("a", 12))
	r.event(watch.Deleted, pod("a", 9)) // backwards
	r.OnObject(watch.Added, pod("b", 1), "13")
	equal(t, told, []string{"11", "12", "9", "13"})
	equal(t, r.q.take()[1:], []string{"add a@11", "update a@12", "delete a@9", "add b@1"})
	if rv := r.LastSyncResourceVersion(); rv != "13" {
		t.Errorf("got %s", rv)
	}
}

func TestI28BookmarkSetsTheResourceVersionOnly(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.watching(10)
	r.event(watch.Bookmark, pod("", 15))
	equal(t, r.q.take()[1:], []string{"bookmark 15"})
	r.OnWatchClosed(io.EOF)
	r.wantWatch("15")
}

func TestI29UnacceptableEventsAreSkipped(t *testing.T) {
	r := startReflector(t, ReflectorOptions{ExpectedType: &v1.Pod{}})
	r.watching(10)
	r.event(watch.Added, &v1.Node{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "11"}})
	r.event(watch.Added, nil)
	if len(r.handled) != 2 || r.LastSyncResourceVersion() != "10" {
		t.Errorf("wrong type: %v, at %s", r.handled, r.LastSyncResourceVersion())
	}
	object := func(kind string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetAPIVersion("meta.k8s.io/v1")
		u.SetKind(kind)
		u.SetResourceVersion("12")
		return u
	}
	r = startReflector(t, ReflectorOptions{ExpectedType: object("Widget")})
	r.watching(10)
	r.event(watch.Added, object("Gadget"))
	if len(r.handled) != 1 || r.LastSyncResourceVersion() != "10" {
		t.Errorf("wrong kind: %v", r.handled)
	}
	r.event(watch.Added, object("Widget"))
	if r.LastSyncResourceVersion() != "12" {
		t.Error("the expected kind was not accepted")
	}
	r = startReflector(t, ReflectorOptions{})
	r.watching(10)
	r.event(watch.Added, object("Table"))
	r.event(watch.Added, &metav1.Status{})
	if len(r.handled) != 2 || r.LastSyncResourceVersion() != "10" {
		t.Errorf("table and no meta: %v", r.handled)
	}
	r.event("STRANGE", pod("a", 13)) // unknown types count, as in client-go
	if len(r.handled) != 3 || r.LastSyncResourceVersion() != "13" {
		t.Errorf("unknown event type: %v, at %s", r.handled, r.LastSyncResourceVersion())
	}
}

func TestI30QueueErrorIsReportedAndTheResourceVersionAdvances(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.watching(10)
	r.q.err = errBoom
	r.event(watch.Added, pod("a", 11))
	if len(r.handled) != 1 || !errors.Is(r.handled[0], errBoom) || r.LastSyncResourceVersion() != "11" {
		t.Errorf("handled %v, at %s", r.handled, r.LastSyncResourceVersion())
	}
}

func TestI31CleanCloseRewatchesAtOnce(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.watching(10)
	r.event(watch.Added, pod("a", 11))
	r.OnWatchClosed(nil)
	r.wantWatch("11")
	r.OnWatchOpened()
	r.pass(time.Second)
	r.OnWatchClosed(nil) // without events, but not very short
	r.wantWatch("11")
}

func TestI32VeryShortWatchRelists(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.watching(10)
	r.pass(999 * time.Millisecond)
	r.OnWatchClosed(io.EOF)
	r.wantSleep(800 * time.Millisecond)
	r.pass(800 * time.Millisecond)
	r.wantList("10", 0, "")
}

func TestI33WatchOpenErrors(t *testing.T) {
	for name, err := range map[string]error{"429": tooMany, "refused": fmt.Errorf("dial: %w", syscall.ECONNREFUSED)} {
		r := startReflector(t, ReflectorOptions{})
		r.OnPage(nil, "10", "", nil)
		r.OnWatchOpenError(err)
		r.wantSleep(800 * time.Millisecond)
		r.pass(800 * time.Millisecond)
		r.wantWatch("10")
		if len(r.errs) != 0 {
			t.Errorf("%s: handler got %v", name, r.errs)
		}
	}
	for name, err := range map[string]error{"500": internalError, "410": expired, "other": refused} {
		r := startReflector(t, ReflectorOptions{})
		r.OnPage(nil, "10", "", nil)
		r.OnWatchOpenError(err)
		r.wantSleep(800 * time.Millisecond)
		r.pass(800 * time.Millisecond)
		r.wantList("10", 0, "")
		if len(r.errs) != 1 || r.errs[0] != err {
			t.Errorf("%s: handler got %v", name, r.errs)
		}
	}
}

func TestI34InStreamErrors(t *testing.T) {
	r := startReflector(t, ReflectorOptions{MaxInternalErrorRetryDuration: 10 * time.Second})
	r.watching(10)
	r.inStream(tooMany)
	r.wantSleep(800 * time.Millisecond)
	r.pass(800 * time.Millisecond)
	r.wantWatch("10")
	for range 3 { // 0s, 5s and 10s after the first
		r.OnWatchOpened()
		r.inStream(internalError)
		r.wantWatch("10")
		r.pass(5 * time.Second)
	}
	r.OnWatchOpened()
	r.inStream(internalError) // 15s after the first
	if r.Want().Op != OpSleep {
		t.Fatal("internal errors were retried for too long")
	}
	r.pass(time.Minute)
	r.wantList("10", 0, "")
	r = startReflector(t, ReflectorOptions{})
	for i, err := range []*apierrors.StatusError{expired, gone, internalError, tooLarge()} {
		r.watching(10 + i)
		r.inStream(err)
		if r.Want().Op != OpSleep || len(r.errs) != 0 {
			t.Fatalf("%v: wants %v, handler got %v", err, r.Want().Op, r.errs)
		}
		r.pass(time.Minute)
	}
}

func TestI35AfterInStream410TheLastResourceVersionIsTriedFirst(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	r.watching(10)
	r.event(watch.Added, pod("a", 12))
	r.inStream(expired)
	r.pass(time.Minute)
	r.wantList("12", 0, "")
	r.OnListError(expired)
	r.wantList("", 0, "")
}

func TestI37StreamEndings(t *testing.T) {
	for _, err := range []error{nil, io.EOF, io.ErrUnexpectedEOF, errors.New("read: connection reset by peer")} {
		r := startReflector(t, ReflectorOptions{})
		r.watching(10)
		r.event(watch.Added, pod("a", 11))
		r.OnWatchClosed(err)
		r.wantWatch("11")
	}
	r := startReflector(t, ReflectorOptions{})
	r.watching(10)
	r.event(watch.Added, pod("a", 11))
	r.OnWatchClosed(errors.New("invalid character"))
	r.wantSleep(800 * time.Millisecond) // an internal error, which is not retried by default
	r = startReflector(t, ReflectorOptions{MaxInternalErrorRetryDuration: time.Minute})
	r.watching(10)
	r.OnWatchClosed(errors.New("invalid character"))
	r.wantWatch("10")
}

func TestI38ResyncTimerRunsOnlyWhileWatching(t *testing.T) {
	asked := 0
	r := startReflector(t, ReflectorOptions{ResyncPeriod: time.Minute, ShouldResync: func(time.Time) bool {
		asked++
		return asked != 1
	}})
	r.pass(time.Hour) // listing
	if _, running := r.NextResync(); running || asked != 0 {
		t.Fatal("the timer runs during the list")
	}
	r.watching(10)
	r.q.take()
	for range 3 {
		r.pass(time.Minute)
	}
	equal(t, r.q.take(), []string{"resync", "resync"})
	r.pass(59 * time.Second)
	r.inStream(expired)
	r.pass(time.Second) // relisting: starved
	r.watching(11)
	r.pass(59 * time.Second)
	if asked != 3 {
		t.Errorf("asked %d times, want 3: a relist starts the timer from zero", asked)
	}
	if at, any := r.NextTime(); !any || !at.Equal(r.now.Add(time.Second)) {
		t.Errorf("next time is %v %v", at, any)
	}
}

func TestI39ResyncErrorEndsTheWatch(t *testing.T) {
	r := startReflector(t, ReflectorOptions{ResyncPeriod: time.Minute})
	r.watching(10)
	r.q.resyncErr = errBoom
	r.pass(time.Minute)
	r.wantSleep(800 * time.Millisecond)
	if len(r.errs) != 0 {
		t.Errorf("handler got %v", r.errs)
	}
	r.pass(time.Second)
	r.OnPage(nil, "11", "", nil)
	r.pass(time.Minute) // fails while the watch is being opened
	r.wantWatch("11")
	r.OnWatchOpened()
	if r.Want().Op != OpSleep {
		t.Error("the next stream must end at once")
	}
}

func TestReflectorIgnoresWhatItDidNotAskFor(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	seq := r.Seq()
	r.OnWatchOpened()
	r.OnWatchClosed(errBoom)
	r.OnWatchOpenError(errBoom)
	r.event(watch.Added, pod("a", 1))
	r.Start(t0)
	if r.Seq() != seq {
		t.Error("answers to no question changed the want")
	}
	r.OnPage(nil, "1", "", nil)
	seq = r.Seq()
	r.OnPage(objects(pod("a", 1)), "9", "", nil)
	r.OnListError(errBoom)
	r.OnWatchClosed(nil)
	if r.Seq() != seq || len(r.errs) != 0 {
		t.Error("late answers changed the want")
	}
}

func TestSetTimeLeavesWhatIsDueToOnTime(t *testing.T) {
	r := startReflector(t, ReflectorOptions{ResyncPeriod: time.Minute})
	r.watching(10)
	r.q.take()
	r.SetTime(t0.Add(time.Minute))
	r.event(watch.Added, pod("a", 11))
	equal(t, r.q.take(), []string{"add a@11"})
	r.OnTime(t0.Add(time.Minute))
	equal(t, r.q.take(), []string{"resync"})
}

func TestOnKeyedIsOnObject(t *testing.T) {
	for name, newQueue := range map[string]func(*Indexer) Queue{"delta": deltaQueue, "atomic": atomicQueue} {
		var popped [2][]string
		for i, key := range []string{"", "ns/a"} {
			q := newQueue(NewIndexer(IndexerOptions{}))
			r := NewReflector(ReflectorOptions{Queue: q})
			r.Start(t0)
			r.OnPage(nil, "1", "", nil)
			r.OnWatchOpened()
			r.OnKeyed(watch.Added, key, pod("ns/a", 2), "2")
			r.OnKeyed(watch.Modified, key, pod("ns/a", 3), "")
			r.OnKeyed(watch.Deleted, key, pod("ns/a", 4), "4")
			popped[i] = popAll(q)
			if rv := r.LastSyncResourceVersion(); rv != "4" {
				t.Errorf("%s: at %s", name, rv)
			}
		}
		equal(t, popped[1], popped[0])
		if len(popped[0]) == 0 {
			t.Errorf("%s: nothing was queued", name)
		}
	}
}

func TestReflectorOnList(t *testing.T) {
	r := startReflector(t, ReflectorOptions{})
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5", Continue: "c"}, Items: []v1.Pod{*pod("a", 1), *pod("b", 2)}}
	r.OnList(list)
	r.wantList("", 500, "c")
	list.Continue = ""
	list.Items = list.Items[:1]
	r.OnList(list)
	equal(t, r.q.take(), []string{`replace a@1 b@2 a@1 at 5 after ""`})
	for _, bad := range []runtime.Object{pod("a", 1), table()} {
		r := startReflector(t, ReflectorOptions{})
		r.OnList(bad)
		if len(r.errs) != 1 || r.Want().Op != OpSleep {
			t.Errorf("%T: handler got %v", bad, r.errs)
		}
	}
}

func table() runtime.Object {
	u := &unstructured.UnstructuredList{}
	u.SetAPIVersion("meta.k8s.io/v1")
	u.SetKind("Table")
	return u
}

func BenchmarkReflectorEvent(b *testing.B) {
	r := NewReflector(ReflectorOptions{Queue: NewDeltaFIFO(DeltaFIFOOptions{}), ExpectedType: &v1.Pod{}})
	r.Start(t0)
	r.OnPage(nil, "1", "", nil)
	r.OnWatchOpened()
	e := watch.Event{Type: watch.Modified, Object: pod("a/b", 2)}
	var p Popped
	b.ReportAllocs()
	for range b.N {
		r.OnEvent(e)
		r.o.Queue.(*DeltaFIFO).Pop(&p)
	}
}
