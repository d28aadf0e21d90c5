package fakeapiserver

import (
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
)

// constantly is a world in which a kind of fault happens whenever it can.
func constantly(t *testing.T, kind fault.Kind) *world {
	t.Helper()
	choice := fault.SpecOf(kind).Choice
	rate := func(k sim.Kind) float64 {
		if k == choice {
			return 1
		}
		return 0
	}
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewRandom(1, rate)})
	w := &world{t: t, k: k, script: newScript(k), c: NewCluster(k, ClusterOptions{Progress: true})}
	var err error
	if w.pods, err = w.c.AddResource(podResource()); err != nil {
		t.Fatal(err)
	}
	w.cl = w.c.Connect("a", Sticky(0))
	w.must(func() error { return w.c.EnableFaults(kind) })
	return w
}

// Where the same thing goes wrong whenever it can, everybody is served all the same, in the time that the faults of one request, one watch, one
// replica and the Store take. Nobody stops the faults.
func TestProgress(t *testing.T) {
	for kind, longest := range map[fault.Kind]time.Duration{
		fault.ListSlow: 5 * time.Second, fault.WriteSlow: 5 * time.Second, fault.WriteLate: 30 * time.Second, fault.WatchOpenSlow: 5 * time.Second, fault.WatchDelay: 5 * time.Second,
		fault.WatchStall: 10 * time.Minute, fault.WatchBookmarkLate: 30 * time.Second, fault.ReplicaLag: 30 * time.Second,
		fault.ReplicaRestart: 0, fault.ReplicaSkew: 0, fault.LeaderLoss: 30 * time.Second, fault.Compact: 0, fault.Restore: 0, fault.RestoreBumped: 0,
	} {
		t.Run(string(kind), func(t *testing.T) {
			w := constantly(t, kind)
			w.advance(time.Second) // as long as steps are possible, in a bounded number of them
			for i := range 5 {
				key := "default/" + string(rune('a'+i))
				began := w.k.Elapsed()
				last := began
				within := func(what string, done func() bool) {
					t.Helper()
					for !done() && w.k.Elapsed() < last+longest+freshTimeout+time.Second {
						w.advance(100 * time.Millisecond)
					}
					if !done() {
						t.Fatalf("round %d: after %v, still waiting for %s", i, w.k.Elapsed()-last, what)
					}
					last = w.k.Elapsed()
				}
				watch := &receiver{}
				w.do(func() { w.cl.Watch(w.pods, "", metav1.ListOptions{AllowWatchBookmarks: true}, watch) })
				within("the watch to open", func() bool { return watch.opened || watch.openErr != nil })
				var write *receiver
				try := func() {
					write = &receiver{}
					w.do(func() { w.cl.Write(Write{Verb: Create, Resource: w.pods, Object: pod(key)}, write) })
				}
				try()
				within("a write", func() bool {
					done := write.writes == 1 && (write.writeErr == nil || apierrors.IsAlreadyExists(write.writeErr))
					if !done && write.writes > 0 {
						try() // there was no leader, or the replica has restarted
					}
					return done
				})
				within("the event of the write", func() bool { return len(watch.events) > 0 || watch.closed || watch.openErr != nil })
				var lists [20]receiver
				w.do(func() {
					for i := range lists {
						w.cl.List(w.pods, "", metav1.ListOptions{}, &lists[i])
					}
				})
				within("lists at the same time", func() bool {
					return !slices.ContainsFunc(lists[:], func(r receiver) bool { return r.lists == 0 })
				})
			}
			if w.k.Faults() == 0 {
				t.Error("no fault has happened")
			}
		})
	}
}

// A fault that is ordered hits what has just had one: only the strategy's picks wait for progress.
func TestProgressObeysOrders(t *testing.T) {
	w := newWorld(t, ClusterOptions{Progress: true})
	r := w.watch(metav1.ListOptions{})
	for range 2 {
		inject(w, fault.Fault{Kind: fault.WatchDelay, Duration: time.Second})
		if _, waiting := w.cl.find(r.id).activeFault(); !waiting {
			t.Error("the watch is not held up")
		}
		w.advance(time.Second)
	}
}
