package library

import (
	"fmt"
	"slices"
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
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: now, DelayingQueue: delaying})
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
				q.AddAfter(key, 0)
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
