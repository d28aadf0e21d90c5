package library

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
)

// backoffState is how long a key of a Backoff waits, and since when.
type backoffState struct {
	wait  time.Duration
	since time.Time
}

// backoffs hold a Backoff, by which REST clients wait, against how often each of its keys has failed, and when last. Events are of now, or of some time
// ago.
func (c *check) backoffs() {
	const initial, longest = time.Second, 8 * time.Second
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	b, m := flowcontrol.NewFakeBackOff(initial, longest, now), map[string]backoffState{}
	expired := func(at time.Time, s backoffState) bool { return at.Sub(s.since) > 2*longest }
	for range 32 {
		key, at := keys[c.IntN(2)], now.Now().Add(-time.Duration(c.IntN(3))*time.Second)
		was, known := m[key]
		switch c.IntN(8) {
		case 0, 1, 2:
			b.Next(key, at)
			if !known || expired(at, was) {
				was.wait = initial
			} else {
				was.wait = min(2*was.wait, longest)
			}
			m[key] = backoffState{was.wait, now.Now()}
		case 3:
			[]func(string){b.Reset, b.DeleteEntry}[c.IntN(2)](key)
			delete(m, key)
		case 4:
			b.GC()
			for key, s := range m { // the order does not matter: each goes or stays
				if expired(now.Now(), s) {
					delete(m, key)
				}
			}
		default:
			now.Step(time.Duration([]int{1, 1, 2, 4, 17}[c.IntN(5)]) * time.Second)
			at = now.Now()
		}
		for _, key := range keys[:2] {
			s, known := m[key]
			waits := known && !expired(at, s)
			c.is("Get of a Backoff for "+key, s.wait, b.Get(key))
			c.is("IsInBackOffSince of a Backoff for "+key, waits && now.Since(at) < s.wait, b.IsInBackOffSince(key, at))
			c.is("IsInBackOffSinceUpdate of a Backoff for "+key, waits && at.Sub(s.since) < s.wait, b.IsInBackOffSinceUpdate(key, at))
		}
	}
	c.jittered(now, initial, longest)
}

// jittered is a Backoff whose waits are up to half as long again, but never longer than the longest, and which says by itself what has expired.
func (c *check) jittered(now *clocktesting.FakeClock, initial, longest time.Duration) {
	b := flowcontrol.NewFakeBackOffWithJitter(initial, longest, now, 0.5)
	before := time.Duration(0)
	for n := range 6 {
		b.Next("a", now.Now())
		least, most := min(2*before, longest), min(2*before+before/2, longest)
		if n == 0 {
			least, most = initial, initial+initial/2
		}
		got := b.Get("a")
		c.is(fmt.Sprintf("whether Get of a Backoff with jitter is between %v and %v after %d failures", least, most, n+1), true, least <= got && got <= most)
		before = got
	}
	early := 0
	for n := range 8 {
		key := fmt.Sprint("k", n)
		if b.Next(key, now.Now()); b.Get(key) == initial {
			early++
		}
	}
	c.is("whether a Backoff with jitter has none for each of eight keys that have failed once", false, early == 8)
	b.HasExpiredFunc = func(at, since time.Time, of time.Duration) bool { return at.Sub(since) >= of }
	now.Step(longest - 1)
	b.GC()
	kept := b.Get("a")
	now.Step(1)
	b.GC()
	c.is("Get of a Backoff with a function that says what has expired, a moment before and then", [2]time.Duration{before, 0}, [2]time.Duration{kept, b.Get("a")})
	c.expiresByFunction(b, now, initial, longest)
}

// expiresByFunction fails once more when a Backoff has expired by its function, and is in use for a moment: it begins anew.
func (c *check) expiresByFunction(b *flowcontrol.Backoff, now *clocktesting.FakeClock, initial, longest time.Duration) {
	for range 4 {
		b.Next("a", now.Now())
	}
	event := now.Now()
	now.Step(longest - 1)
	in := [2]bool{b.IsInBackOffSince("a", event.Add(longest-1)), b.IsInBackOffSinceUpdate("a", event)}
	now.Step(1)
	in2 := [2]bool{b.IsInBackOffSince("a", event.Add(longest)), b.IsInBackOffSinceUpdate("a", event.Add(longest))}
	c.is("whether something is in a Backoff since an event, and since its update, a moment before that has expired by a function, and then",
		[2][2]bool{{true, true}, {false, false}}, [2][2]bool{in, in2})
	b.Next("a", now.Now())
	got := b.Get("a")
	c.is(fmt.Sprintf("whether Get of a Backoff is between %v and %v after a failure when it had expired by a function", initial, initial+initial/2), true, initial <= got && got <= initial+initial/2)
}

// urlBackoffs hold the backoff of a REST client against how often each of its servers has failed: one that is busy or broken is left alone for longer each
// time, and one that answers anything else, or cannot be reached, is not.
func (c *check) urlBackoffs() {
	const initial, longest = time.Second, 8 * time.Second
	now, m := clocktesting.NewFakeClock(time.Unix(1000, 0)), map[string]time.Duration{}
	b := &rest.URLBackoff{Backoff: flowcontrol.NewFakeBackOff(initial, longest, now)}
	urls := [...]*url.URL{
		{Scheme: "http", Host: "one:80", Path: "/api/v1/pods"}, {Scheme: "http", Host: "one:80", Path: "/healthz"}, {Scheme: "http", Host: "two", RawQuery: "a=b"},
	}
	for range 24 {
		u, code, err := urls[c.IntN(len(urls))], []int{0, 200, 301, 404, 429, 499, 500, 503, 429, 500}[c.IntN(10)], error(nil)
		if code == 0 {
			err = errNoNetwork
		}
		if code == 429 || code >= 500 {
			m[u.Host] = min(max(2*m[u.Host], initial), longest)
		} else {
			delete(m, u.Host)
		}
		if c.IntN(2) == 0 {
			b.UpdateBackoff(u, err, code)
		} else {
			b.UpdateBackoffWithContext(silent, u, err, code)
		}
		for _, u := range urls {
			c.is(fmt.Sprintf("the backoff of %s after an answer %d", u, code), m[u.Host], b.CalculateBackoff(u))
			c.is(fmt.Sprintf("the backoff of %s after an answer %d, with a context", u, code), m[u.Host], b.CalculateBackoffWithContext(silent, u))
		}
	}
	disabled := &rest.URLBackoff{}
	disabled.Disable()
	disabled.UpdateBackoff(urls[0], nil, http.StatusInternalServerError)
	c.is("the backoff of a server that fails, once that is disabled", time.Duration(0), disabled.CalculateBackoff(urls[0]))
	before, after := c.waits(func() { b.SleepWithContext(silent, time.Minute) }, func() { now.Step(time.Minute) })
	c.is("whether a REST client's backoff sleeps for a minute, and then", [2]bool{true, false}, [2]bool{before, after})
	canceled, cancel := context.WithCancel(silent)
	cancel()
	c.returns("a sleep of nothing", func() { b.SleepWithContext(silent, 0); (&rest.NoBackoff{}).SleepWithContext(silent, 0) })
	c.returns("a sleep of somebody who has gone", func() {
		b.SleepWithContext(canceled, time.Minute)
		(&rest.NoBackoff{}).SleepWithContext(canceled, time.Minute)
	})
}

// sleeper is a clock that notes for how long it is slept by, and does so at once.
type sleeper struct {
	*clocktesting.FakeClock
	slept []time.Duration
}

// Sleep implements flowcontrol.Clock.
func (s *sleeper) Sleep(d time.Duration) {
	s.slept = append(s.slept, d)
	s.Step(d)
}

// throttles take the tokens of a rate limiter, by which REST clients wait: those that it begins with, and one more every half second.
func (c *check) throttles() {
	const every = time.Second / 2
	now, tokens := &sleeper{FakeClock: clocktesting.NewFakeClock(time.Unix(1000, 0))}, 1+c.IntN(3)
	l := flowcontrol.NewTokenBucketRateLimiterWithClock(float32(time.Second/every), tokens, now)
	c.is("QPS of a rate limiter", float32(time.Second/every), l.QPS())
	left := time.Duration(tokens) * every // in time
	var want []time.Duration
	for range 12 {
		switch c.IntN(3) {
		case 0:
			now.Step(every / 2)
			left = min(left+every/2, time.Duration(tokens)*every)
		case 1:
			wait := max(0, every-left)
			want = append(want, wait)
			l.Accept()
			left += wait - every
		default:
			taken := left >= every
			c.is(fmt.Sprintf("TryAccept of a rate limiter with %v left of %v", left, every), taken, l.TryAccept())
			if taken {
				left -= every
			}
		}
	}
	c.is("for how long Accept of a rate limiter sleeps", want, now.slept)
	c.leavesLimiter()
}

// leavesLimiter waits for a token, and is canceled.
func (c *check) leavesLimiter() {
	l := flowcontrol.NewTokenBucketRateLimiter(1, 1)
	c.is("TryAccept of a rate limiter that has a token", true, l.TryAccept())
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	before, after := c.waits(func() { err = l.Wait(ctx) }, cancel)
	c.is("whether Wait of a rate limiter without a token waits, until it is canceled and then", [2]bool{true, false}, [2]bool{before, after})
	if !after {
		c.is("whether Wait of a rate limiter says that it was canceled", true, errors.Is(err, context.Canceled))
	}
}
