package fakeserver

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// adapts fills a window that grows while it spans less than 75 seconds, and shrinks when its newest quarter spans more (I110).
func (t *trial) adapts() []string {
	t.again(fakeapiserver.ClusterOptions{History: fakeapiserver.AdaptiveHistory})
	update := func() {
		_, err := t.cluster.Update(t.pods, named("a/x"))
		t.is("Update", nil, err)
	}
	writes := func(n int, every time.Duration) {
		if every == 0 {
			t.now(func() {
				for range n {
					update()
				}
			})
		}
		for range n {
			if every > 0 {
				t.now(update)
				t.passes(every)
			}
		}
		t.rest()
	}
	shown := func(ago int64, want bool) {
		rev := t.cluster.Store().Revision() - ago
		t.heard = nil
		t.watches("c", fmt.Sprint(rev), metav1.ListOptions{})
		t.rest()
		got := true
		for _, what := range t.heard {
			got = got && lane("c ERROR", []string{what}) == ""
		}
		t.is(fmt.Sprintf("a watch from %d revisions ago is served", ago), want, got)
	}
	switch n := t.IntN(8); n {
	case 0:
		writes(150, 0)
		shown(150, true)
	case 6, 7:
		t.shrinks(n == 6, writes, shown)
	case 4: // it has lost events before it grew
		writes(110, time.Second)
		writes(60, 0)
		shown(130, true)
		shown(160, false)
	case 5: // it is full, and has lost nothing
		t.again(fakeapiserver.ClusterOptions{History: 5})
		t.now(t.cluster.Replica(0).Restart)
		t.rest()
		t.other()("m", "n")
		writes(5, 0)
		shown(6, true)
		shown(8, false)
		writes(1, 0)
		shown(5, true)
		shown(6, false)
	case 3: // of a full window the newest quarter is young, and the one before it is not
		writes(120, 0)
		t.passes(80 * time.Second)
		writes(90, time.Second)
		shown(195, true)
	case 1:
		writes(110, time.Second)
		shown(101, false)
		shown(99, true)
		writes(30, 4*time.Second) // it is not smaller than it began
		shown(99, true)
	default:
		writes(150, 0)
		writes(60, 2*time.Second)
		shown(105, false)
		shown(95, true)
	}
	t.heard = nil
	return nil
}

// shrinks has a window that has grown begin anew with its watch cache, or one of four times the least length shrink to twice that.
func (t *trial) shrinks(anew bool, writes func(int, time.Duration), shown func(int64, bool)) {
	if anew {
		writes(150, 0)
		t.now(t.cluster.Replica(0).Restart)
		t.rest()
		writes(110, 2*time.Second)
		shown(105, false)
		shown(95, true)
		return
	}
	writes(340, 0)
	t.passes(80 * time.Second)
	writes(80, 0)
	shown(190, true)
	shown(210, false)
}

// periodic compacts every five minutes to what was the newest revision five minutes before.
func (t *trial) periodic() []string {
	t.again(fakeapiserver.ClusterOptions{CompactEvery: 5 * time.Minute})
	compacted := func(after time.Duration, want int64) {
		t.passes(after)
		t.is(fmt.Sprint("what is compacted after ", t.kernel.Elapsed()), want, t.cluster.Store().Compacted())
	}
	compacted(time.Minute, first-1)
	t.updates("a/x")
	compacted(5*time.Minute, first-1)
	t.updates("a/y")
	compacted(3*time.Minute, first-1)
	compacted(2*time.Minute, 13)
	compacted(5*time.Minute, 14)
	compacted(20*time.Minute, 14)
	return []string{"commit a/x@13 after 1m0s", "commit a/y@14 after 6m0s"}
}

// withoutStreams is a server whose gate WatchList is off: a watch without a revision shows what there is all the same.
func (t *trial) withoutStreams() []string {
	t.again(fakeapiserver.ClusterOptions{NoWatchList: true})
	yes := true
	t.watches("c", "12", metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	t.rest()
	t.watches("c", "0", metav1.ListOptions{})
	t.rest()
	return []string{"c watch: 422 Invalid", "c opened", "c ADDED a/x@10", "c ADDED a/y@11", "c ADDED b/x@12"}
}

// wired is a client that cannot send everything on, and sees how frames break.
type wired struct {
	ear
	refuses bool
}

var errUnsendable = apierrors.NewMethodNotSupported(schema.GroupResource{Resource: "pods"}, "list")

func (w *wired) err() error {
	if w.refuses {
		return errUnsendable
	}
	return nil
}

// PreparePage implements fakeapiserver.Preparer.
func (w *wired) PreparePage(*fakeapiserver.Page) error { return w.err() }

// PrepareEvent implements fakeapiserver.Preparer.
func (w *wired) PrepareEvent(*fakeapiserver.Event) error { return w.err() }

// OnBrokenFrame implements fakeapiserver.WireReceiver.
func (w *wired) OnBrokenFrame(_ fakeapiserver.ReqID, e fakeapiserver.Event, how fakeapiserver.Breakage) {
	w.t.hears("c broken %d %s", how, short(e.Object))
}

// unsendable has answers and frames that a client cannot send on, and frames that break on the wire.
func (t *trial) unsendable() (want []string) {
	for _, refuses := range []bool{true, false} {
		e := &wired{ear{t, "c", ""}, refuses}
		t.now(func() { t.clients["c"].List(t.pods, "", metav1.ListOptions{}, e) })
		t.rest()
		t.now(func() { t.clients["c"].Watch(t.pods, "", metav1.ListOptions{ResourceVersion: "11"}, e) })
		t.rest()
	}
	want = []string{"c list: 405 MethodNotAllowed", "c opened", "c closed", "c list: " + all + " at 12", "c opened", "c ADDED b/x@12"}
	kind := []fault.Kind{fault.WatchEOFInFrame, fault.WatchCutLength, fault.WatchGarbage}[t.IntN(3)]
	t.injects(fault.Fault{Kind: kind})
	t.updates("a/x")
	t.updates("a/y")
	switch kind {
	case fault.WatchGarbage: // the client decides what to do about it
		return append(want, "commit a/x@13", "c broken 3 a/x@13", "commit a/y@14", "c MODIFIED a/y@14")
	case fault.WatchCutLength:
		return append(want, "commit a/x@13", "c broken 2 a/x@13", "c closed: unexpected EOF", "commit a/y@14")
	}
	return append(want, "commit a/x@13", "c broken 1 a/x@13", "c closed: unexpected EOF", "commit a/y@14")
}

// noJournal is a journal that takes nothing.
type noJournal struct{ err error }

func (j noJournal) Write(store.ResourceID, string, int64, runtime.Object) error { return j.err }
func (j noJournal) Restore(int64, int64) error                                  { return j.err }

// journals has writes refused since they cannot be saved: nothing changes, and they may be tried again.
func (t *trial) journals() []string {
	cause := errors.New("the disk")
	for _, full := range []bool{true, false} {
		code := "503 ServiceUnavailable"
		if full {
			code = "507 InsufficientStorage"
		}
		t.now(func() { t.cluster.Store().SetJournal(noJournal{&store.RefusedError{Full: full, Err: cause}}) })
		for _, write := range []func() error{
			func() error { _, err := t.cluster.Create(t.pods, named("b/new")); return err },
			func() error { _, err := t.cluster.Update(t.pods, named("a/x")); return err },
			func() error { _, err := t.cluster.Delete(t.pods, "a", "x", nil); return err },
			func() error { _, err := t.cluster.DeleteAs(t.pods, "a", "x", named("a/x")); return err },
		} {
			t.now(func() {
				err := write()
				t.is("a write that cannot be saved", fmt.Sprint(code, true, true), fmt.Sprint(failure(err), fakeapiserver.Refused(err), errors.Is(err, cause)))
			})
		}
		t.now(func() {
			t.is("a restore that cannot be saved is refused", true, fakeapiserver.Refused(t.cluster.Restore(11, 0)))
		})
		t.is("the revision", int64(12), t.cluster.Store().Revision())
		page, err := t.cluster.ListNow(t.pods, "", metav1.ListOptions{Limit: 1})
		t.is("ListNow", nil, err)
		if err == nil && page.RemainingItemCount != nil {
			t.is("how many objects follow the first of three, when another one could not be saved", int64(2), *page.RemainingItemCount)
		}
	}
	t.is("another error is such a refusal", false, fakeapiserver.Refused(cause))
	t.now(func() { t.cluster.Store().SetJournal(nil) })
	t.updates("a/x")
	return []string{"commit a/x@13"}
}
