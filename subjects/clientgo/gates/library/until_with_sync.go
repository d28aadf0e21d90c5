package library

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// leaving is a source whose watch takes a second to stop. It is left, too, before anybody watches: who has what it needs in a list may leave before that.
type leaving struct {
	*source
	left bool
}

// Watch implements cache.ListerWatcher.
func (s *leaving) Watch(o metav1.ListOptions) (watch.Interface, error) {
	s.left = false
	w, err := s.source.Watch(o)
	return &leavingWatch{w, s}, err
}

// leavingWatch is its watch.
type leavingWatch struct {
	watch.Interface
	of *leaving
}

// Stop implements watch.Interface.
func (w *leavingWatch) Stop() {
	time.Sleep(time.Second)
	w.Interface.Stop()
	w.of.left = true
}

// reached is a condition of UntilWithSync. Everything else comes to rest before it is answered: the goroutine that passes events on misses an end that comes while
// it is about to wait (k90581), and which of the two is first would be chance.
func reached(is func(watch.Event) bool) watchtools.ConditionFunc {
	return func(e watch.Event) (bool, error) {
		time.Sleep(time.Millisecond)
		return is(e), nil
	}
}

// synced waits for the second of three objects of a list, and for a deletion.
func (c *check) synced() {
	from := &leaving{left: true, source: newSource(object("ns1/a", 1), object("ns1/b", 2), object("c", 3))}
	var last *watch.Event
	var err error
	var left bool
	before, waits := c.waits(func() {
		last, err = watchtools.UntilWithSync(context.Background(), from, &metav1.PartialObjectMetadata{}, nil,
			reached(func(e watch.Event) bool { return text(e.Object) == "ns1/b@2" }), reached(func(e watch.Event) bool { return e.Type == watch.Deleted }))
		left = from.left
	}, func() {
		time.Sleep(10 * time.Millisecond) // until all of the list was looked at, so that whoever passes events on waits
		from.watch.Delete(object("ns1/a", 6))
		time.Sleep(2 * time.Second) // one of them for the end of the watch
	})
	c.is("whether UntilWithSync waits for a deletion", true, before)
	c.is("whether UntilWithSync waits although everything has come", false, waits)
	if waits {
		return
	}
	c.no("UntilWithSync", err)
	c.is("whether the informer of UntilWithSync has ended when that returns", true, left)
	c.is("the last event of UntilWithSync", "DELETED ns1/a@6", event(*last))
	c.unsynced()
	c.untilNothing()
	if c.IntN(3) == 0 {
		c.precondition()
	}
}

// untilNothing waits for nothing but what its precondition looks at, which is not enough.
func (c *check) untilNothing() {
	var last *watch.Event
	var err error
	_, waits := c.waits(func() {
		last, err = watchtools.UntilWithSync(context.Background(), newSource(object("ns1/a", 1)), &metav1.PartialObjectMetadata{}, func(cache.Store) (bool, error) {
			time.Sleep(time.Millisecond) // as in reached: without it, the end comes as soon as the goroutine is there
			return false, nil
		})
	}, func() { time.Sleep(time.Second) })
	c.is("whether UntilWithSync waits although it has no conditions", false, waits)
	if !waits {
		c.is("what UntilWithSync returns without conditions", [2]string{"no event", ""}, [2]string{map[bool]string{true: "no event"}[last == nil], message(err)})
	}
}

// unsynced waits for an event of a store that is not filled before its context ends.
func (c *check) unsynced() {
	from, asked := &late{source: *newSource(object("ns1/a", 1)), answers: make(chan struct{})}, false
	precondition := func(cache.Store) (bool, error) { asked = true; return true, nil }
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	before, waits := c.waits(func() { _, err = watchtools.UntilWithSync(ctx, from, &metav1.PartialObjectMetadata{}, precondition) }, cancel)
	cancel()
	close(from.answers)
	c.quiesce()
	c.is("whether UntilWithSync waits for a store that is not filled, before and after the end of its context", [2]bool{true, false}, [2]bool{before, waits})
	c.is("whether the precondition of UntilWithSync is asked before the store is filled", false, asked)
	c.is("whether UntilWithSync says that its context has ended", true, errors.Is(err, context.Canceled))
}

// precondition asks for an event only if what the store has is not enough. It looks for what the store has ten times a second.
func (c *check) precondition() {
	from, listed, enough := &leaving{left: true, source: newSource(object("ns1/a", 1), object("c", 2))}, []string(nil), c.IntN(2) == 0
	broken := []error{nil, nil, errors.New("it is broken")}[c.IntN(3)]
	var last *watch.Event
	var err error
	var left bool
	_, waits := c.waits(func() {
		last, err = watchtools.UntilWithSync(context.Background(), from, &metav1.PartialObjectMetadata{}, func(s cache.Store) (bool, error) {
			listed = sorted(s.ListKeys())
			time.Sleep(time.Millisecond) // as in reached
			return enough, broken
		}, reached(func(e watch.Event) bool { return text(e.Object) == "c@2" }))
		left = from.left
	}, func() { time.Sleep(2 * time.Second) }) // one of them for the end of the watch
	c.is("whether UntilWithSync waits although its store is filled", false, waits)
	if waits {
		return
	}
	c.is("whether the informer of UntilWithSync has ended when the precondition is met", true, left)
	c.is("the keys that the precondition of UntilWithSync is asked about", []string{"c", "ns1/a"}, listed)
	c.is("the error of UntilWithSync, that of its precondition", message(broken), message(err))
	c.is("whether UntilWithSync has an event, of a store that is not enough", broken == nil && !enough, last != nil)
}
