package fakeserver

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// watching has both clients watch from revision 12, c with bookmarks.
func (t *trial) watching(seconds int64) {
	t.watches("c", "12", metav1.ListOptions{AllowWatchBookmarks: true, TimeoutSeconds: &seconds})
	t.watches("d", "12", metav1.ListOptions{})
	t.rest()
	t.heard = nil
}

// faultyStream hits the open watch of c.
func (t *trial) faultyStream(spec *fault.Spec) []string {
	t.watching(1000)
	f := fault.Fault{Kind: spec.Kind, Target: "c"}
	seen := []string{"commit a/x@13", "d MODIFIED a/x@13"}
	ends := func(how ...string) []string {
		t.injects(f)
		t.rest()
		t.updates("a/x")
		return append(how, seen...)
	}
	const reset = "c closed: read tcp: read: connection reset by peer"
	switch spec.Kind {
	case fault.WatchClose, fault.WatchSlow:
		return ends("c closed")
	case fault.WatchEOF:
		return ends("c closed: unexpected EOF")
	case fault.WatchReset:
		return ends(reset)
	case fault.Watch410:
		return ends("c ERROR 410 Expired", "c closed")
	case fault.Watch500:
		return ends("c ERROR 500 InternalError", "c closed")
	case fault.WatchHalfOpen:
		t.injects(f)
		t.updates("a/x")
		t.passes(time.Minute)
		return append(seen, "c closed: http2: client connection lost after 45s")
	}
	f.Duration = time.Duration(1+t.IntN(3)) * 700 * time.Millisecond
	if spec.Kind == fault.WatchStall {
		f.Duration = 70 * time.Second // no bookmark meanwhile
	}
	want := append(seen, "c MODIFIED a/x@13"+after(f.Duration))
	if t.IntN(3) == 0 { // for ever, until faults are stopped
		f.Duration = 0
		t.injects(f)
		t.updates("a/x")
		t.is("the faults that last", fmt.Sprint(spec.Kind, fakeapiserver.FaultActive), lasting(t.cluster))
		t.now(t.cluster.StopFaults)
		t.rest()
		return append(seen, "c MODIFIED a/x@13")
	}
	t.injects(f)
	t.updates("a/x")
	t.is("the faults that last", fmt.Sprint(spec.Kind, fakeapiserver.FaultActive), lasting(t.cluster))
	t.is("KeepsBack", true, t.cluster.KeepsBack("c", 1))
	t.passes(f.Duration)
	t.is("KeepsBack when it is over", false, t.cluster.KeepsBack("c", 1))
	t.passes(2 * time.Minute)
	if spec.Kind == fault.WatchStall { // the next bookmark is a minute after its end
		return append(want, "c BOOKMARK 13 after 2m10s", "c BOOKMARK 13 after 3m10s")
	}
	return append(want, "c BOOKMARK 13 after 1m0s", "c BOOKMARK 13 after 2m0s")
}

// lasting describes the fault that lasts.
func lasting(c *fakeapiserver.Cluster) string {
	for _, f := range c.Faults() {
		return fmt.Sprint(f.Fault.Kind, f.State)
	}
	return ""
}

// faultyFrame hits the next frame of c's watch that the kind is about.
func (t *trial) faultyFrame(spec *fault.Spec) []string {
	f := fault.Fault{Kind: spec.Kind, Target: "c"}
	switch spec.Kind {
	case fault.WatchBookmarkEarly, fault.WatchNoEndBookmark, fault.WatchEndUnmarked:
		return t.faultyInitialEvents(f)
	case fault.WatchBookmarkLost, fault.WatchBookmarkLate:
		return t.faultyBookmark(f)
	}
	t.watching(1000)
	key := "a/x"
	if t.IntN(2) == 0 { // of that object alone
		f.Namespace, f.Name = "a", "x"
		key = "b/x"
	}
	t.injects(f)
	want := []string{"commit " + key + "@13", "c MODIFIED " + key + "@13", "d MODIFIED " + key + "@13"}
	if f.Name == "" && spec.Kind != fault.WatchOldDelete {
		key, want = "", nil
	} else {
		t.updates(key) // is not hit
	}
	rv := 13 + len(want)/3
	t.now(func() {
		_, err := t.cluster.Delete(t.pods, "a", "x", nil)
		t.is("Delete", nil, err)
	})
	t.rest()
	t.updates("a/y")
	hits := fmt.Sprintf("a/x@%d", rv)
	next := fmt.Sprintf("a/y@%d", rv+1)
	says := func(c1, c2 []string) []string {
		want = append(append(append(want, "commit "+hits), c1...), "d DELETED "+hits, "commit "+next)
		return append(append(want, c2...), "d MODIFIED "+next)
	}
	deleted, modified := "c DELETED "+hits, "c MODIFIED "+next
	switch spec.Kind {
	case fault.WatchEOFInFrame, fault.WatchCutLength:
		return says([]string{"c closed: unexpected EOF"}, nil)
	case fault.WatchGarbage:
		return says([]string{"c ERROR 500 InternalError", "c closed"}, nil)
	case fault.WatchDuplicate:
		return says([]string{deleted, deleted}, []string{modified})
	case fault.WatchDrop:
		return says(nil, []string{modified})
	case fault.WatchOldDelete:
		old := "c DELETED a/x@10"
		if key == "a/x" {
			old = "c DELETED a/x@13"
		}
		return says([]string{old}, []string{modified})
	}
	return says(nil, []string{modified, deleted}) // WatchReorder
}

// faultyInitialEvents hits the end of a streaming list.
func (t *trial) faultyInitialEvents(f fault.Fault) []string {
	yes := true
	t.injects(f)
	t.watches("c", "12", metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	t.rest()
	t.updates("a/x")
	added := []string{"c ADDED a/x@10", "c ADDED a/y@11", "c ADDED b/x@12"}
	more := []string{"commit a/x@13", "c MODIFIED a/x@13"}
	switch f.Kind {
	case fault.WatchBookmarkEarly:
		return append(append([]string{"c opened", "c BOOKMARK 12"}, added...), append([]string{"c BOOKMARK 12 ends"}, more...)...)
	case fault.WatchEndUnmarked:
		return append(append([]string{"c opened"}, added...), append([]string{"c BOOKMARK 12"}, more...)...)
	}
	return append(append([]string{"c opened"}, added...), more...)
}

// faultyBookmark loses or delays the first bookmark of c.
func (t *trial) faultyBookmark(f fault.Fault) []string {
	t.watching(100)
	f.Duration = 10 * time.Second
	t.injects(f)
	t.updates("a/x")
	t.passes(65 * time.Second)
	overtaken := t.IntN(2) == 0 // an event is under way when the late bookmark comes, which must not overtake it
	if overtaken {
		t.now(func() { t.is("SetHeld", nil, t.cluster.SetHeld("conn/c", true)) })
	}
	t.updates("a/y")
	if overtaken {
		t.passes(10 * time.Second)
		t.now(func() { t.is("SetHeld", nil, t.cluster.SetHeld("conn/c", false)) })
		t.passes(30 * time.Second)
		want := []string{"commit a/x@13", "c MODIFIED a/x@13", "d MODIFIED a/x@13", "commit a/y@14 after 1m5s", "d MODIFIED a/y@14 after 1m5s"}
		if f.Kind == fault.WatchBookmarkLate {
			want = append(want, "c BOOKMARK 13 after 1m15s")
		}
		return append(want, "c MODIFIED a/y@14 after 1m15s", "c BOOKMARK 14 after 1m38s", "c closed after 1m40s")
	}
	t.passes(40 * time.Second)
	want := []string{"commit a/x@13", "c MODIFIED a/x@13", "d MODIFIED a/x@13", "commit a/y@14 after 1m5s", "c MODIFIED a/y@14 after 1m5s", "d MODIFIED a/y@14 after 1m5s"}
	if f.Kind == fault.WatchBookmarkLate {
		want = append(want, "c BOOKMARK 14 after 1m10s")
	}
	return append(want, "c BOOKMARK 14 after 1m38s", "c closed after 1m40s")
}

// faultyReplica hits a replica, which c uses; d uses another one.
func (t *trial) faultyReplica(spec *fault.Spec) []string {
	t.watching(1000)
	f := fault.Fault{Kind: spec.Kind, Target: []string{"", "0", "replica/0"}[t.IntN(3)]}
	switch spec.Kind {
	case fault.ReplicaRestart:
		t.now(func() { // a request that is there before the watch cache is filled anew
			t.injects(f)
			t.lists("c", "0")
		})
		t.now(func() { t.is("Ready after a restart", false, t.cluster.Replica(0).Ready()) })
		t.rest()
		t.watches("c", "11", metav1.ListOptions{}) // from before: the window is empty
		t.rest()
		t.updates("a/x")
		t.lists("c", "0")
		t.rest()
		return []string{
			"c closed: read tcp: read: connection reset by peer", "c list: " + all + " at 12", "c opened", "c ERROR 410 Expired", "c closed", "commit a/x@13", "d MODIFIED a/x@13",
			"c list: a/x@13 a/y@11 b/x@12 at 13",
		}
	case fault.ReplicaLag:
		f.Duration = time.Duration(1+t.IntN(3)) * 700 * time.Millisecond
		t.injects(f)
		t.is("the faults that last", fmt.Sprint(spec.Kind, fakeapiserver.FaultActive), lasting(t.cluster))
		t.updates("a/x")
		t.lists("c", "0")
		t.passes(f.Duration)
		return []string{"commit a/x@13", "d MODIFIED a/x@13", "c list: " + all + " at 12", "c MODIFIED a/x@13" + after(f.Duration)}
	}
	f.Duration = []time.Duration{0, 3 * time.Minute, -time.Minute}[t.IntN(3)]
	t.injects(f)
	ahead := f.Duration
	if ahead == 0 {
		ahead = time.Minute
	}
	for n, client := range []string{"c", "d"} {
		obj := named([]string{"c/new", "d/new"}[n])
		t.now(func() {
			t.clients[client].Write(fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Create, Object: obj}, &ear{t, client, ""})
		})
		t.rest()
		at := t.kernel.Clock().Now()
		if client == "c" {
			at = at.Add(ahead)
		}
		made, _ := t.cluster.Store().Get(t.pods, client, "new")
		m, ok := made.(*object)
		t.is("the clock by which an object is created, seconds", at.Unix(), map[bool]func() int64{true: func() int64 { return m.CreationTimestamp.Unix() }, false: func() int64 { return 0 }}[ok]())
	}
	t.is("the faults that last", fmt.Sprint(spec.Kind, fakeapiserver.FaultActive), lasting(t.cluster))
	t.now(t.cluster.StopFaults)
	return []string{"commit c/new@13", "c write: c/new@13", "c ADDED c/new@13", "d ADDED c/new@13", "commit d/new@14", "d write: d/new@14", "c ADDED d/new@14", "d ADDED d/new@14"}
}

// faultyStore hits the Store.
func (t *trial) faultyStore(spec *fault.Spec) []string {
	t.watching(1000)
	f := fault.Fault{Kind: spec.Kind, Revision: 11}
	s, restored := t.cluster.Store(), 0
	t.cluster.OnRestore(func() { restored++ })
	defer func() {
		t.is("restores", map[bool]int{true: 1}[spec.Kind == fault.Restore || spec.Kind == fault.RestoreBumped], restored)
	}()
	switch spec.Kind {
	case fault.Compact:
		if t.IntN(2) == 0 {
			f.Revision = 0
		}
		t.injects(f)
		t.is("what was compacted", max(f.Revision, 12*(1-min(f.Revision, 1))), s.Compacted())
		return nil
	case fault.Restore:
		if t.IntN(2) == 0 {
			f.Revision = 0 // the oldest that is left
			t.injects(f)
			t.is("the revision after a restore to the oldest", int64(first-1), s.Revision())
			return nil
		}
		t.injects(f)
		t.is("the revision after a restore", int64(11), s.Revision())
		t.updates("a/x")
		return []string{"commit a/x@12"} // which nobody notices
	case fault.RestoreBumped:
		t.injects(f)
		t.rest()
		bumped := s.Revision()
		t.is("the revision after a restore is beyond all others", true, bumped > 1000)
		t.is("what was compacted", bumped, s.Compacted())
		t.lists("c", "0")
		t.rest()
		return []string{"c closed", "d closed", fmt.Sprintf("c list: a/x@10 a/y@11 at %d", bumped)}
	}
	f.Duration = time.Duration(1+t.IntN(3)) * 700 * time.Millisecond
	t.injects(f)
	t.is("the faults that last", fmt.Sprint(spec.Kind, fakeapiserver.FaultActive), lasting(t.cluster))
	t.writes("c", "a/x")
	t.lists("c", "0")
	t.passes(f.Duration)
	t.writes("c", "a/x")
	t.rest()
	t.lists("c", "0")
	t.rest()
	later := after(f.Duration)
	return []string{
		"c closed", "d closed", "c write: 500 ", "c list: 429 TooManyRequests retry after 1 s",
		"commit a/x@13" + later, "c write: a/x@13" + later, "c list: a/x@13 a/y@11 b/x@12 at 13" + later,
	}
}
