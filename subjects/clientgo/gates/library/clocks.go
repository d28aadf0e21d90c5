package library

import (
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// ticking is a clock of the check that knows how many of its tickers go on.
type ticking struct {
	*clocktesting.FakeClock
	tickers atomic.Int32
}

// NewTicker implements clock.WithTicker.
func (t *ticking) NewTicker(d time.Duration) clock.Ticker {
	t.tickers.Add(1)
	return &ticker{t.FakeClock.NewTicker(d), t}
}

// ticker is one of its tickers.
type ticker struct {
	clock.Ticker
	of *ticking
}

// Stop implements clock.Ticker.
func (t *ticker) Stop() {
	if t.of != nil {
		t.of.tickers.Add(-1)
	}
	t.of = nil
	t.Ticker.Stop()
}

// delayingTimers are those of a delaying queue: however many keys wait, there is a timer for the first and a ticker, which ends with the queue.
func (c *check) delayingTimers() {
	now := &ticking{FakeClock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: now})
	for n := range 4 {
		q.AddAfter(keys[n], time.Duration(60-10*n)*time.Second)
		c.quiesce()
	}
	c.is("how many timers and tickers a delaying queue has in which four keys wait", 2, now.Waiters())
	q.ShutDown()
	c.is("how many tickers a delaying queue has that was shut down", int32(0), now.tickers.Load())
	c.quiesce()
}

// measuringTicker is that of a work queue with metrics, which ends before the call returns that shuts the queue down.
func (c *check) measuringTicker() {
	now := &ticking{FakeClock: clocktesting.NewFakeClock(time.Unix(1000, 0))}
	q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "q", Clock: now, MetricsProvider: &queueMeters{names: map[string]int{}}})
	c.quiesce()
	c.is("how many tickers a work queue with metrics has", int32(1), now.tickers.Load())
	if c.IntN(2) == 0 {
		q.ShutDown()
	} else {
		q.ShutDownWithDrain()
	}
	c.is("how many tickers a work queue with metrics has that was shut down", int32(0), now.tickers.Load())
}

// reflectorTimers are those of a reflector that lists again and again: one for its resyncs, and none once it is stopped.
func (c *check) reflectorTimers() {
	from, now := newSource(object("ns1/a", 1)), clocktesting.NewFakeClock(time.Unix(1000, 0))
	r := cache.NewReflectorWithOptions(from, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), cache.ReflectorOptions{
		Name: "r", ResyncPeriod: time.Hour, Clock: now, Backoff: &wait.Backoff{},
	})
	stop, ended := running(r.RunWithContext)
	c.quiesce()
	for range 2 {
		from.watch.Error(&apierrors.NewResourceExpired("it has expired").ErrStatus)
		c.quiesce()
	}
	c.is("how many lists a reflector has asked for whose watch has expired twice", 3, len(from.listed))
	c.is("how many timers a reflector has that has listed three times", 1, now.Waiters())
	stop()
	c.quiesce()
	c.is("whether a reflector with timers has ended that is stopped", true, closed(ended))
	c.is("how many timers a reflector has that is stopped", 0, now.Waiters())
}

// calm is a server that refuses watches for a while. Once all has gone well for long, by the reflector's clock, the pauses are short again.
func (t *trouble) calm() func() {
	const first = time.Second
	t.r = cache.NewReflectorWithOptions(t.from, &metav1.PartialObjectMetadata{}, t.s, cache.ReflectorOptions{
		Name: "r", Clock: t.now, Backoff: &wait.Backoff{Duration: first, Factor: 2, Steps: 8, Cap: time.Hour},
	})
	later := apierrors.NewTooManyRequests("later", 0)
	t.from.watches = []error{later, later}
	return func() {
		for n, pause := range []time.Duration{first, 2 * first} {
			t.requests("before a pause that grows", 1, n+1)
			t.now.Step(pause - 1)
			t.quiesce()
			t.requests("just before a pause ends that grows", 1, n+1)
			t.now.Step(1)
			t.quiesce()
		}
		t.requests("after two pauses", 1, 3)
		t.now.Step(time.Hour)
		t.from.watch.Error(&later.ErrStatus)
		t.quiesce()
		t.now.Step(first)
		t.quiesce()
		t.requests("after the first pause in an hour", 1, 4)
	}
}
