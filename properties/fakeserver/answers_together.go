package fakeserver

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// newsBetween has something change between two bookmarks of which the first had nothing to tell: the change is told by an event, and then by the second.
func (t *trial) newsBetween() []string {
	t.watching(1000)
	t.passes(65 * time.Second)
	t.updates("a/x")
	t.passes(60 * time.Second)
	const late = " after 1m5s"
	return []string{"commit a/x@13" + late, "c MODIFIED a/x@13" + late, "d MODIFIED a/x@13" + late, "c BOOKMARK 13 after 2m0s"}
}

// leftBehind has the window of a replica leave two watches behind at once, which are held. Both are ended.
func (t *trial) leftBehind() []string {
	t.again(fakeapiserver.ClusterOptions{History: 2})
	for range 2 {
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
	return append(want, "c closed", "c closed")
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
