package workqueue

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
)

// The queues of either package fit where the other's are expected.
var (
	_ upstream.TypedInterface[string] = (*Typed[string])(nil)
	_ upstream.Interface              = (*Type)(nil)
	_ upstream.RateLimiter            = (*BucketRateLimiter)(nil)
	_ RateLimiter                     = (*upstream.BucketRateLimiter)(nil)
)

func TestI94GetWaitsForAnItemOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTyped[string]()
		defer q.ShutDown()
		var got []string
		var mu sync.Mutex
		for range 3 {
			go func() {
				item, shutdown := q.Get()
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprint(item, shutdown))
			}()
		}
		synctest.Wait()
		if len(got) != 0 {
			t.Fatalf("Get on an empty queue returned %v", got)
		}
		q.Add("a")
		q.Add("a")
		synctest.Wait()
		if len(got) != 1 || got[0] != "afalse" {
			t.Fatalf("one item, added twice, gave %v", got)
		}
		q.Add("a")
		synctest.Wait()
		if len(got) != 1 {
			t.Fatalf("an item being processed was handed out again: %v", got)
		}
		q.Done("a")
		synctest.Wait()
		if len(got) != 2 {
			t.Fatalf("Done of a dirty item did not wake Get: %v", got)
		}
	})
}

func TestI95ShutDownWakesEveryGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTyped[string]()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if item, shutdown := q.Get(); !shutdown || item != "" {
					t.Errorf("Get = %q, %v after shutdown", item, shutdown)
				}
			})
		}
		synctest.Wait()
		q.ShutDown()
		wg.Wait()
		q.Add("late")
		if q.Len() != 0 || !q.ShuttingDown() {
			t.Fatalf("Len = %d, ShuttingDown = %v after shutdown", q.Len(), q.ShuttingDown())
		}
		q.ShutDown() // idempotent
	})
}

func TestI96DrainReturnsAtTheLastDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTyped[string]()
		q.Add("processing")
		q.Add("queued")
		q.Get()
		var drained atomic.Int32
		for range 2 { // every caller of a drain must return
			go func() { q.ShutDownWithDrain(); drained.Add(1) }()
		}
		synctest.Wait()
		if drained.Load() != 0 {
			t.Fatal("the drain did not wait for the item being processed")
		}
		q.Done("processing")
		synctest.Wait()
		if drained.Load() != 2 || q.Len() != 1 {
			t.Fatalf("%d drains returned with %d queued; want 2, and the queued item left alone", drained.Load(), q.Len())
		}
	})
}

func TestI96ShutDownEndsADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTyped[string]()
		q.Add("stuck")
		q.Get()
		drained := false
		go func() { q.ShutDownWithDrain(); drained = true }()
		synctest.Wait()
		q.ShutDown()
		synctest.Wait()
		if !drained {
			t.Fatal("ShutDown did not end the drain")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		q := NewTypedDelayingQueue[string]()
		q.Add("stuck")
		q.Get()
		q.ShutDown()
		drained := false
		go func() { q.ShutDownWithDrain(); drained = true }()
		synctest.Wait()
		q.ShutDown()
		synctest.Wait()
		if !drained {
			t.Fatal("a second ShutDown did not end the drain that began after the first")
		}
	})
}

func TestI97AddAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTypedDelayingQueue[string]()
		defer q.ShutDown()
		q.AddAfter("now", 0)
		q.AddAfter("negative", -time.Hour)
		if q.Len() != 2 {
			t.Fatalf("Len = %d: without a delay the item must be added at once", q.Len())
		}
		q.AddAfter("a", 50*time.Millisecond)
		q.AddAfter("a", 30*time.Millisecond)
		q.AddAfter("a", 70*time.Millisecond)
		for _, step := range []struct {
			pass time.Duration
			want int
		}{{29 * time.Millisecond, 2}, {time.Millisecond, 3}, {time.Second, 3}} {
			time.Sleep(step.pass)
			synctest.Wait()
			if q.Len() != step.want {
				t.Fatalf("%v later Len = %d, want %d", step.pass, q.Len(), step.want)
			}
		}
		q.AddAfter("lost", time.Second)
		q.ShutDown()
		time.Sleep(2 * time.Second)
		if q.Len() != 3 {
			t.Fatalf("Len = %d: a delayed item outlived the shutdown", q.Len())
		}
	})
}

// brokenTimers is a clock whose timers never fire, so that only the heartbeat is left.
type brokenTimers struct{ *testingclock.FakeClock }

func (brokenTimers) NewTimer(time.Duration) clock.Timer { return brokenTimer{} }

type brokenTimer struct{}

func (brokenTimer) C() <-chan time.Time      { return nil }
func (brokenTimer) Stop() bool               { return true }
func (brokenTimer) Reset(time.Duration) bool { return true }

func TestI97HeartbeatFindsWhatATimerMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := testingclock.NewFakeClock(time.Now())
		q := NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[string]{Clock: brokenTimers{fake}})
		defer q.ShutDown()
		q.AddAfter("a", time.Second)
		synctest.Wait()
		fake.Step(9 * time.Second)
		synctest.Wait()
		if q.Len() != 0 {
			t.Fatal("the broken timer fired")
		}
		fake.Step(time.Second)
		synctest.Wait()
		if q.Len() != 1 {
			t.Fatal("the heartbeat did not find the due item after 10s")
		}
	})
}

func TestI98OnlyShutDownEndsTheLoopAtOnce(t *testing.T) {
	for _, drain := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			q := NewTypedDelayingQueue[string]()
			defer q.ShutDown()
			ended := make(chan struct{})
			go func() { // the loop has ended when it no longer takes items to hold
				inner := q.(*delayingQueue[string])
				for !inner.hasStopped() {
					time.Sleep(time.Millisecond)
				}
				close(ended)
			}()
			synctest.Wait()
			start := time.Now()
			if drain {
				q.ShutDownWithDrain()
			} else {
				q.ShutDown()
			}
			<-ended
			took := time.Since(start)
			if !drain && took > time.Millisecond {
				t.Errorf("after ShutDown the loop ran for another %v", took)
			}
			if drain && (took < 9*time.Second || took > heartbeatPeriod+time.Millisecond) {
				t.Errorf("after ShutDownWithDrain the loop ended %v later, want at the next heartbeat", took)
			}
		})
	}
}

func (q *delayingQueue[T]) hasStopped() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stopped
}

func TestI99AddRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTypedRateLimitingQueue(DefaultTypedControllerRateLimiter[string]())
		defer q.ShutDown()
		for _, delay := range []time.Duration{5, 10, 20, 40} {
			q.AddRateLimited("a")
			time.Sleep(delay*time.Millisecond - 1)
			synctest.Wait()
			if q.Len() != 0 {
				t.Fatalf("added before %v had passed", delay*time.Millisecond)
			}
			time.Sleep(1)
			synctest.Wait()
			item, _ := q.Get()
			q.Done(item)
		}
		if q.NumRequeues("a") != 4 {
			t.Fatalf("NumRequeues = %d, want 4", q.NumRequeues("a"))
		}
		q.Forget("a")
		if q.NumRequeues("a") != 0 {
			t.Fatal("Forget did not reset the retries")
		}
	})
}

// TestCustomQueueMayCallBack: the delaying loop holds no lock while it adds, so an injected queue's Add may use AddAfter.
func TestCustomQueueMayCallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &callback{TypedInterface: NewTyped[string]()}
		q := NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[string]{Queue: inner})
		defer q.ShutDown()
		inner.add = func(item string) {
			if item == "first" {
				q.AddAfter("second", time.Second)
			}
		}
		q.AddAfter("first", time.Second)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if q.Len() != 2 {
			t.Fatalf("Len = %d, want first and second", q.Len())
		}
	})
}

type callback struct {
	TypedInterface[string]
	add func(string)
}

func (c *callback) Add(item string) {
	c.TypedInterface.Add(item)
	c.add(item)
}
