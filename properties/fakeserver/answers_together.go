package fakeserver

import (
	"encoding/base64"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// each has several things happen, each on a server of its own: they are quick, and there are many others.
func (t *trial) each(ways ...func() []string) []string {
	for _, way := range ways[:len(ways)-1] {
		t.compares(way())
		t.again(fakeapiserver.ClusterOptions{})
	}
	return ways[len(ways)-1]()
}

func (t *trial) lateThings() []string {
	return t.each(t.newsBetween, t.twoLate, t.lateButInTime, t.canceledLate)
}

func (t *trial) stuckWatches() []string {
	return t.each(t.leftBehind, t.restartsBlocked, t.stoppedBeside, t.frameOfBlocked)
}

func (t *trial) someOfIt() []string { return t.each(t.someUnderWay, t.tornPage, t.setsOffMore) }

func (t *trial) oddRevisions() []string {
	return t.each(t.exactLater, t.noticedByAll, t.oddRequests, t.memosRestored)
}

// newsBetween has something change between two bookmarks of which the first had nothing to tell: the change is told by an event, and then by the second.
func (t *trial) newsBetween() []string {
	t.watching(1000)
	t.passes(65 * time.Second)
	t.updates("a/x")
	t.passes(60 * time.Second)
	const late = " after 1m5s"
	return []string{"commit a/x@13" + late, "c MODIFIED a/x@13" + late, "d MODIFIED a/x@13" + late, "c BOOKMARK 13 after 2m0s"}
}

// leftBehind has the window of a replica leave several watches behind at once, which are held. All are ended.
func (t *trial) leftBehind() []string {
	t.again(fakeapiserver.ClusterOptions{History: 2})
	for range 3 {
		t.watches("c", "12", metav1.ListOptions{})
	}
	t.rest()
	t.heard = nil
	t.now(func() { t.is("SetHeld", nil, t.cluster.SetHeld("conn/c", true)) })
	want := []string{}
	for rev := 13; rev < 16; rev++ {
		t.updates("a/x")
		want = append(want, fmt.Sprint("commit a/x@", rev))
	}
	t.now(func() { t.is("SetHeld", nil, t.cluster.SetHeld("conn/c", false)) })
	t.rest()
	return append(want, "c closed", "c closed", "c closed")
}

// exactLater asks for a list at a revision that a replica does not have yet: it waits, and says that the revision is too large if it does not come.
func (t *trial) exactLater() []string {
	exact := func(rv string) {
		t.asks("c", metav1.ListOptions{ResourceVersion: rv, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		t.rest()
	}
	t.now(t.cluster.Replica(0).Hold)
	t.updates("a/x")
	exact("13")
	t.passes(time.Second)
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	exact("14")
	t.passes(4 * time.Second)
	const large = "504 Timeout retry after 1 s too large"
	for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchExact} {
		_, err := t.cluster.ListNow(t.pods, "", metav1.ListOptions{ResourceVersion: "14", ResourceVersionMatch: match})
		t.is("ListNow at a revision that is not there yet", large, failure(err))
	}
	return []string{"commit a/x@13", "c list: a/x@13 a/y@11 b/x@12 at 13 after 1s", "c list: " + large + " after 4s"}
}

// twoLate has two answers of a client be late. Each comes in its own time.
func (t *trial) twoLate() []string {
	for n, rv := range []string{"12", "0"} {
		t.injects(fault.Fault{Kind: fault.ListSlow, Target: "c", Duration: time.Duration(4-2*n) * time.Second})
		t.lists("c", rv)
		t.rest()
	}
	t.watches("c", "12", metav1.ListOptions{})
	t.passes(5 * time.Second)
	ok := "c list: " + all + " at 12 after "
	return []string{"c opened", ok + "2s", ok + "4s"}
}

// someUnderWay orders a fault for three lists, of which two are under way: it hits those, and one more.
func (t *trial) someUnderWay() []string {
	t.now(func() {
		t.lists("c", "12")
		t.lists("c", "0")
		t.is("Inject", nil, t.cluster.Inject(fault.Fault{Kind: fault.List500, Target: "c", Count: 3}))
	})
	if armed := t.cluster.Faults(); len(armed) == 1 {
		t.is("how many hits are left of three", 1, armed[0].Left)
	}
	t.rest()
	for range 2 {
		t.lists("c", "12")
		t.rest()
	}
	const hit = "c list: 500 InternalError"
	return []string{hit, hit, hit, "c list: " + all + " at 12"}
}

// lateButInTime has a watch be heard of late, which lasts as long as it was asked for all the same.
func (t *trial) lateButInTime() []string {
	t.injects(fault.Fault{Kind: fault.WatchOpenSlow, Target: "c", Duration: 2 * time.Second})
	seconds := int64(5)
	t.watches("c", "12", metav1.ListOptions{TimeoutSeconds: &seconds})
	t.passes(10 * time.Second)
	return []string{"c opened after 2s", "c closed after 5s"}
}

// frameOfBlocked has a fault wait for the next frame of a watch that another one blocks. Of the two the first is told of.
func (t *trial) frameOfBlocked() []string {
	t.watching(1000)
	t.injects(fault.Fault{Kind: fault.WatchDelay, Target: "c", Duration: time.Second})
	t.injects(fault.Fault{Kind: fault.WatchDrop, Target: "c"})
	t.is("the fault that lasts of a blocked watch whose next frame is to be dropped", fmt.Sprint(fault.WatchDrop, fakeapiserver.FaultActive), lasting(t.cluster))
	t.updates("a/x")
	t.passes(time.Second)
	t.updates("a/y")
	return []string{"commit a/x@13", "d MODIFIED a/x@13", "commit a/y@14 after 1s", "c MODIFIED a/y@14 after 1s", "d MODIFIED a/y@14 after 1s"}
}

// noticedByAll has the Store compacted by somebody else, which each replica notices by itself some time later.
func (t *trial) noticedByAll() []string {
	t.updates("a/x")
	t.now(func() { t.is("CompactStore", nil, t.cluster.CompactStore(13)) })
	for range 2 {
		for _, client := range []string{"c", "d"} {
			t.asks(client, metav1.ListOptions{ResourceVersion: "12", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
			t.rest()
		}
		t.passes(16 * time.Second)
	}
	const expired = " list: 410 Expired after 16s"
	return []string{"commit a/x@13", "c list: " + all + " at 12", "d list: " + all + " at 12", "c" + expired, "d" + expired}
}

// restartsBlocked restarts a replica while a fault blocks one of its watches, which ends at once.
func (t *trial) restartsBlocked() []string {
	t.watching(1000)
	t.injects(fault.Fault{Kind: []fault.Kind{fault.WatchDelay, fault.WatchStall}[t.IntN(2)], Target: "c", Duration: 5 * time.Second})
	t.now(t.cluster.Replica(0).Restart)
	t.passes(time.Second)
	return []string{"c closed: read tcp: read: connection reset by peer"}
}

// stoppedBeside stops faults while a watch is blocked by one, and held as well. It is let go.
func (t *trial) stoppedBeside() []string {
	t.watching(1000)
	t.injects(fault.Fault{Kind: fault.WatchDelay, Target: "c", Duration: time.Minute})
	t.now(func() { t.is("SetHeld", nil, t.cluster.SetHeld("conn/c", true)) })
	t.updates("a/x")
	t.now(t.cluster.StopFaults)
	t.rest()
	return []string{"commit a/x@13", "d MODIFIED a/x@13", "c MODIFIED a/x@13"}
}

// tornPage has a list of pages be torn: as many objects are left as of a whole one, and there is a token.
func (t *trial) tornPage() []string {
	t.now(t.cluster.Replica(0).Hold)
	t.updates("a/y")
	t.injects(fault.Fault{Kind: fault.ListTorn, Target: "c"})
	e := &ear{t, "c", ""}
	left := &lefts{ear: e}
	t.now(func() {
		t.clients["c"].List(t.pods, "", metav1.ListOptions{Limit: 2, ResourceVersion: "12", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, left)
	})
	t.rest()
	t.is("how many objects a torn page leaves, and whether it has a token", fmt.Sprint(1, true), fmt.Sprint(left.n, e.token != ""))
	return []string{"commit a/y@13", "c list: a/x@10 a/y@13 at 12"}
}

// lefts is an ear that hears how many objects a page leaves.
type lefts struct {
	*ear
	n int64
}

// OnList implements fakeapiserver.Receiver.
func (l *lefts) OnList(id fakeapiserver.ReqID, p *fakeapiserver.Page, err error) {
	if l.n = 0; err == nil && p.RemainingItemCount != nil {
		l.n = *p.RemainingItemCount
	}
	l.ear.OnList(id, p, err)
}

// setsOffMore has an event set off what waits for the next one.
func (t *trial) setsOffMore() []string {
	commit := fault.Trigger{Event: fault.TriggerCommit, Type: "modified"}
	t.is("OnTrigger", nil, t.cluster.OnTrigger(commit, fault.WatchClose, "c", func() {
		t.is("OnTrigger of one that was set off", nil, t.cluster.OnTrigger(commit, fault.WatchClose, "c", func() { t.hears("c is told") }))
	}))
	t.updates("a/x")
	t.is("how many faults wait that another one has ordered", 1, len(t.cluster.Faults()))
	t.updates("a/x")
	t.is("how many faults wait afterwards", 0, len(t.cluster.Faults()))
	return []string{"commit a/x@13", "commit a/x@14", "c is told"}
}

// oddRequests have a revision that is no plain number, a name beside another field, a token from before keys began with a slash, and options that a token forbids.
func (t *trial) oddRequests() []string {
	one := &ear{t, "c", ""}
	list := func(namespace string, o metav1.ListOptions) {
		t.now(func() { t.clients["c"].List(t.pods, namespace, o, one) })
		t.rest()
	}
	list("", metav1.ListOptions{ResourceVersion: "012", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	list("", metav1.ListOptions{ResourceVersion: "0xc"})
	list("a", metav1.ListOptions{Limit: 1, FieldSelector: "metadata.name=x,metadata.namespace=a"})
	t.is("the token of a list of one name", "", one.token)
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":12,"start":"a/x\u0000"}`))
	list("", metav1.ListOptions{Limit: 1, Continue: token})
	list("", metav1.ListOptions{Limit: 1, Continue: token, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	return []string{"c list: " + all + " at 12", "c list: 400 BadRequest", "c list: a/x@10 at 12", "c list: a/y@11 at 12", "c list: 422 Invalid"}
}

// canceledLate cancels a watch whose bookmark is late, and compacts what it has yet to see. Nothing comes of the bookmark.
func (t *trial) canceledLate() []string {
	var id fakeapiserver.ReqID
	t.now(func() {
		id = t.clients["c"].Watch(t.pods, "", metav1.ListOptions{ResourceVersion: "12", AllowWatchBookmarks: true}, &ear{t, "c", ""})
	})
	t.rest()
	t.injects(fault.Fault{Kind: fault.WatchBookmarkLate, Target: "c", Duration: 30 * time.Second})
	t.updates("a/x")
	t.passes(65 * time.Second)
	t.now(func() { t.clients["c"].Cancel(id) })
	t.updates("a/x")
	t.updates("a/x")
	t.now(func() { t.is("Compact", nil, t.cluster.Compact(15)) })
	t.passes(time.Minute)
	const later = " after 1m5s"
	return []string{"c opened", "commit a/x@13", "c MODIFIED a/x@13", "commit a/x@14" + later, "commit a/x@15" + later}
}

// memosRestored restores a Store that keeps memos: what is left of its objects keeps them.
func (t *trial) memosRestored() []string {
	s := t.cluster.Store()
	t.now(s.KeepMemos)
	t.updates("a/x")
	t.updates("a/y")
	obj, _ := s.Get(t.pods, "a", "x")
	before := s.MemoOf(t.pods, "a", "x", obj)
	t.now(func() { t.is("Restore", nil, t.cluster.Restore(13, 0)) })
	t.is("whether an object has a memo, and the same after a restore", [2]bool{true, true}, [2]bool{before != nil, before == s.MemoOf(t.pods, "a", "x", obj)})
	return []string{"commit a/x@13", "commit a/y@14"}
}
