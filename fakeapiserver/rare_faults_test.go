package fakeapiserver

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

func inject(w *world, f fault.Fault) {
	w.t.Helper()
	w.must(func() error { return w.c.Inject(f) })
	w.settle()
}

// The effect of each fault of a frame on three events, a, b and c, where the fault selects one by name, or the next one.
func TestFrameFaults(t *testing.T) {
	tests := []struct {
		fault  fault.Fault
		events string
		closed bool
		err    error
	}{
		{fault.Fault{Kind: fault.WatchDrop}, "b c", false, nil},
		{fault.Fault{Kind: fault.WatchDrop, Name: "b"}, "a c", false, nil},
		{fault.Fault{Kind: fault.WatchDrop, Namespace: "elsewhere"}, "a b c", false, nil},
		{fault.Fault{Kind: fault.WatchDuplicate, Name: "b"}, "a b b c", false, nil},
		{fault.Fault{Kind: fault.WatchReorder}, "b a c", false, nil},
		{fault.Fault{Kind: fault.WatchReorder, Name: "c"}, "a b", false, nil}, // c waits for a frame that follows it
		{fault.Fault{Kind: fault.WatchEOFInFrame, Name: "b"}, "a", true, io.ErrUnexpectedEOF},
		{fault.Fault{Kind: fault.WatchCutLength, Name: "b"}, "a", true, io.ErrUnexpectedEOF},
		{fault.Fault{Kind: fault.WatchGarbage, Name: "b"}, "a 500", true, nil},
		{fault.Fault{Kind: fault.WatchSlow}, "", true, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.fault.Kind, tt.fault.Name), func(t *testing.T) {
			w := newWorld(t, ClusterOptions{})
			r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
			inject(w, tt.fault)
			for _, name := range []string{"a", "b", "c"} {
				w.create("default/" + name)
			}
			w.settle()
			var seen []string
			for _, e := range r.events {
				if st, ok := e.Object.(*metav1.Status); ok {
					seen = append(seen, fmt.Sprint(st.Code))
					continue
				}
				seen = append(seen, strings.TrimPrefix(e.Key, "default/"))
			}
			if got := strings.Join(seen, " "); got != tt.events || r.closed != tt.closed || r.closeErr != tt.err {
				t.Errorf("the client saw %q, closed %v with %v; want %q, %v with %v", got, r.closed, r.closeErr, tt.events, tt.closed, tt.err)
			}
			w.do(w.c.StopFaults)
			w.settle()
			if tt.fault.Kind == fault.WatchReorder && tt.fault.Name == "c" && len(r.events) != 3 {
				t.Errorf("a held frame is lost: %v", r.text())
			}
		})
	}
}

// wireReceiver records broken frames.
type wireReceiver struct {
	receiver
	broken []string
}

func (r *wireReceiver) OnBrokenFrame(_ ReqID, e Event, how Breakage) {
	r.broken = append(r.broken, fmt.Sprint(e.Key, " ", how))
}

// A WireReceiver gets the broken frame, and its watch continues after garbage.
func TestBrokenFramesOnTheWire(t *testing.T) {
	for kind, want := range map[fault.Kind]string{
		fault.WatchEOFInFrame: "[default/a 1] true []", fault.WatchCutLength: "[default/a 2] true []",
		fault.WatchGarbage: "[default/a 3] false [ADDED default/b@1002]",
	} {
		w := newWorld(t, ClusterOptions{})
		r := &wireReceiver{}
		w.do(func() { w.cl.Watch(w.pods, "", metav1.ListOptions{}, r) })
		w.settle()
		inject(w, fault.Fault{Kind: kind})
		w.create("default/a")
		w.create("default/b")
		w.settle()
		if got := fmt.Sprint(r.broken, r.closed, r.text()); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

// Bookmarks are lost or late; events are not affected. The end of the initial events may be late (k126958), or never come
// (k135895), and a bookmark that does not mark it may come before.
func TestBookmarkFaults(t *testing.T) {
	list := metav1.ListOptions{AllowWatchBookmarks: true, SendInitialEvents: ptr(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	tests := []struct {
		fault  fault.Fault
		o      metav1.ListOptions
		events string
	}{
		{fault.Fault{Kind: fault.WatchBookmarkLost}, metav1.ListOptions{ResourceVersion: "1001", AllowWatchBookmarks: true}, "ADDED BOOKMARK"},
		{fault.Fault{Kind: fault.WatchBookmarkLate, Duration: 30 * time.Second}, metav1.ListOptions{ResourceVersion: "1001", AllowWatchBookmarks: true}, "ADDED BOOKMARK@90s BOOKMARK"},
		{fault.Fault{Kind: fault.WatchBookmarkLost}, list, "ADDED BOOKMARK* ADDED BOOKMARK"},
		{fault.Fault{Kind: fault.WatchBookmarkLate, Duration: 30 * time.Second}, list, "ADDED ADDED BOOKMARK*@30s BOOKMARK BOOKMARK"},
		{fault.Fault{Kind: fault.WatchBookmarkEarly}, list, "BOOKMARK ADDED BOOKMARK* ADDED BOOKMARK BOOKMARK"},
		{fault.Fault{Kind: fault.WatchBookmarkEarly}, metav1.ListOptions{ResourceVersion: "1001", AllowWatchBookmarks: true}, "ADDED BOOKMARK BOOKMARK"},
		{fault.Fault{Kind: fault.WatchNoEndBookmark}, list, "ADDED ADDED BOOKMARK BOOKMARK"},
		{fault.Fault{Kind: fault.WatchNoEndBookmark}, metav1.ListOptions{ResourceVersion: "1001", AllowWatchBookmarks: true}, "ADDED BOOKMARK BOOKMARK"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.fault.Kind, " ", tt.o.SendInitialEvents != nil), func(t *testing.T) {
			w := newWorld(t, ClusterOptions{})
			w.create("default/a")
			w.settle()
			var seen []string
			r := &receiver{}
			r.onEvent = func(e Event) {
				text := string(e.Type)
				if m, ok := e.Object.(metav1.Object); ok && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
					text += "*"
				}
				if at := w.k.Elapsed(); at%time.Minute != 0 {
					text += fmt.Sprint("@", at.Seconds(), "s")
				}
				if e.Type == watch.Bookmark && e.Rev < r.events[max(0, len(r.events)-2)].Rev {
					t.Errorf("a bookmark at %d comes after %v", e.Rev, r.text())
				}
				seen = append(seen, text)
			}
			inject(w, tt.fault)
			w.do(func() { w.cl.Watch(w.pods, "", tt.o, r) })
			w.settle()
			w.create("default/b")
			w.advance(2 * time.Minute)
			if got := strings.Join(seen, " "); got != tt.events {
				t.Errorf("got  %s\nwant %s", got, tt.events)
			}
		})
	}
}

// The rarer faults of requests.
func TestRareRequestFaults(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: 2})
	w.create("default/a")
	w.settle()
	list := func(f fault.Fault, o metav1.ListOptions) (*Page, error) {
		inject(w, f)
		return w.list("", o)
	}
	if _, err := list(fault.Fault{Kind: fault.ListTooLarge}, metav1.ListOptions{ResourceVersion: "1001"}); !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		t.Errorf("%s: %v", fault.ListTooLarge, err)
	}
	if _, err := list(fault.Fault{Kind: fault.ListRefused}, metav1.ListOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%s: %v", fault.ListRefused, err)
	}
	if _, err := list(fault.Fault{Kind: fault.ListResetHeaders}, metav1.ListOptions{}); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%s: %v", fault.ListResetHeaders, err)
	}
	at := w.k.Elapsed()
	if _, err := list(fault.Fault{Kind: fault.ListSlow, Duration: 7 * time.Second}, metav1.ListOptions{}); err != nil || w.k.Elapsed() < at+7*time.Second {
		t.Errorf("%s: %v after %v", fault.ListSlow, err, w.k.Elapsed()-at)
	}
	for kind, want := range map[fault.Kind]error{fault.WatchOpenLost: io.ErrUnexpectedEOF, fault.WatchOpenResetHeader: syscall.ECONNRESET} {
		inject(w, fault.Fault{Kind: kind})
		if r := w.watch(metav1.ListOptions{}); !errors.Is(r.openErr, want) || r.opened {
			t.Errorf("%s: %v", kind, r.openErr)
		}
	}
	if n := len(w.c.replicas[0].caches[w.pods].streams); n != 0 {
		t.Errorf("leaked %d watches", n)
	}
	inject(w, fault.Fault{Kind: fault.WatchOpenTooLarge})
	if r := w.watch(metav1.ListOptions{ResourceVersion: "1001"}); len(r.events) != 0 || r.openErr != nil {
		t.Errorf("%s hit a plain watch: %v", fault.WatchOpenTooLarge, r.text())
	}
	r := w.watch(metav1.ListOptions{SendInitialEvents: ptr(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if len(r.events) != 1 || r.events[0].Object.(*metav1.Status).Code != 504 || !r.closed {
		t.Errorf("%s: %v", fault.WatchOpenTooLarge, r.text())
	}
	w.do(func() { w.c.Replica(1).Hold() })
	w.create("default/b")
	w.settle()
	inject(w, fault.Fault{Kind: fault.WatchOpenStale})
	r = w.watch(metav1.ListOptions{ResourceVersion: "1002"})
	w.create("default/c")
	w.settle()
	wantEvents(t, r)
	w.do(func() { w.c.Replica(1).Release() })
	w.settle()
	wantEvents(t, r, "ADDED default/c@1003")
	for kind, committed := range map[fault.Kind]bool{fault.WriteRefused: false, fault.WriteResetHeaders: true, fault.WriteSlow: true} {
		r := &receiver{}
		inject(w, fault.Fault{Kind: kind, Duration: time.Second})
		w.do(func() { w.cl.Write(Write{Verb: Create, Resource: w.pods, Object: pod("x/" + string(kind))}, r) })
		w.advance(2 * time.Second)
		obj, _ := w.c.Store().Get(w.pods, "x", string(kind))
		if (obj != nil) != committed || r.writes != 1 || (r.writeErr == nil) != (kind == fault.WriteSlow) {
			t.Errorf("%s: committed %v, answered %d times, %v", kind, obj != nil, r.writes, r.writeErr)
		}
	}
}

// A late write comes after those of others that were sent later, once at most, and not at all if its client gives up before.
func TestLateWrites(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	write := func(name string) (r *receiver, id ReqID) {
		r = &receiver{}
		w.do(func() { id = w.cl.Write(Write{Verb: Create, Resource: w.pods, Object: pod("x/" + name)}, r) })
		return r, id
	}
	revision := func(name string) int64 {
		obj, rev := w.c.Store().Get(w.pods, "x", name)
		if obj == nil {
			return 0
		}
		return rev
	}
	inject(w, fault.Fault{Kind: fault.WriteLate, Name: "late", Duration: 20 * time.Second, Count: fault.Lasting})
	late, _ := write("late")
	early, _ := write("early")
	w.advance(19 * time.Second)
	if late.writes != 0 || revision("late") != 0 || early.writes != 1 || revision("early") == 0 {
		t.Fatalf("after 19s the late write is answered %d times, and in the Store at %d; the other %d times, at %d", late.writes, revision("late"), early.writes, revision("early"))
	}
	w.advance(2 * time.Second)
	if late.writes != 1 || late.writeErr != nil || revision("late") <= revision("early") {
		t.Errorf("after 21s the late write is answered %d times (%v), and in the Store at %d; the other at %d", late.writes, late.writeErr, revision("late"), revision("early"))
	}

	w.do(w.c.StopFaults)
	inject(w, fault.Fault{Kind: fault.WriteLate, Duration: 20 * time.Second})
	_, id := write("given-up")
	w.advance(time.Second)
	w.do(func() { w.cl.Cancel(id) })
	w.advance(time.Minute)
	if revision("given-up") != 0 {
		t.Error("a write whose client has given up is done")
	}

	inject(w, fault.Fault{Kind: fault.WriteLate}) // for as long as there are faults
	stopped, _ := write("stopped")
	w.advance(time.Hour)
	if stopped.writes != 0 || revision("stopped") != 0 {
		t.Errorf("the write without a duration is answered %d times", stopped.writes)
	}
	w.do(w.c.StopFaults)
	w.settle()
	if stopped.writes != 1 || revision("stopped") == 0 {
		t.Errorf("once faults stop, the write is answered %d times, and in the Store at %d", stopped.writes, revision("stopped"))
	}

	// A fault may also hit it when it reaches its replica.
	inject(w, fault.Fault{Kind: fault.WriteLate, Replica: "replica/0", Duration: 20 * time.Second, Count: fault.Lasting})
	met, _ := write("met")
	w.advance(19 * time.Second)
	if met.writes != 0 || revision("met") != 0 {
		t.Errorf("after 19s, the write that was late at its replica is answered %d times", met.writes)
	}
	w.advance(2 * time.Second)
	if met.writes != 1 || met.writeErr != nil {
		t.Errorf("after 21s, the write that was late at its replica is answered %d times: %v", met.writes, met.writeErr)
	}
}

// An answer delayed without end arrives when faults are stopped. The fault also hits an answer in flight.
func TestSlowUntilStopped(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := &receiver{}
	w.do(func() {
		w.cl.List(w.pods, "", metav1.ListOptions{}, r)
		if err := w.c.Inject(fault.Fault{Kind: fault.ListSlow}); err != nil {
			t.Error(err)
		}
	})
	w.advance(time.Hour)
	if r.lists != 0 {
		t.Fatal("the answer was not delayed")
	}
	w.do(w.c.StopFaults)
	w.settle()
	if r.lists != 1 || r.err != nil {
		t.Errorf("after the faults: %d answers, %v", r.lists, r.err)
	}
}

// leader-loss: watches end, caches reinitialise when there is a leader again, requests that need the Store fail (k111116).
func TestLeaderLoss(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.settle()
	r := w.watch(metav1.ListOptions{ResourceVersion: "1001"})
	inject(w, fault.Fault{Kind: fault.LeaderLoss, Duration: time.Minute})
	if !r.closed || r.closeErr != nil {
		t.Errorf("the watch: closed %v, %v", r.closed, r.closeErr)
	}
	if _, err := w.list("", metav1.ListOptions{ResourceVersion: "0"}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("a list from the cache: %v", err)
	}
	if _, err := w.list("", metav1.ListOptions{Limit: 1}); err == nil || !strings.Contains(err.Error(), "no leader") {
		t.Errorf("a list from the Store: %v", err)
	}
	made := &receiver{}
	w.do(func() { w.cl.Write(Write{Verb: Create, Resource: w.pods, Object: pod("default/b")}, made) })
	w.settle()
	if made.writeErr == nil || w.c.Store().Revision() != 1001 {
		t.Errorf("a write: %v, revision %d", made.writeErr, w.c.Store().Revision())
	}
	w.advance(time.Minute)
	if page, err := w.list("", metav1.ListOptions{ResourceVersion: "0"}); err != nil || len(page.Items) != 1 {
		t.Errorf("with a leader again: %+v, %v", page, err)
	}
	inject(w, fault.Fault{Kind: fault.LeaderLoss})
	w.do(w.c.StopFaults)
	w.settle()
	if _, err := w.list("", metav1.ListOptions{Limit: 1}); err != nil {
		t.Errorf("after the faults: %v", err)
	}
}

// The strategy takes the leader away again after a write, and after a time as long as the one without: under a strategy that does so whenever
// it may, things are still written half of the time.
func TestLeaderStaysForAWhile(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.do(func() { w.must(func() error { return w.c.EnableFaults(fault.LeaderLoss) }) })
	offered := func() bool { return w.c.faults.offered == fault.SetOf(fault.LeaderLoss) }
	if !offered() {
		t.Fatal("it is not offered at first")
	}
	w.do(func() { w.c.loseLeader(10 * time.Second) })
	w.advance(4 * time.Second)
	w.do(func() { w.c.loseLeader(20 * time.Second) }) // injected, so that it overlaps
	w.advance(20 * time.Second)
	if w.c.leaderless != 0 {
		t.Fatal("there is no leader yet")
	}
	for n, at := range []time.Duration{0, 12 * time.Second, 11 * time.Second} {
		w.advance(at)
		w.create(fmt.Sprint("default/", n))
		if offered() {
			t.Errorf("after write %d it is offered", n)
		}
	}
	w.advance(time.Second)
	if offered() {
		t.Error("it is offered without a write")
	}
	w.create("default/last")
	if !offered() {
		t.Error("it is not offered again")
	}
}

// replica-skew: objects created through the replica are stamped by its clock.
func TestClockSkew(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: 2})
	b := w.c.Connect("b", Sticky(1))
	inject(w, fault.Fault{Kind: fault.ReplicaSkew, Target: "replica/1", Duration: -10 * time.Minute})
	for _, cl := range []*Client{w.cl, b} {
		r := &receiver{}
		w.do(func() {
			cl.Write(Write{Verb: Create, Resource: w.pods, Object: pod("default/" + strings.TrimPrefix(cl.Name(), "conn/"))}, r)
		})
		w.settle()
		want := w.k.Clock().Now()
		if cl == b {
			want = want.Add(-10 * time.Minute)
		}
		if at := r.written.(*corev1.Pod).CreationTimestamp.Time; !at.Equal(want) {
			t.Errorf("%s: made at %v, want %v", cl.Name(), at, want)
		}
	}
}

// restore, by name only: see k107457.
func TestRestoreFault(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.create("default/a")
	w.create("default/b")
	w.settle()
	inject(w, fault.Fault{Kind: fault.Restore, Revision: 1001})
	if got := w.c.Store().Revision(); got != 1001 {
		t.Errorf("restored to %d", got)
	}
	inject(w, fault.Fault{Kind: fault.RestoreBumped, Revision: 1001})
	if got := w.c.Store().Revision(); got != 1001+restoreBump {
		t.Errorf("restored to %d", got)
	}
	if page, err := w.list("", metav1.ListOptions{}); err != nil || len(page.Items) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

// Victims are selected by verb, replica, namespace and name, probability and time.
func TestFaultSelection(t *testing.T) {
	w := newWorld(t, ClusterOptions{Replicas: 2})
	b := w.c.Connect("b", Sticky(1))
	write := func(cl *Client, x Write) error {
		r := &receiver{}
		x.Resource = w.pods
		w.do(func() { cl.Write(x, r) })
		w.settle()
		return r.writeErr
	}
	create := func(cl *Client, key string) error { return write(cl, Write{Verb: Create, Object: pod(key)}) }

	inject(w, fault.Fault{Kind: fault.Write500, Verb: "delete"})
	if err := create(w.cl, "x/a"); err != nil {
		t.Errorf("a fault of deletions hit a create: %v", err)
	}
	if err := write(w.cl, Write{Verb: Delete, Namespace: "x", Name: "a"}); !apierrors.IsInternalError(err) {
		t.Errorf("delete: %v", err)
	}
	inject(w, fault.Fault{Kind: fault.Write503, Replica: "replica/1"})
	if err := create(w.cl, "x/b"); err != nil {
		t.Errorf("a fault of replica/1 hit replica/0: %v", err)
	}
	if err := create(b, "x/c"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("replica/1: %v", err)
	}
	inject(w, fault.Fault{Kind: fault.Write429, Namespace: "y", Name: "n"})
	for key, hit := range map[string]bool{"y/m": false, "z/n": false} {
		if err := create(w.cl, key); (err != nil) != hit {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := create(w.cl, "y/n"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("y/n: %v", err)
	}
	at := w.k.Elapsed()
	inject(w, fault.Fault{Kind: fault.Write500, Count: 100, From: at + time.Minute, Until: at + 2*time.Minute})
	for i, hit := range []bool{false, true, false} {
		if err := create(w.cl, fmt.Sprint("when/", i)); (err != nil) != hit {
			t.Errorf("in minute %d: %v", i, err)
		}
		w.advance(time.Minute)
	}
	inject(w, fault.Fault{Kind: fault.Write500, Count: 1000, Probability: 0.25})
	hits := 0
	for i := range 200 {
		if create(w.cl, fmt.Sprint("maybe/", i)) != nil {
			hits++
		}
	}
	if hits < 20 || hits > 90 {
		t.Errorf("%d of 200 were hit at a probability of 1/4", hits)
	}
}

// "After the third watch event of key K", and other triggers.
func TestFaultTriggers(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	inject(w, fault.Fault{Kind: fault.WatchEOF, After: &fault.Trigger{Key: "default/k", Count: 3, Client: "a"}})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.create("default/k")
	w.create("default/other")
	w.update("default/k")
	w.settle()
	if r.closed {
		t.Fatal("closed too early")
	}
	w.update("default/k")
	w.update("default/k")
	w.settle()
	if !r.closed || len(r.events) != 4 {
		t.Errorf("closed %v after %v", r.closed, r.text())
	}
	inject(w, fault.Fault{Kind: fault.List500, After: &fault.Trigger{Event: fault.TriggerCommit, Resource: "pods", Type: "DELETED"}})
	if _, err := w.list("", metav1.ListOptions{}); err != nil {
		t.Errorf("before the deletion: %v", err)
	}
	w.delete("default/other")
	if _, err := w.list("", metav1.ListOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("after the deletion: %v", err)
	}
	inject(w, fault.Fault{Kind: fault.Compact, After: &fault.Trigger{Event: fault.TriggerRequest, Type: "list", Count: 2}})
	for i, want := range []int64{1000, 1006} {
		if _, err := w.list("", metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := w.c.Store().Compacted(); got != want {
			t.Errorf("after list %d compacted to %d, want %d", i+1, got, want)
		}
	}
}

// Inject refuses a fault with an unknown name or a bad revision.
func TestInjectRefuses(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.do(func() {
		for _, bad := range []fault.Fault{
			{Kind: fault.Write500, Replica: "replica/7"}, {Kind: fault.ReplicaSkew, Target: "x"},
			{Kind: fault.List500, After: &fault.Trigger{Resource: "unicorns"}}, {Kind: fault.Restore, Revision: 1}, {Kind: fault.Restore, Revision: 1 << 60},
		} {
			if err := w.c.Inject(bad); err == nil {
				t.Errorf("Inject(%+v) succeeds", bad)
			}
		}
	})
}
