package fakeapiserver

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// A dead connection delivers nothing, even when released: the server moves on without it, and its events may be gone.
func TestReleaseOfDeadConnection(t *testing.T) {
	w := newWorld(t, ClusterOptions{History: 1})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchHalfOpen}) })
	w.must(func() error { return w.c.SetHeld("conn/a", true) })
	w.create("default/a")
	w.create("default/b")
	w.settle()
	for range 3 {
		w.must(func() error { return w.c.SetHeld("conn/a", false) })
	}
	w.settle()
	if len(r.events) > 0 || r.closed {
		t.Errorf("a dead connection delivered %v, closed %v", r.text(), r.closed)
	}
	w.advance(halfOpenAfter)
	if !r.closed || r.closeErr != ErrConnectionLost {
		t.Errorf("after the health check: closed %v, %v", r.closed, r.closeErr)
	}
}

// A release ends a hold, not a fault.
func TestReleaseLeavesFaults(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchDelay, Duration: time.Minute}) })
	w.create("default/a")
	w.must(func() error { return w.c.SetHeld("conn/a", false) })
	w.settle()
	wantEvents(t, r)
	w.advance(time.Minute)
	wantEvents(t, r, "ADDED default/a@1001")
}

// StopFaults also ends a hold on a dead connection: its client learns that it is lost.
func TestStopFaultsReleasesDeadConnection(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchHalfOpen}) })
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchEOF}) })
	w.k.Clock().LimitTo(halfOpenAfter)
	for w.k.Clock().Elapsed() < halfOpenAfter && w.k.Step() { // up to the step that could tell the client
	}
	w.must(func() error { return w.c.SetHeld("conn/a", true) })
	w.settle()
	if r.closed {
		t.Fatal("a held connection delivered its end")
	}
	w.do(w.c.StopFaults)
	w.settle()
	if !r.closed || r.closeErr != ErrConnectionLost {
		t.Errorf("after the faults stopped: closed %v, %v", r.closed, r.closeErr)
	}
}

// Who has not been shown yet what it watches is behind, and nobody else.
func TestBehind(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	behind := func(want bool, when string) {
		t.Helper()
		if got := w.c.Behind("a"); got != want || w.c.Behind("nobody") {
			t.Errorf("%s: behind is %v", when, got)
		}
	}
	behind(false, "without a watch")
	r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
	behind(false, "before anything is written")
	w.must(func() error { return w.c.SetHeld("replica/0", true) })
	w.create("default/a")
	behind(true, "while its replica applies nothing")
	w.must(func() error { return w.c.SetHeld("conn/a", true) })
	w.must(func() error { return w.c.SetHeld("replica/0", false) })
	w.settle()
	behind(true, "while its frames are held")
	w.must(func() error { return w.c.SetHeld("conn/a", false) })
	w.settle()
	behind(false, "when it has been shown that")
	wantEvents(t, r, "ADDED default/a@1001")
	w.must(func() error { return w.c.Inject(fault.Fault{Kind: fault.WatchHalfOpen}) })
	behind(true, "when its connection is dead")
}

// What a watch does not select does not leave its client behind.
func TestBehindOfOneNamespace(t *testing.T) {
	w := newWorld(t, ClusterOptions{})
	w.do(func() { w.cl.Watch(w.pods, "other", metav1.ListOptions{ResourceVersion: "1000"}, &receiver{}) })
	w.settle()
	w.create("default/a")
	w.settle()
	if w.c.Behind("a") {
		t.Error("it is behind")
	}
}
