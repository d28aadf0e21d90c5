package fakeapiserver

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// I110: the window grows while events come fast, up to its bound, and shrinks when they come slowly.
func TestAdaptiveWindow(t *testing.T) {
	w := newWindow(AdaptiveHistory)
	start, pos := int64(0), int64(0)
	now := time.Duration(0)
	add := func(n int, every time.Duration) {
		for range n {
			start = w.add(start, pos, now)
			pos++
			now += every
		}
	}
	for _, tt := range []struct {
		events   int
		every    time.Duration
		capacity int64
		retained int64
	}{
		{100, time.Millisecond, 100, 100},
		{1, time.Millisecond, 200, 101},
		{899, time.Millisecond, 1600, 1000},
		{200_000, time.Microsecond, maxWindow, maxWindow},
		{60, 2 * time.Second, maxWindow / 2, maxWindow / 2}, // the newest quarter soon spans more than 75 s
		{100, time.Minute, 100, 100},
	} {
		add(tt.events, tt.every)
		if w.capacity != tt.capacity && !(tt.every >= time.Second && w.capacity <= tt.capacity) || pos-start > w.capacity {
			t.Errorf("after %d events every %v: capacity %d, %d retained; want %d, %d", tt.events, tt.every, w.capacity, pos-start, tt.capacity, tt.retained)
		}
		if tt.every < time.Second && pos-start != tt.retained {
			t.Errorf("after %d events every %v: %d retained, want %d", tt.events, tt.every, pos-start, tt.retained)
		}
		if int64(len(w.times)) > pos-start+1 {
			t.Errorf("%d times for %d events", len(w.times), pos-start)
		}
	}
}

// A watch from before a burst of events is served by an adaptive cache, not by a small fixed one.
func TestBurstStaysWatchable(t *testing.T) {
	for history, served := range map[int64]bool{AdaptiveHistory: true, 100: false} {
		w := newWorld(t, ClusterOptions{History: history})
		for i := range 1000 {
			w.create(fmt.Sprintf("default/%d", i))
		}
		w.settle()
		r := w.watch(metav1.ListOptions{ResourceVersion: "1000"})
		if (len(r.events) == 1000) != served {
			t.Errorf("history %d: %d events", history, len(r.events))
		}
		if history == AdaptiveHistory {
			w.advance(76 * time.Second)
			for i := range 1000 {
				w.create(fmt.Sprintf("later/%d", i))
				w.advance(10 * time.Second)
			}
			if got := w.c.replicas[0].caches[w.pods].window.capacity; got != minWindow {
				t.Errorf("the window holds %d events long after the burst", got)
			}
		}
	}
}

// A held watch is not closed when the events that fall out of the window do not concern it.
func TestHeldWatchWithoutBacklog(t *testing.T) {
	w := newWorld(t, ClusterOptions{History: 2})
	r := &receiver{}
	w.do(func() { w.cl.Watch(w.pods, "quiet", metav1.ListOptions{ResourceVersion: "1000"}, r) })
	w.settle()
	inject(w, fault.Fault{Kind: fault.WatchDelay, Duration: time.Minute})
	for i := range 10 {
		w.create(fmt.Sprintf("busy/%d", i))
	}
	w.create("quiet/a")
	w.advance(time.Minute)
	wantEvents(t, r, "ADDED quiet/a@1011")
}
