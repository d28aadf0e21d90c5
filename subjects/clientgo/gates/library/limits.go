package library

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

// retries hold a RetryWithDeadline against what it has to remember: the first and the last error since it was reset.
func retries(c *check) {
	const longest, calm = time.Minute, 90 * time.Second
	now, yes := &ahead{}, errors.New("it may be tried again")
	r := cache.NewRetryWithDeadline(longest, calm, func(err error) bool { return err == yes }, now)
	var first, last time.Duration = -1, -1 << 60
	for range 16 {
		now.by += time.Duration(c.IntN(5)) * 10 * time.Second
		if c.IntN(8) == 0 {
			now.by += calm
		}
		if c.IntN(4) == 0 {
			r.After([]error{errors.New("it may not"), nil}[c.IntN(2)])
		} else {
			r.After(yes)
			if now.by-last >= calm || first < 0 {
				first = now.by
			}
			last = now.by
		}
		if c.IntN(2) == 0 {
			want := first >= 0 && now.by-first <= longest
			c.is("ShouldRetry", want, r.ShouldRetry())
			if !want {
				first, last = -1, -1<<60
			}
		}
	}
	never := cache.NewRetryWithDeadline(0, calm, func(error) bool { return true }, now)
	never.After(yes)
	c.is("ShouldRetry without a deadline", false, never.ShouldRetry())
	c.tries()
}

// tries makes a call again while its error may pass. In the end there is the last such error, or one that may not.
func (c *check) tries() {
	conflict := func(n int) error {
		return apierrors.NewConflict(schema.GroupResource{}, "a", fmt.Errorf("it is number %d", n))
	}
	var errs []error
	for n := range c.IntN(4) {
		errs = append(errs, conflict(n))
	}
	passes := len(errs)
	errs = append(errs, []error{nil, errors.New("it is broken"), context.Canceled, context.DeadlineExceeded, conflict(passes)}[c.IntN(5)])
	most, calls := 1+c.IntN(4), 0
	err := retry.RetryOnConflict(wait.Backoff{Steps: most}, func() error {
		calls++
		return errs[min(calls, len(errs))-1]
	})
	last := errs[passes]
	want, times := last, min(most, len(errs))
	switch {
	case apierrors.IsConflict(last):
		want, times = errs[times-1], most
	case most <= passes:
		want = errs[most-1]
	case passes > 0 && wait.Interrupted(last): // what the call was to end with
		want = errs[passes-1]
	}
	c.is(fmt.Sprintf("how often RetryOnConflict calls, %d times at most, of %q", most, errs), times, calls)
	c.is(fmt.Sprintf("the error of RetryOnConflict, after %d calls at most, of %q", most, errs), message(want), message(err))
}

// limiters hold the work queue's limiters against how often a key has failed.
func limiters(c *check) {
	const base, longest, slow = 5 * time.Millisecond, time.Second, 10 * time.Second
	fastest := c.IntN(4)
	exponential := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](base, slow)
	}
	fastSlow := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemFastSlowRateLimiter[string](base, slow, fastest)
	}
	byFailures := func(failures int) time.Duration { return min(slow, base<<failures) }
	fastThenSlow := func(failures int) time.Duration {
		if failures < fastest {
			return base
		}
		return slow
	}
	for _, of := range []struct {
		name string
		l    workqueue.TypedRateLimiter[string]
		want func(failures int) time.Duration
	}{
		{"ItemExponentialFailureRateLimiter", exponential(), byFailures},
		{"ItemExponentialFailureRateLimiter whose longest delay is below its first", workqueue.NewTypedItemExponentialFailureRateLimiter[string](slow, base), func(int) time.Duration { return base }},
		{"ItemFastSlowRateLimiter", fastSlow(), fastThenSlow},
		{"WithMaxWaitRateLimiter", workqueue.NewTypedWithMaxWaitRateLimiter(exponential(), longest), func(n int) time.Duration { return min(longest, byFailures(n)) }},
		{"MaxOfRateLimiter", workqueue.NewTypedMaxOfRateLimiter(exponential(), fastSlow()), func(n int) time.Duration { return max(byFailures(n), fastThenSlow(n)) }},
		{"MaxOfRateLimiter of three", workqueue.NewTypedMaxOfRateLimiter(fastSlow(), exponential(), workqueue.NewTypedItemExponentialFailureRateLimiter[string](slow/4, 4*slow)), func(n int) time.Duration {
			return max(fastThenSlow(n), byFailures(n), min(4*slow, slow/4<<n))
		}},
		{"DefaultControllerRateLimiter", workqueue.DefaultTypedControllerRateLimiter[string](), func(n int) time.Duration { return min(mostOfDefaults, base<<n) }},
		{"DefaultItemBasedRateLimiter", workqueue.DefaultTypedItemBasedRateLimiter[string](), func(n int) time.Duration { return min(mostOfDefaults, time.Millisecond<<n) }},
	} {
		failures := map[string]int{}
		for range 24 {
			key := keys[c.IntN(2)]
			if c.IntN(8) == 0 {
				of.l.Forget(key)
				delete(failures, key)
			} else {
				c.is("When of the "+of.name, of.want(failures[key]), of.l.When(key))
				failures[key]++
			}
			for _, key := range keys[:2] {
				c.is("NumRequeues of the "+of.name, failures[key], of.l.NumRequeues(key))
			}
		}
	}
	shared := exponential()
	shared.When("a")
	both := workqueue.NewTypedMaxOfRateLimiter(fastSlow(), shared, exponential())
	both.When("a")
	c.is("NumRequeues of a MaxOfRateLimiter, one of whose limiters has counted before", 2, both.NumRequeues("a"))
	c.bucket()
	c.backoffs()
	c.urlBackoffs()
	c.throttles()
	c.extremes(exponential(), slow)
	c.manyLimiters()
	c.fakeLimiters()
	c.plainLimits()
}

// mostOfDefaults is the longest delay of the limiters that client-go proposes.
const mostOfDefaults = 1000 * time.Second

// extremes are a key that fails for so long that its delay is in no number, and more keys than the default limiter's bucket has tokens for.
func (c *check) extremes(exponential workqueue.TypedRateLimiter[string], longest time.Duration) {
	const times = 80
	for n := range times {
		if got := exponential.When("a"); n > 20 {
			c.is(fmt.Sprintf("When of the ItemExponentialFailureRateLimiter after %d failures", n), longest, got)
		}
	}
	c.is(fmt.Sprintf("NumRequeues of the ItemExponentialFailureRateLimiter after %d failures", times), times, exponential.NumRequeues("a"))
	item, of := workqueue.DefaultTypedItemBasedRateLimiter[string](), workqueue.DefaultTypedControllerRateLimiter[string]()
	for n := range 24 {
		want := min(mostOfDefaults, time.Millisecond<<n)
		c.is(fmt.Sprintf("When of the DefaultItemBasedRateLimiter after %d failures", n), want, item.When("a"))
	}
	for n := range 103 {
		want := max(5*time.Millisecond, time.Duration(n+1-100)*100*time.Millisecond)
		c.is(fmt.Sprintf("When of the DefaultControllerRateLimiter for key number %d at once", n+1), want, of.When(fmt.Sprint(n)).Round(time.Millisecond))
	}
}

// bucket is the limiter that has a number of tokens, and gets one every tenth of a second; no time passes.
func (c *check) bucket() {
	tokens := 1 + c.IntN(4)
	l := &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, tokens)}
	for n := range 8 {
		want := max(0, time.Duration(n+1-tokens)) * 100 * time.Millisecond
		got := l.When(c.key())
		c.is("When of the BucketRateLimiter", want, got.Round(time.Millisecond))
		c.is("NumRequeues of the BucketRateLimiter", 0, l.NumRequeues(c.key()))
		if c.IntN(3) == 0 {
			l.Forget(c.key())
		}
	}
}
