package library

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"github.com/informersim/informersim/informer/workqueue"
)

// limiters hold the limiters against how often a key has failed.
func limiters(c *check) {
	const base, longest, slow = 5 * time.Millisecond, time.Second, 10 * time.Second
	fastest := c.IntN(4)
	exponential := func() workqueue.RateLimiter[string] { return workqueue.NewItemExponentialFailure[string](base, slow) }
	fastSlow := func() workqueue.RateLimiter[string] { return workqueue.NewItemFastSlow[string](base, slow, fastest) }
	byFailures := func(n int) time.Duration {
		return time.Duration(min(float64(slow), float64(base)*math.Pow(2, float64(n))))
	}
	fastThenSlow := func(n int) time.Duration {
		if n < fastest {
			return base
		}
		return slow
	}
	for _, of := range []struct {
		name string
		l    workqueue.RateLimiter[string]
		want func(failures int) time.Duration
	}{
		{"ItemExponentialFailure", exponential(), byFailures},
		{"ItemExponentialFailure whose longest delay is below its first", workqueue.NewItemExponentialFailure[string](slow, base), func(int) time.Duration { return base }},
		{"ItemFastSlow", fastSlow(), fastThenSlow},
		{"WithMaxWait", workqueue.WithMaxWait[string]{Limiter: exponential(), MaxDelay: longest}, func(n int) time.Duration { return min(longest, byFailures(n)) }},
		{"MaxOf", workqueue.MaxOf[string]{exponential(), fastSlow()}, func(n int) time.Duration { return max(byFailures(n), fastThenSlow(n)) }},
		{"MaxOf, the other way round", workqueue.MaxOf[string]{fastSlow(), exponential()}, func(n int) time.Duration { return max(byFailures(n), fastThenSlow(n)) }},
	} {
		failures := map[string]int{}
		for range 40 { // half of them are of the key that is never forgotten, and twelve doublings reach the longest delay
			key := keys[c.IntN(2)]
			if key == keys[0] && c.oneIn(8) {
				of.l.Forget(key)
				delete(failures, key)
			} else {
				c.is("When of "+of.name, of.want(failures[key]), of.l.When(start, key))
				failures[key]++
			}
			c.is("NumRequeues of "+of.name, failures[key], of.l.NumRequeues(key))
		}
	}
	shared := exponential()
	shared.When(start, "a")
	both := workqueue.MaxOf[string]{fastSlow(), shared, exponential()}
	both.When(start, "a")
	c.is("NumRequeues of MaxOf, one of whose limiters has counted before", 2, both.NumRequeues("a"))
	c.bucket()
}

// bucket is the limiter that has a number of tokens, and gets one every tenth of a second.
func (c *check) bucket() {
	tokens := 1 + c.IntN(4)
	l := &workqueue.Bucket[string]{Limiter: rate.NewLimiter(10, tokens)}
	for n := range 8 {
		c.is("When of Bucket", max(0, time.Duration(n+1-tokens))*100*time.Millisecond, l.When(start, c.key()).Round(time.Millisecond))
	}
	of := workqueue.DefaultControllerRateLimiter[string]()
	for n := range 103 {
		want := max(5*time.Millisecond, time.Duration(n+1-100)*100*time.Millisecond)
		c.is("When of the default limiter for the next of 103 keys at once", want, of.When(start, strconv.Itoa(n)).Round(time.Millisecond))
	}
	c.is("AddRateLimited of a queue with the default limiter", 5*time.Millisecond, workqueue.NewRateLimitingQueue[string](nil, nil).AddRateLimited(start, "a"))
	q := workqueue.NewRateLimitingQueue(nil, workqueue.RateLimiter[string](workqueue.NewItemExponentialFailure[string](time.Second, time.Hour)))
	for n := range 4 {
		if n == 2 {
			q.ShutDown()
		}
		c.is("AddRateLimited", time.Second<<n, q.AddRateLimited(start, "a"))
		c.is("NumRequeues of the queue", n+1, q.NumRequeues("a"))
	}
	q = workqueue.NewRateLimitingQueue(nil, workqueue.RateLimiter[string](workqueue.NewItemFastSlow[string](0, time.Second, 2)))
	for n, want := range []time.Duration{0, 0, time.Second} {
		c.is("AddRateLimited of a queue whose limiter lets a key come at once, twice", want, q.AddRateLimited(start, "a"))
		c.is("NumRequeues of that queue", n+1, q.NumRequeues("a"))
	}
}

// workModel is what a work queue has been given, and what of it is processed.
type workModel struct {
	ready, processing []string
	dirty             map[string]bool // added while it was processed
	closed, draining  bool
}

func (m *workModel) add(key string) workqueue.AddResult {
	switch {
	case m.closed:
		return workqueue.AddIgnored
	case slices.Contains(m.ready, key), m.dirty[key]:
		return workqueue.AddMerged
	case slices.Contains(m.processing, key):
		m.dirty[key] = true
		return workqueue.AddDeferred
	}
	m.ready = append(m.ready, key)
	return workqueue.AddReady
}

// done ends the i-th that is processed.
func (m *workModel) done(i int) (key string, again bool) {
	key = m.processing[i]
	m.processing = slices.Delete(m.processing, i, i+1)
	m.draining = m.draining && len(m.processing) > 0
	if again = m.dirty[key]; again {
		delete(m.dirty, key)
		m.ready = append(m.ready, key)
	}
	return key, again
}

// step makes one call of a queue.
func (m *workModel) step(c *check, q *workqueue.Queue[string], key string) {
	switch n := c.IntN(5); {
	case n < 2:
		c.is("Add", m.add(key), q.Add(key))
	case n < 4:
		item, ok, shutdown := q.TryGet()
		c.is("TryGet: there is one", len(m.ready) > 0, ok)
		c.is("TryGet: the queue is shut down, and empty", m.closed && !ok, shutdown)
		if ok && len(m.ready) > 0 {
			c.is("TryGet", m.ready[0], item)
			m.ready, m.processing = m.ready[1:], append(m.processing, m.ready[0])
		}
	case len(m.processing) > 0:
		key, again := m.done(c.IntN(len(m.processing)))
		c.is("Done: it is ready again", again, q.Done(key))
	}
	c.is("Len", len(m.ready), q.Len())
	c.is("Processing", len(m.processing), q.Processing())
	c.is("Draining", m.draining, q.Draining())
	c.is("ShuttingDown", m.closed, q.ShuttingDown())
}

// workQueues fill a work queue, and have it drain while some of its keys are processed.
func workQueues(c *check) {
	c.ordered()
	c.untaken()
	c.passedOn()
	q, m := workqueue.NewQueue[string](nil), &workModel{dirty: map[string]bool{}}
	names := 2 + c.IntN(24)
	drain, end := 60+c.IntN(60), 80+c.IntN(80)
	for n := range 160 {
		switch n {
		case drain, drain + 4:
			q.ShutDownWithDrain()
			m.closed, m.draining = true, len(m.processing) > 0
		case end:
			q.ShutDown()
			m.closed, m.draining = true, false
		}
		m.step(c, q, fmt.Sprint("k", c.IntN(names)))
	}
	c.takenTwice()
	c.cleared()
}

// delayingQueues have keys wait, and time pass.
func delayingQueues(c *check) {
	q, m := workqueue.NewDelayingQueue[string](nil), &workModel{dirty: map[string]bool{}}
	waiting := map[string]time.Time{}
	now, end := start, 30+c.IntN(40)
	next := func() (at time.Time, any bool) {
		for _, t := range waiting { // order: the earliest
			if !any || t.Before(at) {
				at, any = t, true
			}
		}
		return at, any
	}
	for n := range 60 {
		if n == end {
			if m.closed, m.draining = true, c.oneIn(2) && len(m.processing) > 0; m.draining {
				q.ShutDownWithDrain()
			} else {
				q.ShutDown()
			}
			clear(waiting)
		}
		key := fmt.Sprint("k", c.IntN(8))
		switch c.IntN(4) {
		case 0, 1:
			delay := time.Duration(c.IntN(6)-1) * time.Second
			want := workqueue.AddDelayed
			switch before, known := waiting[key]; {
			case m.closed:
				want = workqueue.AddIgnored
			case delay <= 0:
				want = m.add(key)
			case !known || now.Add(delay).Before(before):
				waiting[key] = now.Add(delay)
			}
			c.is(fmt.Sprint("AddAfter ", delay), want, q.AddAfter(now, key, delay))
		case 2:
			now = now.Add(time.Duration(c.IntN(3)) * time.Second)
			ready, due := 0, []string{}
			for at, any := next(); any && !at.After(now); at, any = next() {
				due = due[:0]
				for k, t := range waiting { // order: sorted below
					if t.Equal(at) {
						due = append(due, k)
						delete(waiting, k)
					}
				}
				slices.Sort(due)
				for _, k := range due {
					if m.add(k) == workqueue.AddReady {
						ready++
					}
				}
			}
			c.is("Advance", ready, q.Advance(now))
			c.is("Len", len(m.ready), q.Len())
			c.takeAll(q.Queue, m)
		default:
			m.step(c, q.Queue, key)
		}
		at, any := next()
		deadline, ok := q.NextDeadline()
		c.is("Waiting", len(waiting), q.Waiting())
		c.is("NextDeadline: there is one", any, ok)
		c.is("NextDeadline", at, deadline)
	}
}

// takeAll takes what is ready: keys that are due at one time may come in any order.
func (c *check) takeAll(q *workqueue.Queue[string], m *workModel) {
	var got []string
	for item, ok, _ := q.TryGet(); ok; item, ok, _ = q.TryGet() {
		got = append(got, item)
	}
	c.is("what is ready", fmt.Sprint(sorted(m.ready)), fmt.Sprint(sorted(got)))
	m.ready, m.processing = nil, append(m.processing, got...)
}

// newestFirst is an order, and says what it is told.
type newestFirst struct{ ready, told []string }

func (o *newestFirst) Touch(key string) { o.told = append(o.told, "touch "+key) }
func (o *newestFirst) Len() int         { return len(o.ready) }

func (o *newestFirst) Push(key string) {
	o.told, o.ready = append(o.told, "push "+key), append(o.ready, key)
}

func (o *newestFirst) Pop() string {
	key := o.ready[len(o.ready)-1]
	o.told, o.ready = append(o.told, "pop "+key), o.ready[:len(o.ready)-1]
	return key
}

// ordered has a queue hand out its keys in an order of somebody else's, who is told of each that is ready, and of one that is added again only if it is.
func (c *check) ordered() {
	o := &newestFirst{}
	q := workqueue.NewQueue[string](o)
	var want []string
	m := &workModel{dirty: map[string]bool{}}
	for range 40 {
		key := fmt.Sprint("k", c.IntN(5))
		switch n := c.IntN(4); {
		case n < 2:
			switch r := m.add(key); {
			case r == workqueue.AddReady:
				want = append(want, "push "+key)
			case r == workqueue.AddMerged && slices.Contains(m.ready, key):
				want = append(want, "touch "+key)
			}
			q.Add(key)
		case n == 2 && len(m.ready) > 0:
			last := len(m.ready) - 1
			key, _, _ = q.TryGet()
			c.is("TryGet in the order of the newest", m.ready[last], key)
			want = append(want, "pop "+key)
			m.ready, m.processing = m.ready[:last], append(m.processing, key)
		case len(m.processing) > 0:
			key, again := m.done(0)
			if again {
				want = append(want, "push "+key)
			}
			q.Done(key)
		}
		c.is("Len of a queue with an order", len(m.ready), q.Len())
	}
	o.ready = append(o.ready, "new")
	key, ok, _ := q.TryGet()
	c.is("TryGet of what the order alone has", "new true", fmt.Sprint(key, " ", ok))
	want = append(want, "pop new")
	c.is("Done of that", false, q.Done("new"))
	c.is("what the order is told", fmt.Sprint(want), fmt.Sprint(o.told))
}
