package library

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// assembled have an Informer take its first list, step by step: what its parts owe each other.
func assembled(c *check) {
	d := &informer.MutationDetector{}
	period := []time.Duration{0, 10 * time.Second, time.Minute}[c.IntN(3)]
	usual := period
	o := informer.InformerOptions{MutationDetector: d, ResyncPeriod: period}
	seen := len(keys)
	if c.oneIn(2) {
		o.MutationDetector, seen = nil, 0
	}
	i := informer.NewInformer(o)
	told := 0
	h := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { told++ }}
	own := []time.Duration{0, 3 * time.Second, time.Hour}[c.IntN(3)]
	early, err := i.AddHandler(h, informer.ListenerOptions{ResyncPeriod: &own}, start)
	c.is("AddHandler", nil, err)
	i.Start(start)
	i.Start(start.Add(time.Second))
	var list []runtime.Object
	for _, key := range keys {
		list = append(list, object(key, 1))
	}
	i.Reflector.OnPage(list, "10", "", nil)
	i.Reflector.OnWatchOpened()
	if own > 0 && own < period {
		period = own
	}
	at, runs := i.Reflector.NextResync()
	c.is("the resync timer runs", period > 0, runs)
	if period > 0 {
		c.is("the first resync", start.Add(period), at)
	}
	stored := c.IntN(len(keys) + 1)
	for range stored {
		stepped, err := i.Controller.Step()
		c.is("Step", fmt.Sprint(true, nil), fmt.Sprint(stepped, err))
	}
	late, err := i.AddHandler(h, informer.ListenerOptions{}, start)
	c.is("AddHandler of an informer that runs", nil, err)
	c.is("what a late handler is told of the store", stored, late.Len())
	c.is("how often a handler is resynced that does not say so", usual, late.ResyncPeriod())
	for stepped := true; stepped; {
		stepped, _ = i.Controller.Step()
	}
	c.is("HasSynced", true, i.HasSynced())
	c.is("what the mutation detector has seen", seen, d.Len())
	for n, t := range []watch.EventType{watch.Modified, watch.Deleted, watch.Added} { // of these it sees what comes to the store
		i.Reflector.OnEvent(watch.Event{Type: t, Object: object(keys[0], 11+n)})
		_, err = i.Controller.Step()
		c.is("Step after an event", nil, err)
		if o.MutationDetector != nil && t != watch.Deleted {
			seen++
		}
		c.is(fmt.Sprintf("what the mutation detector has seen after %s", t), seen, d.Len())
	}
	for early.Deliver() || late.Deliver() {
	}
	c.is("which additions both handlers are told of", 2*len(keys)+2, told)
	c.is("HasSynced of both", fmt.Sprint(true, true), fmt.Sprint(early.HasSynced(), late.HasSynced()))
	i.Stop()
	c.is("after a stop: the queue is closed, and the others have stopped", "true true true", fmt.Sprint(i.Queue.IsClosed(), i.Reflector.Stopped(), i.Processor.Stopped()))
	never := informer.NewInformer(informer.InformerOptions{})
	never.Stop()
	never.Start(start)
	c.is("an informer that was stopped before it was started: its queue is closed, and it has no reflector", "true true", fmt.Sprint(never.Queue.IsClosed(), never.Reflector == nil))
}
