package workqueue

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/informer/workqueue"
)

// op is one call of a queue, or an advance of time.
type op struct {
	kind  string
	item  string
	delay time.Duration
}

func (o op) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %v", o.kind, o.item, o.delay))
}

var opGen = rapid.Custom(func(t *rapid.T) op {
	kinds := []string{
		"add", "add", "add", "get", "get", "get", "done", "done", "done", "after", "after", "limited", "limited",
		"forget", "advance", "advance", "advance", "drain", "shutdown",
	}
	o := op{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch o.kind {
	case "add", "done", "limited", "forget":
		o.item = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "item")
	case "after":
		o.item = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "item")
		o.delay = time.Duration(rapid.IntRange(-1, 12).Draw(t, "delay")) * 5 * time.Millisecond
	case "advance":
		delays := []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 11 * time.Second}
		o.delay = rapid.SampledFrom(delays).Draw(t, "delay")
	}
	return o
})

// withoutBlockedDrains omits the drains that block client-go forever: one begun while another waits (k141079: only one of them is
// released), and one begun after a ShutDown (which the next ShutDown of a delaying queue does not end).
func withoutBlockedDrains(ops []op) (remaining []op) {
	shut := false
	for _, o := range ops {
		if o.kind == "drain" && shut {
			continue
		}
		shut = shut || o.kind == "drain" || o.kind == "shutdown"
		remaining = append(remaining, o)
	}
	return remaining
}

// transcript holds the results of a run of ops, one line per op.
type transcript []string

func (tr *transcript) note(o op, format string, args ...any) {
	*tr = append(*tr, fmt.Sprintf("%-16s ", o)+fmt.Sprintf(format, args...))
}

// runBlocking drives a blocking queue in a bubble, whose clock and quiescence make every answer exact.
func runBlocking(t *testing.T, ops []op, newQueue func() TypedRateLimitingInterface[string]) (tr transcript) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		drains := 0
		for _, o := range ops {
			switch o.kind {
			case "add":
				q.Add(o.item)
			case "after":
				q.AddAfter(o.item, o.delay)
			case "limited":
				q.AddRateLimited(o.item)
			case "forget":
				q.Forget(o.item)
			case "done":
				q.Done(o.item)
			case "advance":
				time.Sleep(o.delay)
			case "shutdown":
				q.ShutDown()
			case "drain":
				drains++
				go func() {
					q.ShutDownWithDrain()
					drains--
				}()
			}
			synctest.Wait()
			got := ""
			if o.kind == "get" {
				got = "nothing"
				if q.Len() != 0 || q.ShuttingDown() {
					item, shutdown := q.Get()
					got = fmt.Sprintf("%q %v", item, shutdown)
				}
			}
			tr.note(o, "%s len=%d shutting=%v draining=%v requeues=%d,%d",
				got, q.Len(), q.ShuttingDown(), drains != 0, q.NumRequeues("a"), q.NumRequeues("b"))
		}
		q.ShutDown()
		time.Sleep(11 * time.Second) // a loop still running after a drain ends at its next wake-up (I98)
	})
	return tr
}

// runStepped drives the stepped queue with the same ops.
func runStepped(ops []op) (tr transcript) {
	q := workqueue.NewRateLimitingQueue[string](nil, nil)
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, o := range ops {
		got := ""
		switch o.kind {
		case "add":
			q.Add(o.item)
		case "after":
			q.AddAfter(now, o.item, o.delay)
		case "limited":
			q.AddRateLimited(now, o.item)
		case "forget":
			q.Forget(o.item)
		case "done":
			q.Done(o.item)
		case "advance":
			now = now.Add(o.delay)
			q.Advance(now)
		case "shutdown":
			q.ShutDown()
		case "drain":
			q.ShutDownWithDrain()
		case "get":
			item, ok, shutdown := q.TryGet()
			got = "nothing"
			if ok || shutdown {
				got = fmt.Sprintf("%q %v", item, shutdown)
			}
		}
		tr.note(o, "%s len=%d shutting=%v draining=%v requeues=%d,%d",
			got, q.Len(), q.ShuttingDown(), q.Draining(), q.NumRequeues("a"), q.NumRequeues("b"))
	}
	return tr
}

func firstDifference(a, b transcript) string {
	for i := range a {
		if a[i] != b[i] {
			return fmt.Sprintf("op %d:\n  client-go %s\n  ours      %s\nafter\n  %s", i, a[i], b[i], strings.Join(a[:i], "\n  "))
		}
	}
	return ""
}

// TestDifferentialQueues gives client-go's queue, ours and the stepped queue the same operations and compares every answer
// (I94 to I99 together).
func TestDifferentialQueues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := withoutBlockedDrains(rapid.SliceOfN(opGen, 1, 60).Draw(rt, "ops"))
		want := runBlocking(t, ops, func() TypedRateLimitingInterface[string] {
			return upstream.NewTypedRateLimitingQueue(upstream.DefaultTypedControllerRateLimiter[string]())
		})
		got := runBlocking(t, ops, func() TypedRateLimitingInterface[string] {
			return NewTypedRateLimitingQueue(DefaultTypedControllerRateLimiter[string]())
		})
		if diff := firstDifference(want, got); diff != "" {
			rt.Fatalf("dropin/workqueue differs from client-go at %s", diff)
		}
		if diff := firstDifference(want, runStepped(ops)); diff != "" {
			rt.Fatalf("informer/workqueue differs from client-go at %s", diff)
		}
	})
}

// touchOrder is an order of arrival that records its calls, so that both packages' use of a custom Queue can be compared.
type touchOrder struct {
	upstream.Queue[string]
	calls []string
}

func (o *touchOrder) Touch(item string) {
	o.calls = append(o.calls, "touch "+item)
	o.Queue.Touch(item)
}
func (o *touchOrder) Push(item string) { o.calls = append(o.calls, "push "+item); o.Queue.Push(item) }

// TestDifferentialCustomOrder compares plain queues with an injected order, including the order's calls.
func TestDifferentialCustomOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(opGen, 1, 60).Draw(rt, "ops")
		theirs, ours := &touchOrder{Queue: upstream.DefaultQueue[string]()}, &touchOrder{Queue: DefaultQueue[string]()}
		a := upstream.NewTypedWithConfig(upstream.TypedQueueConfig[string]{Queue: theirs})
		b := NewTypedWithConfig(TypedQueueConfig[string]{Queue: ours})
		for i, o := range ops {
			got := [2]string{}
			for n, q := range []TypedInterface[string]{a, b} {
				switch o.kind {
				case "add", "after", "limited":
					q.Add(o.item)
				case "done":
					q.Done(o.item)
				case "shutdown":
					q.ShutDown()
				case "get":
					if q.Len() != 0 || q.ShuttingDown() {
						item, shutdown := q.Get()
						got[n] = fmt.Sprintf("%q %v", item, shutdown)
					}
				}
				got[n] = fmt.Sprintf("%s len=%d", got[n], q.Len())
			}
			if got[0] != got[1] {
				rt.Fatalf("op %d %s: client-go %s, ours %s", i, o, got[0], got[1])
			}
			if a, b := fmt.Sprint(theirs.calls), fmt.Sprint(ours.calls); a != b {
				rt.Fatalf("op %d %s: client-go called the order with %s, we with %s", i, o, a, b)
			}
		}
	})
}

// TestDifferentialLimiters compares each kind of rate limiter with client-go's.
func TestDifferentialLimiters(t *testing.T) {
	type pair struct {
		name         string
		theirs, ours TypedRateLimiter[string]
	}
	newPairs := func() []pair {
		return []pair{
			{"exponential", upstream.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Hour),
				NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Hour)},
			{"fast-slow", upstream.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Minute, 3),
				NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Minute, 3)},
			{"item-based", upstream.DefaultTypedItemBasedRateLimiter[string](), DefaultTypedItemBasedRateLimiter[string]()},
			{"max-wait", upstream.NewTypedWithMaxWaitRateLimiter(upstream.DefaultTypedItemBasedRateLimiter[string](), time.Second),
				NewTypedWithMaxWaitRateLimiter(DefaultTypedItemBasedRateLimiter[string](), time.Second)},
			{"default", upstream.DefaultTypedControllerRateLimiter[string](), DefaultTypedControllerRateLimiter[string]()},
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		ops := rapid.SliceOfN(opGen, 1, 200).Draw(rt, "ops")
		diff := ""
		synctest.Test(t, func(*testing.T) { // so that both buckets see one clock
			for _, p := range newPairs() {
				for i, o := range ops {
					got := [2]string{}
					for n, limiter := range []TypedRateLimiter[string]{p.theirs, p.ours} {
						if o.kind == "forget" {
							limiter.Forget(o.item)
						} else {
							got[n] = limiter.When(o.item).String()
						}
						got[n] += fmt.Sprint(" ", limiter.NumRequeues(o.item))
					}
					if got[0] != got[1] && diff == "" {
						diff = fmt.Sprintf("%s, op %d %s: client-go %s, ours %s", p.name, i, o, got[0], got[1])
					}
					time.Sleep(o.delay)
				}
			}
		})
		if diff != "" {
			rt.Fatal(diff)
		}
	})
}
