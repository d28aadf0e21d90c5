package workqueue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
)

// Every benchmark runs on both client-go's queue and ours, so that one run compares them:
//
//	go test -bench . -count 10 ./informer/dropin/workqueue | benchstat -col /impl -

func forEachPlain(b *testing.B, run func(b *testing.B, q TypedInterface[string])) {
	b.Run("impl=client-go", func(b *testing.B) { run(b, upstream.NewTyped[string]()) })
	b.Run("impl=ours", func(b *testing.B) { run(b, NewTyped[string]()) })
}

var benchKeys = func() []string {
	keys := make([]string, 1<<12)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/name-%d", i%16, i)
	}
	return keys
}()

// BenchmarkAddGetDone cycles one item through the queue.
func BenchmarkAddGetDone(b *testing.B) {
	forEachPlain(b, func(b *testing.B, q TypedInterface[string]) {
		b.ReportAllocs()
		for i := range b.N {
			q.Add(benchKeys[i%len(benchKeys)])
			item, _ := q.Get()
			q.Done(item)
		}
	})
}

// BenchmarkBurst adds 4096 items, half of them twice, and gets them all.
func BenchmarkBurst(b *testing.B) {
	forEachPlain(b, func(b *testing.B, q TypedInterface[string]) {
		b.ReportAllocs()
		for range b.N {
			for i, key := range benchKeys {
				q.Add(key)
				if i%2 == 0 {
					q.Add(key)
				}
			}
			for range benchKeys {
				item, _ := q.Get()
				q.Done(item)
			}
		}
	})
}

// BenchmarkContended runs producers and workers on one queue.
func BenchmarkContended(b *testing.B) {
	forEachPlain(b, func(b *testing.B, q TypedInterface[string]) {
		b.ReportAllocs()
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Done(item)
				}
			})
		}
		b.RunParallel(func(pb *testing.PB) {
			for i := rand.IntN(len(benchKeys)); pb.Next(); i++ {
				q.Add(benchKeys[i%len(benchKeys)])
			}
		})
		q.ShutDown()
		workers.Wait()
	})
}

// BenchmarkNew creates a queue and shuts it down.
func BenchmarkNew(b *testing.B) {
	b.Run("impl=client-go", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			upstream.NewTypedRateLimitingQueue(upstream.DefaultTypedControllerRateLimiter[string]()).ShutDown()
		}
	})
	b.Run("impl=ours", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			NewTypedRateLimitingQueue(DefaultTypedControllerRateLimiter[string]()).ShutDown()
		}
	})
}

func forEachDelaying(b *testing.B, run func(b *testing.B, q TypedDelayingInterface[string], clock *testingclock.FakeClock)) {
	b.Run("impl=client-go", func(b *testing.B) {
		clock := testingclock.NewFakeClock(time.Now())
		run(b, upstream.NewTypedDelayingQueueWithConfig(upstream.TypedDelayingQueueConfig[string]{Clock: clock}), clock)
	})
	b.Run("impl=ours", func(b *testing.B) {
		clock := testingclock.NewFakeClock(time.Now())
		run(b, NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[string]{Clock: clock}), clock)
	})
}

// BenchmarkAddAfter adds items with random delays, lets them all become due, and gets them.
func BenchmarkAddAfter(b *testing.B) {
	forEachDelaying(b, func(b *testing.B, q TypedDelayingInterface[string], clock *testingclock.FakeClock) {
		defer q.ShutDown()
		random := rand.New(rand.NewPCG(1, 2))
		b.ReportAllocs()
		for n := range b.N {
			q.AddAfter(fmt.Sprint(n), time.Duration(random.Int64N(int64(10*time.Minute))))
		}
		clock.Step(11 * time.Minute)
		for range b.N {
			item, _ := q.Get()
			q.Done(item)
		}
	})
}

// BenchmarkAddAfterDuplicate delays items that are already delayed.
func BenchmarkAddAfterDuplicate(b *testing.B) {
	forEachDelaying(b, func(b *testing.B, q TypedDelayingInterface[string], _ *testingclock.FakeClock) {
		defer q.ShutDown()
		b.ReportAllocs()
		for i := range b.N {
			q.AddAfter(benchKeys[i%len(benchKeys)], time.Hour)
		}
	})
}

// BenchmarkAddRateLimited retries items with the real clock, as a failing controller does.
func BenchmarkAddRateLimited(b *testing.B) {
	run := func(b *testing.B, q TypedRateLimitingInterface[string]) {
		defer q.ShutDown()
		b.ReportAllocs()
		for i := range b.N {
			key := benchKeys[i%len(benchKeys)]
			q.AddRateLimited(key)
			if i%8 == 0 {
				q.Forget(key)
			}
		}
	}
	b.Run("impl=client-go", func(b *testing.B) {
		run(b, upstream.NewTypedRateLimitingQueue(upstream.DefaultTypedControllerRateLimiter[string]()))
	})
	b.Run("impl=ours", func(b *testing.B) {
		run(b, NewTypedRateLimitingQueue(DefaultTypedControllerRateLimiter[string]()))
	})
}

// BenchmarkRetryRoundTrip adds with a tiny delay and waits for the item.
func BenchmarkRetryRoundTrip(b *testing.B) {
	run := func(b *testing.B, q TypedDelayingInterface[string]) {
		defer q.ShutDown()
		b.ReportAllocs()
		for i := range b.N {
			q.AddAfter(benchKeys[i%len(benchKeys)], time.Nanosecond)
			item, _ := q.Get()
			q.Done(item)
		}
	}
	b.Run("impl=client-go", func(b *testing.B) { run(b, upstream.NewTypedDelayingQueue[string]()) })
	b.Run("impl=ours", func(b *testing.B) { run(b, NewTypedDelayingQueue[string]()) })
}

// BenchmarkParallelizeUntil distributes empty pieces, so that only the overhead is measured.
func BenchmarkParallelizeUntil(b *testing.B) {
	for _, chunk := range []int{1, 100} {
		b.Run(fmt.Sprintf("chunk=%d/impl=client-go", chunk), func(b *testing.B) {
			for range b.N {
				upstream.ParallelizeUntil(context.Background(), 8, 10_000, func(int) {}, upstream.WithChunkSize(chunk))
			}
		})
		b.Run(fmt.Sprintf("chunk=%d/impl=ours", chunk), func(b *testing.B) {
			for range b.N {
				ParallelizeUntil(context.Background(), 8, 10_000, func(int) {}, WithChunkSize(chunk))
			}
		})
	}
}
