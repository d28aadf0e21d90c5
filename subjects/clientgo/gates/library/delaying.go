package library

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// delayingQueues hold a delaying queue, and a rate limited one that was given it, against the earliest time that each key was added with. Several
// keys come at once, and several are due at once. The time is a clock's of the check, which moves between two calls.
func delayingQueues(c *check) {
	const base = time.Second
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: now})
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[string](base, 4*base),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: []string{"", "q"}[c.IntN(2)], Clock: now, DelayingQueue: delaying})
	at, due, added, failures := time.Duration(0), map[string]time.Duration{}, map[string]time.Duration{}, map[string]int{}
	for range 16 {
		for range c.IntN(4) {
			key, until := fmt.Sprint("k", c.IntN(6)), at
			switch c.IntN(4) {
			case 0:
				until += min(4*base, base<<failures[key])
				failures[key]++
				q.AddRateLimited(key)
			case 1:
				q.Forget(key)
				failures[key] = 0
				q.AddAfter(key, -time.Duration(c.IntN(2))*base)
				added[key] = at // what waits for a time goes on waiting
				continue
			default:
				until += time.Duration(1+c.IntN(20)) * base
				q.AddAfter(key, until-at)
			}
			if earlier, waits := due[key]; !waits || until < earlier {
				due[key] = until
			}
			c.is("NumRequeues", failures[key], q.NumRequeues(key))
		}
		c.quiesce()
		c.ready(delaying, added, at)
		step := time.Duration(c.IntN(5)) * base
		at += step
		now.Step(step)
		c.quiesce()
		c.ready(delaying, due, at)
		if len(c.wrong) > 0 {
			break
		}
	}
	q.ShutDown()
	q.ShutDown()
	q.AddAfter("late", base)
	now.Step(time.Minute)
	c.quiesce()
	c.is("how many keys wait in a queue that was shut down", 0, q.Len())
	c.overdue()
	c.outlives()
	c.passedOn()
	c.delayingTimers()
	c.shortest()
	c.flooded()
	c.countsWithoutDelay()
}

// countsWithoutDelay adds a key by a limiter that lets it come at once, at first. It is counted all the same.
func (c *check) countsWithoutDelay() {
	now, fastest := clocktesting.NewFakeClock(time.Unix(1000, 0)), 1+c.IntN(2)
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemFastSlowRateLimiter[string](0, time.Second, fastest), workqueue.TypedRateLimitingQueueConfig[string]{Clock: now})
	for n := range fastest + 1 {
		q.AddRateLimited("k0")
		c.is(fmt.Sprintf("NumRequeues of a key that was added %d times, %d of them at once", n+1, fastest), n+1, q.NumRequeues("k0"))
		c.quiesce()
		c.is(fmt.Sprintf("how many keys are ready after a key was added %d times, %d of them at once", n+1, fastest), map[bool]int{true: 1}[n < fastest], q.Len())
		if q.Len() > 0 {
			key, _ := q.Get()
			q.Done(key)
		}
	}
	q.ShutDown()
	c.quiesce()
}

// gated is a work queue whose first key has to wait.
type gated struct {
	workqueue.TypedInterface[string]
	once         sync.Once
	came, enters chan struct{}
}

// Add implements workqueue.TypedInterface.
func (q *gated) Add(key string) {
	q.once.Do(func() {
		close(q.came)
		<-q.enters
	})
	q.TypedInterface.Add(key)
}

// busy makes a delaying queue that has one key, which is due, and is busy with it until under lets it enter.
func (c *check) busy(name, key string) (q workqueue.TypedDelayingInterface[string], now *clocktesting.FakeClock, under *gated, is bool) {
	now = clocktesting.NewFakeClock(time.Unix(1000, 0))
	under = &gated{TypedInterface: workqueue.NewTyped[string](), came: make(chan struct{}), enters: make(chan struct{})}
	q = workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: name, Clock: now, Queue: under})
	q.AddAfter(key, time.Second)
	c.quiesce()
	now.Step(time.Second)
	if is = c.comes("the addition of a key that is due", under.came); !is {
		q.ShutDown()
	}
	return q, now, under, is
}

// overdue adds keys to a delaying queue that is busy until they are due. None is lost, or comes before its time.
func (c *check) overdue() {
	q, now, under, is := c.busy([]string{"", "q"}[c.IntN(2)], "k0")
	if !is {
		return
	}
	due, at := map[string]time.Duration{"k0": 0}, time.Duration(2+c.IntN(4))*time.Second
	for n := range 5 {
		key, after := fmt.Sprint("k", n+1), time.Duration(1+c.IntN(6))*time.Second
		q.AddAfter(key, after)
		due[key] = 0
		if after > at {
			due[key] = after
		}
	}
	now.Step(at)
	close(under.enters)
	c.quiesce()
	c.ready(q, due, at)
	now.Step(6*time.Second - at)
	c.quiesce()
	c.ready(q, due, 6*time.Second)
	q.ShutDown()
	c.quiesce()
}

// flooded adds more keys to a delaying queue that is busy than it takes before it looks at them. Whoever adds them may have to wait, but none is lost; and nobody
// waits for a queue that is shut down.
func (c *check) flooded() {
	const many = 1100
	q, now, under, is := c.busy("", "first")
	if !is {
		return
	}
	shuts := c.IntN(4) == 0
	_, still := c.waits(func() {
		for n := range many {
			q.AddAfter(fmt.Sprint("k", n), time.Second)
		}
	}, func() {
		if shuts {
			q.ShutDown()
		} else {
			close(under.enters)
		}
	})
	if shuts {
		c.is("whether somebody still waits who adds to a busy queue that was shut down", false, still)
		close(under.enters)
		c.quiesce()
		return
	}
	c.is("whether somebody still waits who added to a queue that was busy", false, still)
	now.Step(time.Second)
	c.quiesce()
	c.is(fmt.Sprintf("how many keys of %d are ready that were added to a busy queue", 1+many), 1+many, q.Len())
	q.ShutDown()
	c.quiesce()
}

// ready takes the keys that a delaying queue has ready, and compares them with those that are due.
func (c *check) ready(q workqueue.TypedInterface[string], due map[string]time.Duration, at time.Duration) {
	var want, got []string
	for n := range 6 {
		key := fmt.Sprint("k", n)
		if until, waits := due[key]; waits && until <= at {
			want = append(want, key)
		}
	}
	for q.Len() > 0 {
		key, _ := q.Get()
		q.Done(key)
		got = append(got, key)
	}
	c.is("keys come in the order of their times", true, slices.IsSortedFunc(got, func(a, b string) int { return int(due[a] - due[b]) }))
	slices.Sort(got)
	c.is(fmt.Sprintf("which keys are ready after %v", at), want, got)
	for _, key := range got {
		delete(due, key)
	}
}
