package library

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// passedOn is a RetryWatcher with what it passes on. over is closed when that ends.
type passedOn struct {
	*watchtools.RetryWatcher
	got  []string
	over chan struct{}
}

// follow has a RetryWatcher go on from revision 5, and follows it.
func (c *check) follow(from cache.WatcherWithContext) *passedOn {
	w, err := watchtools.NewRetryWatcherWithContext(silent, "5", from)
	c.no("NewRetryWatcherWithContext", err)
	p := &passedOn{RetryWatcher: w, got: []string{}, over: make(chan struct{})}
	go func() {
		defer close(p.over)
		for e := range w.ResultChan() {
			p.got = append(p.got, event(e))
		}
	}()
	return p
}

// ended reports whether all that the RetryWatcher passes on has ended, and it has itself.
func (p *passedOn) ended() [2]bool { return [2]bool{closed(p.over), closed(p.Done())} }

// asksAgain has a RetryWatcher watch that asks for another watch after a second. asked says how often it has.
func (c *check) asksAgain(what string, from cache.WatcherWithContext, asked func() int) {
	w, err := watchtools.NewRetryWatcherWithContext(silent, "5", from)
	c.no("NewRetryWatcherWithContext", err)
	time.Sleep(time.Second)
	c.quiesce()
	c.is("how often a RetryWatcher has asked in a second "+what, 2, asked())
	w.Stop()
	c.quiesce()
}

// endsUndetailed has a watch end with an error of which nothing is known but its code, or not even that. The next one follows a second later.
func (c *check) endsUndetailed() {
	sent := []watch.Event{{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Code: []int32{500, 0}[c.IntN(2)]}}}
	from := &rewatched{opens: []error{nil}, sent: [][]watch.Event{sent}}
	c.asksAgain("whose watch has ended with an error without details", from, func() int {
		_, asked := from.seen()
		return len(asked)
	})
}

// marksNothing has a watch bring a bookmark without a revision. There is nothing from which a RetryWatcher could go on: it says so, and ends.
func (c *check) marksNothing() {
	sent := []watch.Event{{Type: watch.Bookmark, Object: &metav1.PartialObjectMetadata{}}}
	w := c.follow(&rewatched{opens: []error{nil}, sent: [][]watch.Event{sent}})
	c.quiesce()
	c.is("whether a RetryWatcher has ended that was brought a bookmark without a revision", [2]bool{true, true}, w.ended())
	w.Stop()
	c.quiesce()
	c.is("what a RetryWatcher passes on that was brought a bookmark without a revision", []string{"ERROR 500"}, w.got)
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
	c.asksAgain("that was given no watch", from, func() int { return from.asked })
}
