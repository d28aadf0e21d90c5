package library

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
)

// endsUndetailed has a watch end with an error of which nothing is known but its code, or not even that. The next one follows a second later.
func (c *check) endsUndetailed() {
	sent := []watch.Event{{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Code: []int32{500, 0}[c.IntN(2)]}}}
	from := &rewatched{opens: []error{nil}, sent: [][]watch.Event{sent}}
	w, err := watchtools.NewRetryWatcherWithContext(silent, "5", from)
	c.no("NewRetryWatcherWithContext", err)
	time.Sleep(time.Second)
	c.quiesce()
	_, asked := from.seen()
	c.is("how often a RetryWatcher has asked in a second whose watch has ended with an error without details", 2, len(asked))
	w.Stop()
	c.quiesce()
}

// marksNothing has a watch bring a bookmark without a revision. There is nothing from which a RetryWatcher could go on: it says so, and ends.
func (c *check) marksNothing() {
	sent := []watch.Event{{Type: watch.Bookmark, Object: &metav1.PartialObjectMetadata{}}}
	w, err := watchtools.NewRetryWatcherWithContext(silent, "5", &rewatched{opens: []error{nil}, sent: [][]watch.Event{sent}})
	c.no("NewRetryWatcherWithContext", err)
	got, over := []string{}, make(chan struct{})
	go func() {
		defer close(over)
		for e := range w.ResultChan() {
			got = append(got, event(e))
		}
	}()
	c.quiesce()
	c.is("whether a RetryWatcher has ended that was brought a bookmark without a revision", [2]bool{true, true}, [2]bool{closed(over), closed(w.Done())})
	w.Stop()
	c.quiesce()
	c.is("what a RetryWatcher passes on that was brought a bookmark without a revision", []string{"ERROR 500"}, got)
}

// unwatched is a server that gives no watch at first, nor says why.
type unwatched struct{ asked int }

// WatchWithContext implements cache.WatcherWithContext.
func (s *unwatched) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	if s.asked++; s.asked == 1 {
		return nil, nil
	}
	return watch.NewFake(), nil
}

// watchesLater is a RetryWatcher that is given no watch at first. It asks again a second later.
func (c *check) watchesLater() {
	from := &unwatched{}
	w, err := watchtools.NewRetryWatcherWithContext(silent, "5", from)
	c.no("NewRetryWatcherWithContext", err)
	time.Sleep(time.Second)
	c.quiesce()
	c.is("how often a RetryWatcher has asked in a second that was given no watch", 2, from.asked)
	w.Stop()
	c.quiesce()
}
