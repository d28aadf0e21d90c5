package fakeapiserver

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// A delayed bookmark is dropped with its watch: the history that it needs may be gone by then.
func TestLateBookmarkOfFinishedWatch(t *testing.T) {
	for name, end := range map[string]func(*world, *receiver) error{
		"canceled": func(w *world, r *receiver) error { w.cl.Cancel(r.id); return nil },
		"closed":   func(w *world, _ *receiver) error { return w.c.Inject(fault.Fault{Kind: fault.WatchClose}) },
		"dead": func(w *world, _ *receiver) error {
			if err := w.c.Inject(fault.Fault{Kind: fault.WatchHalfOpen}); err != nil {
				return err
			}
			return w.c.Inject(fault.Fault{Kind: fault.WatchEOF})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ClusterOptions{History: 1})
			w.create("default/a")
			r := w.watch(metav1.ListOptions{ResourceVersion: "1001", AllowWatchBookmarks: true})
			w.must(func() error {
				return w.c.Inject(fault.Fault{Kind: fault.WatchBookmarkLate, Duration: 30 * time.Second})
			})
			w.advance(bookmarkEvery + time.Second)
			if len(r.events) != 0 {
				t.Fatalf("before its time: %v", r.text())
			}
			w.must(func() error { return end(w, r) })
			for range 3 { // so that the unsent events are not only out of the window, but trimmed
				for range trimBatch {
					w.update("default/a")
				}
				w.settle()
				w.must(func() error { return w.c.Compact(0) })
			}
			w.advance(time.Minute)
			if len(r.events) != 0 {
				t.Errorf("after the end of the watch: %v", r.text())
			}
		})
	}
}
