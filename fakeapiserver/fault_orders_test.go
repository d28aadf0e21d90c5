package fakeapiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

func (w *world) faults() string {
	var all []string
	for _, o := range w.c.Faults() {
		all = append(all, fmt.Sprintf("%d %s %s %d", o.ID, o.State, o.Fault.Kind, o.Left))
	}
	return strings.Join(all, ", ")
}

// A fault keeps its id from its order to its end; what is withdrawn never happens.
func TestFaultOrders(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	for _, f := range []fault.Fault{
		{Kind: fault.WatchEOF, From: time.Minute},
		{Kind: fault.WatchDelay, From: time.Second, After: &fault.Trigger{Event: fault.TriggerCommit}},
		{Kind: fault.WatchReset, After: &fault.Trigger{Count: 2}},
		{Kind: fault.List500, Count: 2, Until: time.Hour},
		{Kind: fault.WatchReset, From: time.Hour},
	} {
		w.must(func() error { return w.c.Inject(f) })
	}
	want := func(want string) {
		t.Helper()
		if got := w.faults(); got != want {
			t.Errorf("the faults are %s, want %s", got, want)
		}
	}
	want("1 scheduled watch-eof 1, 2 triggered watch-delay 1, 3 triggered watch-reset 2, 4 armed list-500 2, 5 scheduled watch-reset 1")
	w.create("default/a")
	w.settle()
	want("1 scheduled watch-eof 1, 2 scheduled watch-delay 1, 3 triggered watch-reset 1, 4 armed list-500 2, 5 scheduled watch-reset 1")
	w.advance(time.Second)
	want("1 scheduled watch-eof 1, 3 triggered watch-reset 1, 4 armed list-500 2, 5 scheduled watch-reset 1, 0 active watch-delay 0")
	for _, id := range []int{1, 3} {
		if w.do(func() {
			if !w.c.WithdrawFault(id) || w.c.WithdrawFault(id) {
				t.Errorf("fault %d is not withdrawn once", id)
			}
		}); r.closed {
			t.Error("the watch is closed")
		}
	}
	w.advance(2 * time.Minute)
	want("4 armed list-500 2, 5 scheduled watch-reset 1, 0 active watch-delay 0")
	w.do(w.c.WithdrawFaults)
	want("")
	w.create("default/b")
	w.settle()
	w.advance(2 * time.Hour)
	if len(r.events) < 2 || r.closeErr != nil {
		t.Errorf("the watch saw %d events, and ended with %v", len(r.events), r.closeErr)
	}
}

// What ended a fault early does not end the next one early.
func TestWithdrawnStallDoesNotEndTheNext(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchDelay, Duration: 10 * time.Second}) })
	w.do(w.c.WithdrawFaults)
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchDelay, Duration: time.Minute}) })
	w.create("default/a")
	w.settle()
	w.advance(30 * time.Second)
	if len(r.events) > 0 {
		t.Errorf("after 30 s of 60 the client saw %v", r.events)
	}
	w.advance(30 * time.Second)
	if len(r.events) != 1 {
		t.Errorf("after 60 s the client saw %v", r.events)
	}
}

// After StopFaults a fault whose time was to come does not happen either.
func TestStopFaultsForgetsScheduled(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchEOF, From: time.Minute}) })
	w.do(w.c.StopFaults)
	w.advance(2 * time.Minute)
	if r.closed {
		t.Errorf("the watch ended with %v", r.closeErr)
	}
}
