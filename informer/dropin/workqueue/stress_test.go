package workqueue

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestStressNeverTwiceAtOnce uses one queue from many goroutines and shuts it down at a random moment. No two workers may
// process an item at once, and every add before the shutdown must be followed by a get of that item.
func TestStressNeverTwiceAtOnce(t *testing.T) {
	const items = 32
	for round := range 20 {
		q := NewTypedRateLimitingQueue(NewTypedItemExponentialFailureRateLimiter[int](time.Microsecond, 50*time.Microsecond))
		var processing [items]atomic.Int32
		var version, seen [items]atomic.Int64 // of the item's state; the version a worker has seen
		var producers, workers sync.WaitGroup
		for range 4 {
			producers.Go(func() {
				for range 500 {
					item := rand.IntN(items)
					version[item].Add(1)
					switch rand.IntN(4) {
					case 0:
						q.AddRateLimited(item)
					case 1:
						q.AddAfter(item, time.Duration(rand.IntN(100))*time.Microsecond)
					}
					q.Add(item)
				}
			})
			workers.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					if processing[item].Add(1) != 1 {
						t.Errorf("item %d is processed twice at once", item)
					}
					seen[item].Store(version[item].Load())
					if rand.IntN(3) == 0 {
						q.Forget(item)
					}
					processing[item].Add(-1)
					q.Done(item)
				}
			})
		}
		if cutShort := round%2 == 0; cutShort {
			time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
			q.ShutDown()
			producers.Wait()
			workers.Wait()
			continue
		}
		producers.Wait()
		q.ShutDownWithDrain()
		workers.Wait()
		q.ShutDown()
		for item := range items {
			if seen[item].Load() != version[item].Load() {
				t.Errorf("item %d was last seen at version %d of %d", item, seen[item].Load(), version[item].Load())
			}
		}
	}
}

func TestParallelizeUntil(t *testing.T) {
	for _, c := range []struct{ workers, pieces, chunk int }{
		{1, 1, 1}, {10, 1000, 1}, {10, 1000, 10}, {3, 1000, 17}, {10, 999, 1000}, {10, 5, 0}, {5, 10, -3},
		{0, 10, 1}, {-1, 10, 1}, {4, 0, 1}, {4, -7, 1}, {2, 10, 1 << 62},
	} {
		seen := make([]atomic.Int32, max(c.pieces, 0))
		ParallelizeUntil(context.Background(), c.workers, c.pieces, func(piece int) { seen[piece].Add(1) }, WithChunkSize(c.chunk))
		want := int32(1)
		if c.workers <= 0 {
			want = 0
		}
		for piece := range seen {
			if got := seen[piece].Load(); got != want {
				t.Errorf("%+v: piece %d was done %d times, want %d", c, piece, got, want)
			}
		}
	}
	done := 0
	ParallelizeUntil(nil, 1, 3, func(int) { done++ }) //nolint:staticcheck // client-go allows a nil context
	if done != 3 {
		t.Errorf("a nil context did %d of 3 pieces", done)
	}
}

func TestParallelizeUntilStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var done atomic.Int32
	ParallelizeUntil(ctx, 2, 1_000_000, func(int) {
		n := done.Add(1)
		if n == 10 {
			cancel()
		}
		if n >= 10 {
			<-ctx.Done()
		}
	}, WithChunkSize(100))
	if n := done.Load(); n < 10 || n > 11 {
		t.Errorf("%d pieces were done; the context ended with the 10th", n)
	}
}
