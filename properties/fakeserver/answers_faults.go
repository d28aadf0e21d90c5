package fakeserver

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// overlap has two faults of a kind last at once: what they do ends with the later of them.
func (t *trial) overlap() []string {
	t.compares(t.overlapping(fault.LeaderLoss))
	t.again(fakeapiserver.ClusterOptions{})
	return t.overlapping(fault.ReplicaLag)
}

func (t *trial) overlapping(kind fault.Kind) []string {
	t.watching(1000)
	later := 2 + t.IntN(2)
	for _, seconds := range []int{1, later} {
		f := fault.Fault{Kind: kind, Duration: time.Duration(seconds) * time.Second}
		if kind == fault.ReplicaLag {
			f.Target = "0"
		}
		t.injects(f)
	}
	writes := func() {
		t.writes("c", "a/x")
		t.rest()
	}
	writes()
	t.passes(1500 * time.Millisecond) // the first is over
	writes()
	t.passes(3 * time.Second)
	writes()
	if kind == fault.LeaderLoss {
		return []string{"c closed", "d closed", "c write: 500 ", "c write: 500  after 1.5s", "commit a/x@13 after 4.5s", "c write: a/x@13 after 4.5s"}
	}
	end := fmt.Sprint(" after ", time.Duration(later)*time.Second)
	return []string{
		"commit a/x@13", "c write: a/x@13", "d MODIFIED a/x@13", "commit a/x@14 after 1.5s", "c write: a/x@14 after 1.5s", "d MODIFIED a/x@14 after 1.5s",
		"c MODIFIED a/x@13" + end, "c MODIFIED a/x@14" + end, "commit a/x@15 after 4.5s", "c write: a/x@15 after 4.5s", "c MODIFIED a/x@15 after 4.5s", "d MODIFIED a/x@15 after 4.5s",
	}
}

// outOfOrder has a frame wait for the next one, which does not come before the faults are stopped: it is not lost.
func (t *trial) outOfOrder() []string {
	t.watching(1000)
	t.injects(fault.Fault{Kind: fault.WatchReorder, Target: "c"})
	t.updates("a/x")
	t.now(t.cluster.StopFaults)
	t.rest()
	t.updates("a/y")
	return []string{"commit a/x@13", "d MODIFIED a/x@13", "c MODIFIED a/x@13", "commit a/y@14", "c MODIFIED a/y@14", "d MODIFIED a/y@14"}
}

// deadEnd ends a watch whose connection is dead: the client hears of that only when it looks itself.
func (t *trial) deadEnd() []string {
	t.watching(1000)
	t.injects(fault.Fault{Kind: fault.WatchHalfOpen, Target: "c"})
	if t.IntN(2) == 0 {
		t.now(t.cluster.Replica(0).Restart)
	} else {
		t.now(func() { t.cluster.Reopen(t.pods) })
	}
	t.passes(44 * time.Second)
	quiet := len(t.heard)
	t.passes(2 * time.Second)
	t.is("what is heard of c in 44 seconds, but that d's watch is closed", true, quiet <= 1)
	t.heard = t.heard[quiet:]
	return []string{"c closed: http2: client connection lost after 45s"}
}

// gone cancels a watch that the server has answered, and the client has not heard of. Nothing at the server goes on for it.
func (t *trial) gone() []string {
	write := t.other()
	t.injects(fault.Fault{Kind: fault.WatchOpenSlow, Target: "c", Duration: time.Minute})
	var id fakeapiserver.ReqID
	t.now(func() {
		id = t.clients["c"].Watch(t.pods, "", metav1.ListOptions{ResourceVersion: "12", AllowWatchBookmarks: true}, &ear{t, "c", ""})
	})
	t.rest()
	t.now(func() { t.clients["c"].Cancel(id) })
	write("m")
	t.passes(3 * time.Minute)
	t.lists("c", "0")
	t.rest()
	return []string{"commit m@13", "c list: " + all + " at 12 after 3m0s"}
}

// holdsBeside holds a watch that a fault blocks, too. Neither of them lets go what the other one keeps, and what is held is no fault.
func (t *trial) holdsBeside() []string {
	t.compares(t.heldFor(0, " after 2s"))
	t.again(fakeapiserver.ClusterOptions{})
	return t.heldFor(3*time.Second, " after 3s")
}

func (t *trial) heldFor(d time.Duration, at string) []string {
	t.watching(1000)
	hold := func(held bool) {
		t.now(func() { t.is("SetHeld", nil, t.cluster.SetHeld("conn/c", held)) })
	}
	hold(true)
	t.is("the faults that last while a watch is held", "", lasting(t.cluster))
	hold(false)
	t.injects(fault.Fault{Kind: fault.WatchDelay, Target: "c", Duration: 2 * time.Second})
	hold(true)
	t.updates("a/x")
	t.passes(d)
	hold(false)
	t.passes(2 * time.Second)
	t.now(func() {
		t.injects(fault.Fault{Kind: fault.WatchClose, Target: "c"})
		t.is("KeepsBack of a watch whose end is under way", true, t.cluster.KeepsBack("c", 1))
	})
	t.rest()
	return []string{"commit a/x@13", "d MODIFIED a/x@13", "c MODIFIED a/x@13" + at, fmt.Sprint("c closed after ", t.kernel.Elapsed())}
}

// oneEach has two faults wait for watches: each hits one.
func (t *trial) oneEach() []string {
	t.injects(fault.Fault{Kind: fault.WatchDelay, Target: "c", Duration: time.Second})
	t.injects(fault.Fault{Kind: fault.WatchDrop, Target: "c"})
	t.watches("c", "12", metav1.ListOptions{})
	t.rest()
	t.updates("a/x")
	t.passes(time.Second)
	t.watches("c", "13", metav1.ListOptions{})
	t.rest()
	t.updates("a/y")
	return []string{"c opened", "commit a/x@13", "c MODIFIED a/x@13 after 1s", "c opened after 1s", "commit a/y@14 after 1s", "c MODIFIED a/y@14 after 1s"}
}

// injector injects a fault when it hears of a list.
type injector struct {
	ear
	f fault.Fault
}

// OnList implements fakeapiserver.Receiver.
func (i *injector) OnList(id fakeapiserver.ReqID, p *fakeapiserver.Page, err error) {
	i.ear.OnList(id, p, err)
	i.t.is("Inject", nil, i.t.cluster.Inject(i.f))
}

// underWay injects a fault of requests while an answer is under way: it hits the next request.
func (t *trial) underWay() []string {
	t.now(func() {
		t.clients["d"].List(t.pods, "", metav1.ListOptions{}, &injector{ear{t, "d", ""}, fault.Fault{Kind: fault.List500, Target: "c"}})
		t.lists("c", "12")
	})
	t.rest()
	for range 2 {
		t.lists("c", "12")
		t.rest()
	}
	const ok = " list: " + all + " at 12"
	return []string{"d" + ok, "c" + ok, "c list: 500 InternalError", "c" + ok}
}

// passedOver has faults of frames come upon frames that they are not about: the end of a streaming list for one that loses a bookmark, and a bookmark for one
// of a namespace.
func (t *trial) passedOver() []string {
	t.injects(fault.Fault{Kind: fault.WatchBookmarkLost, Target: "c"})
	t.injects(fault.Fault{Kind: fault.WatchDrop, Target: "d", Namespace: "b"})
	t.watches("c", "12", streams())
	t.watches("d", "12", metav1.ListOptions{AllowWatchBookmarks: true})
	t.rest()
	t.updates("a/x")
	t.passes(time.Minute)
	t.updates("b/x")
	t.passes(time.Minute)
	return []string{
		"c opened", "d opened", "c ADDED a/x@10", "c ADDED a/y@11", "c ADDED b/x@12", "c BOOKMARK 12 ends", "commit a/x@13", "c MODIFIED a/x@13", "d MODIFIED a/x@13",
		"d BOOKMARK 13 after 1m0s", "commit b/x@14 after 1m0s", "c MODIFIED b/x@14 after 1m0s", "c BOOKMARK 14 after 2m0s", "d BOOKMARK 14 after 2m0s",
	}
}

// brokenLate has the connection of a request break whose answer is late: it ends then. The client may hear of that late again, and does not hear of it when the
// first answer would have come.
func (t *trial) brokenLate() []string {
	t.injects(fault.Fault{Kind: fault.ListSlow, Target: "c", Duration: 5 * time.Second})
	t.lists("c", "12")
	t.rest()
	const broken = "c list: read tcp: read: connection reset by peer"
	switch t.IntN(3) {
	case 0:
		t.now(t.cluster.Replica(0).Restart)
		t.passes(10 * time.Second)
		return []string{broken}
	case 1: // of another replica
		t.now(t.cluster.Replica(1).Restart)
		t.passes(10 * time.Second)
		return []string{"c list: " + all + " at 12 after 5s"}
	}
	t.now(func() {
		t.cluster.Replica(0).Restart()
		t.is("Inject", nil, t.cluster.Inject(fault.Fault{Kind: fault.ListSlow, Target: "c", Duration: 20 * time.Second}))
	})
	t.passes(30 * time.Second)
	return []string{broken + " after 20s"}
}

// eventsCount has events set off what waits for them: two at once, none by what nobody has written, and nothing whose time is over.
func (t *trial) eventsCount() []string {
	t.watching(1000)
	tell := func(what string, w fault.Trigger) {
		t.is("OnTrigger", nil, t.cluster.OnTrigger(w, fault.WatchClose, "c", func() { t.hears("c is told of %s", what) }))
	}
	tell("c's write", fault.Trigger{Event: fault.TriggerCommit, Client: "c"})
	tell("a write", fault.Trigger{Event: fault.TriggerCommit})
	tell("a write, too", fault.Trigger{Event: fault.TriggerCommit})
	t.injects(fault.Fault{Kind: fault.List500, Target: "c", Until: 2 * time.Second, After: &fault.Trigger{Event: fault.TriggerCommit, Client: "c"}})
	t.injects(fault.Fault{Kind: fault.Write500, Target: "c", From: time.Second})
	t.now(func() { t.is("WithdrawFault of what is scheduled", true, t.cluster.WithdrawFault(5)) })
	t.updates("a/x") // by nobody
	t.passes(3 * time.Second)
	t.now(func() {
		t.writes("c", "a/x")
		t.lists("c", "13")
	})
	t.rest()
	t.is("the faults that wait afterwards", 0, len(t.cluster.Faults()))
	at := " after 3s"
	return []string{
		"c is told of a write", "c is told of a write, too", "commit a/x@13", "c MODIFIED a/x@13", "d MODIFIED a/x@13",
		"c is told of c's write" + at, "commit a/x@14" + at, "c write: a/x@14" + at, "c list: a/x@13 a/y@11 b/x@12 at 13" + at, "c MODIFIED a/x@14" + at, "d MODIFIED a/x@14" + at,
	}
}

// counted has a fault that has a chance come upon many requests at once: only those that it hits count.
func (t *trial) counted() []string {
	t.now(func() {
		for range 60 {
			t.lists("c", "12")
		}
		t.injects(fault.Fault{Kind: fault.List500, Probability: 0.5, Count: 3})
	})
	t.rest()
	t.is("how many of 60 requests a fault hits that is to hit 3 and has a chance of one half each time", 3, strings.Count(strings.Join(t.heard, ""), "500 InternalError"))
	return t.heard
}

// drawn has the strategy draw faults until there are enough to say that they are not all alike.
func (t *trial) drawn() []string {
	kind := []fault.Kind{fault.List429, fault.Compact}[t.IntN(2)]
	t.serves(t.picks(), fakeapiserver.ClusterOptions{Faults: []fault.Kind{kind}})
	const enough = 16
	times, different := 0, map[string]bool{}
	for n := 0; n < 50 && times < enough; n++ {
		s := t.cluster.Store()
		before, compacted := s.Revision(), s.Compacted()
		t.now(func() {
			for range 10 {
				_, err := t.cluster.Update(t.pods, named("a/x"))
				t.is("Update", nil, err)
			}
			t.lists("c", "0")
		})
		t.heard = nil
		for range 12 {
			t.kernel.Step()
			if rev := s.Compacted(); rev > max(before, compacted) {
				times, compacted = times+1, rev
				different["to the newest"] = true
				if rev < s.Revision() {
					different["to an older one"] = true
				}
			}
		}
		for _, what := range t.heard {
			if strings.Contains(what, "429") {
				times++
				different[what] = true
			}
		}
	}
	if times >= enough {
		t.is(fmt.Sprintf("whether %d faults of the kind %s that are drawn are alike", times, kind), false, len(different) < 2)
	}
	t.heard = nil
	return nil
}

// leaders has the Store lose its leader twice at once. The strategy takes the next one away after as long as it had none, and not before.
func (t *trial) leaders() []string {
	t.serves(t.picks(), fakeapiserver.ClusterOptions{})
	for range 2 {
		t.injects(fault.Fault{Kind: fault.LeaderLoss, Duration: 10 * time.Second})
		t.passes(5 * time.Second)
	}
	t.passes(5 * time.Second) // it has one again
	t.is("the faults that last when the Store has a leader", "", lasting(t.cluster))
	t.now(func() { t.is("EnableFaults", nil, t.cluster.EnableFaults(fault.LeaderLoss)) })
	lost := func(seconds int) (any bool) {
		for range seconds {
			t.writes("c", "a/x")
			for range 10 {
				t.kernel.Step()
			}
			any = any || lasting(t.cluster) != ""
			t.passes(time.Second)
		}
		return any
	}
	t.is("whether the leader is lost within 14 seconds, after 15 without one", false, lost(14))
	t.is("whether it is lost in a minute", true, lost(60))
	t.heard = nil
	return nil
}

// lateAndStopped has faults stopped while a bookmark is held back: it comes then.
func (t *trial) lateAndStopped() []string {
	t.watching(1000)
	t.injects(fault.Fault{Kind: fault.WatchBookmarkLate, Target: "c", Duration: 30 * time.Second})
	t.updates("a/x")
	t.passes(65 * time.Second)
	t.now(t.cluster.StopFaults)
	t.passes(time.Second)
	return []string{"commit a/x@13", "c MODIFIED a/x@13", "d MODIFIED a/x@13", "c BOOKMARK 13 after 1m5s"}
}

// writesBreak has a connection break while the answer of a write is on its way: there is an error then, and no object.
func (t *trial) writesBreak() []string {
	t.injects(fault.Fault{Kind: fault.WriteSlow, Target: "c", Duration: 5 * time.Second})
	t.writes("c", "a/x")
	t.rest()
	t.now(t.cluster.Replica(0).Restart)
	t.rest()
	return []string{"commit a/x@13", "c write: read tcp: read: connection reset by peer"}
}

// overBefore has a watch answered so late that its time is over: it is then, however late.
func (t *trial) overBefore() []string {
	t.injects(fault.Fault{Kind: fault.WatchOpenSlow, Target: "c", Duration: 20 * time.Second})
	seconds := int64(5)
	t.watches("c", "12", metav1.ListOptions{TimeoutSeconds: &seconds})
	t.passes(30 * time.Second)
	return []string{"c opened after 5s", "c closed after 5s"}
}

// aimed has a fault of a replica come while a request is on its way to another one, a fault of a name for a list that selects more than that, and one of
// revisions that are too old for lists that name none.
func (t *trial) aimed() []string {
	t.now(func() {
		t.lists("c", "12")
		t.is("Inject", nil, t.cluster.Inject(fault.Fault{Kind: fault.List500, Replica: "1"}))
	})
	t.rest()
	t.lists("d", "12")
	t.rest()
	t.injects(fault.Fault{Kind: fault.List500, Name: "x"})
	t.asks("c", metav1.ListOptions{FieldSelector: "metadata.name=x,metadata.namespace=a"})
	t.rest()
	t.injects(fault.Fault{Kind: fault.List410, Target: "d"})
	for _, rv := range []string{"", "0", "12"} { // only the last names a state that can be too old
		t.lists("d", rv)
		t.rest()
	}
	ok := " list: " + all + " at 12"
	return []string{"c" + ok, "d list: 500 InternalError", "c list: 500 InternalError", "d" + ok, "d" + ok, "d list: 410 Expired"}
}

// lateOnce holds two requests back: each once.
func (t *trial) lateOnce() []string {
	t.injects(fault.Fault{Kind: fault.WriteLate, Target: "c", Replica: "0", Count: 2, Duration: time.Second})
	for _, key := range []string{"a/x", "a/y"} {
		t.writes("c", key)
		t.passes(3 * time.Second)
	}
	return []string{"commit a/x@13 after 1s", "c write: a/x@13 after 1s", "commit a/y@14 after 4s", "c write: a/y@14 after 4s"}
}
