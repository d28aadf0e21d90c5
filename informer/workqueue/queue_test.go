package workqueue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func get[T comparable](t testing.TB, q *Queue[T]) T {
	t.Helper()
	item, ok, _ := q.TryGet()
	if !ok {
		t.Fatal("TryGet returned no item")
	}
	return item
}

func TestI94DedupesAndDefers(t *testing.T) {
	q := NewQueue[string](nil)
	for _, step := range []struct {
		add  string
		want AddResult
	}{{"a", AddReady}, {"b", AddReady}, {"a", AddMerged}} {
		if got := q.Add(step.add); got != step.want {
			t.Fatalf("Add(%s) = %v, want %v", step.add, got, step.want)
		}
	}
	if got := get(t, q); got != "a" {
		t.Fatalf("first item is %s, want a", got)
	}
	if got := q.Add("a"); got != AddDeferred {
		t.Fatalf("Add while processing = %v, want AddDeferred", got)
	}
	if got := q.Add("a"); got != AddMerged {
		t.Fatalf("second Add while processing = %v, want AddMerged", got)
	}
	if q.Len() != 1 {
		t.Fatalf("Len = %d, want 0: an item being processed is not ready", q.Len())
	}
	if !q.Done("a") {
		t.Fatal("Done did not make the item ready again")
	}
	if first, second := get(t, q), get(t, q); first != "b" || second != "a" {
		t.Fatalf("then %s, %s; want b, a", first, second)
	}
	if q.Done("a") || q.Done("b") || q.Done("never added") {
		t.Fatal("Done made a clean item ready")
	}
}

func TestI95ShutDownHandsOutTheRest(t *testing.T) {
	q := NewQueue[int](nil)
	q.Add(1)
	q.Add(2)
	get(t, q)
	q.Add(1) // dirty while processing
	q.ShutDown()
	if got := q.Add(3); got != AddIgnored {
		t.Fatalf("Add after shutdown = %v, want AddIgnored", got)
	}
	if !q.Done(1) {
		t.Fatal("Done of a dirty item did not requeue it after shutdown")
	}
	for _, want := range []int{2, 1} {
		if got := get(t, q); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	if _, ok, shutdown := q.TryGet(); ok || !shutdown {
		t.Fatalf("empty queue: ok=%v shutdown=%v, want shutdown only", ok, shutdown)
	}
}

func TestI96DrainWaitsForProcessingOnly(t *testing.T) {
	q := NewQueue[int](nil)
	q.Add(1)
	q.Add(2)
	get(t, q)
	q.ShutDownWithDrain()
	if !q.Draining() {
		t.Fatal("not draining though an item is being processed")
	}
	q.Done(1)
	if q.Draining() || q.Len() != 1 {
		t.Fatalf("Draining=%v Len=%d: the drain must not wait for queued items", q.Draining(), q.Len())
	}
	get(t, q)
	if q.Draining() {
		t.Fatal("an item taken after the drain ended restarted it")
	}
	q.ShutDownWithDrain()
	if !q.Draining() {
		t.Fatal("not draining though an item is being processed")
	}
	q.ShutDown()
	if q.Draining() {
		t.Fatal("ShutDown did not end the drain")
	}
}

func TestI97EarlierTimeWins(t *testing.T) {
	t0 := time.Unix(1000, 0)
	q := NewDelayingQueue[string](nil)
	if got := q.AddAfter(t0, "now", 0); got != AddReady {
		t.Fatalf("AddAfter 0 = %v, want AddReady", got)
	}
	if got := q.AddAfter(t0, "past", -time.Second); got != AddReady {
		t.Fatalf("AddAfter -1s = %v, want AddReady", got)
	}
	q.AddAfter(t0, "a", 50*time.Millisecond)
	q.AddAfter(t0, "a", 30*time.Millisecond)
	q.AddAfter(t0, "a", 70*time.Millisecond)
	q.AddAfter(t0, "b", 40*time.Millisecond)
	if deadline, ok := q.NextDeadline(); !ok || !deadline.Equal(t0.Add(30*time.Millisecond)) {
		t.Fatalf("NextDeadline = %v, %v", deadline, ok)
	}
	if n := q.Advance(t0.Add(29 * time.Millisecond)); n != 0 {
		t.Fatalf("Advance before the deadline made %d ready", n)
	}
	if n := q.Advance(t0.Add(time.Second)); n != 2 {
		t.Fatalf("Advance made %d ready, want a and b", n)
	}
	for _, want := range []string{"now", "past", "a", "b"} {
		if got := get(t, q.Queue); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}

	q.AddAfter(t0, "lost", time.Millisecond)
	q.ShutDown()
	if got := q.AddAfter(t0, "late", time.Millisecond); got != AddIgnored || q.Waiting() != 0 {
		t.Fatalf("after shutdown: AddAfter = %v, %d waiting", got, q.Waiting())
	}
	if q.Advance(t0.Add(time.Hour)) != 0 || q.Len() != 0 {
		t.Fatal("a delayed item outlived the shutdown")
	}
}

func TestI99DefaultLimiter(t *testing.T) {
	now := time.Unix(1000, 0)
	limiter := DefaultControllerRateLimiter[int]()
	delay := DefaultBaseDelay
	for n := range 30 {
		want := min(delay, DefaultMaxDelay)
		if got := limiter.When(now, 1); got != want {
			t.Fatalf("retry %d waits %v, want %v", n, got, want)
		}
		delay *= 2
	}
	if limiter.NumRequeues(1) != 30 {
		t.Fatalf("NumRequeues = %d, want 30", limiter.NumRequeues(1))
	}
	limiter.Forget(1)
	if limiter.NumRequeues(1) != 0 || limiter.When(now, 1) != DefaultBaseDelay {
		t.Fatal("Forget did not reset the item")
	}
	for range DefaultBucketBurst - 31 {
		limiter.When(now, 2)
		limiter.Forget(2)
	}
	// The bucket is empty: each further retry waits 100ms more than the one before.
	for n := 1; n <= 3; n++ {
		if got, want := limiter.When(now, 100+n), time.Duration(n)*100*time.Millisecond; got != want {
			t.Fatalf("retry beyond the burst waits %v, want %v", got, want)
		}
	}
	if got := limiter.When(now.Add(time.Hour), 3); got != DefaultBaseDelay {
		t.Fatalf("an hour later the bucket still delays: %v", got)
	}
}

func TestLimiters(t *testing.T) {
	now := time.Unix(1000, 0)
	fastSlow := NewItemFastSlow[string](5*time.Millisecond, 10*time.Second, 3)
	bounded := WithMaxWait[string]{Limiter: NewItemExponentialFailure[string](time.Second, time.Hour), MaxDelay: 3 * time.Second}
	for n, want := range []struct{ fastSlow, bounded time.Duration }{
		{5 * time.Millisecond, time.Second},
		{5 * time.Millisecond, 2 * time.Second},
		{5 * time.Millisecond, 3 * time.Second},
		{10 * time.Second, 3 * time.Second},
	} {
		if got := fastSlow.When(now, "a"); got != want.fastSlow {
			t.Errorf("fast-slow retry %d = %v, want %v", n, got, want.fastSlow)
		}
		if got := bounded.When(now, "a"); got != want.bounded {
			t.Errorf("bounded retry %d = %v, want %v", n, got, want.bounded)
		}
	}
	if fastSlow.NumRequeues("a") != 4 || bounded.NumRequeues("a") != 4 {
		t.Errorf("NumRequeues = %d, %d; want 4", fastSlow.NumRequeues("a"), bounded.NumRequeues("a"))
	}
	fastSlow.Forget("a")
	bounded.Forget("a")
	if fastSlow.NumRequeues("a") != 0 || bounded.NumRequeues("a") != 0 {
		t.Error("Forget did not reset the retries")
	}
	endless := NewItemExponentialFailure[string](time.Second, time.Hour)
	for range 2000 { // beyond what a float64 holds
		if got := endless.When(now, "a"); got <= 0 || got > time.Hour {
			t.Fatalf("delay %v out of (0, 1h]", got)
		}
	}
}

func TestRateLimitingQueue(t *testing.T) {
	t0 := time.Unix(1000, 0)
	q := NewRateLimitingQueue[string](nil, nil)
	for n, want := range []time.Duration{5, 10, 20} {
		if got := q.AddRateLimited(t0, "a"); got != want*time.Millisecond {
			t.Fatalf("retry %d waits %v, want %v", n, got, want*time.Millisecond)
		}
	}
	if q.NumRequeues("a") != 3 || q.Waiting() != 1 {
		t.Fatalf("NumRequeues=%d Waiting=%d, want 3 and 1", q.NumRequeues("a"), q.Waiting())
	}
	if q.Advance(t0.Add(5*time.Millisecond)) != 1 {
		t.Fatal("the first retry's deadline changed")
	}
	q.Forget("a")
	if q.NumRequeues("a") != 0 {
		t.Fatal("Forget did not reset the retries")
	}
}

// TestRingKeepsOrder compares a Ring with a slice.
func TestRingKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ring Ring[int]
		var model []int
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				n := rapid.Int().Draw(t, "n")
				ring.Push(n)
				model = append(model, n)
			},
			"pop": func(t *rapid.T) {
				want := 0
				if len(model) != 0 {
					want, model = model[0], model[1:]
				}
				if got := ring.Pop(); got != want {
					t.Fatalf("Pop = %d, want %d", got, want)
				}
			},
			"": func(t *rapid.T) {
				if ring.Len() != len(model) {
					t.Fatalf("Len = %d, want %d", ring.Len(), len(model))
				}
			},
		})
	})
}

// TestWaitingHandsOutByTime compares Waiting with a sorted slice; ties may come in any order.
func TestWaitingHandsOutByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWaiting[int]()
		t0 := time.Unix(1000, 0)
		model := map[int]time.Time{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				item := rapid.IntRange(0, 20).Draw(t, "item")
				at := t0.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "at")))
				w.Add(item, at)
				if held, ok := model[item]; !ok || at.Before(held) {
					model[item] = at
				}
			},
			"pop": func(t *rapid.T) {
				now := t0.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "now")))
				item, ok := w.PopDue(now)
				earliest, some := earliestOf(model)
				if want := some && !earliest.After(now); ok != want {
					t.Fatalf("PopDue ok=%v, want %v", ok, want)
				}
				if !ok {
					return
				}
				if at, held := model[item]; !held || !at.Equal(earliest) {
					t.Fatalf("PopDue handed out %d of %v (held %v), the earliest is %v", item, at, held, earliest)
				}
				delete(model, item)
			},
			"": func(t *rapid.T) {
				deadline, ok := w.NextDeadline()
				earliest, some := earliestOf(model)
				if w.Len() != len(model) || ok != some || ok && !deadline.Equal(earliest) {
					t.Fatalf("Len=%d NextDeadline=%v,%v; want %d, %v,%v", w.Len(), deadline, ok, len(model), earliest, some)
				}
			},
		})
	})
}

func earliestOf(model map[int]time.Time) (earliest time.Time, some bool) {
	for _, at := range model {
		if !some || at.Before(earliest) {
			earliest, some = at, true
		}
	}
	return earliest, some
}

// byPriority hands out the largest item first and records touched items.
type byPriority struct {
	items   []int
	touched []int
}

func (o *byPriority) Touch(item int) { o.touched = append(o.touched, item) }
func (o *byPriority) Push(item int)  { o.items = append(o.items, item); slices.Sort(o.items) }
func (o *byPriority) Len() int       { return len(o.items) }
func (o *byPriority) Pop() int {
	item := o.items[len(o.items)-1]
	o.items = o.items[:len(o.items)-1]
	return item
}

func TestCustomOrder(t *testing.T) {
	order := &byPriority{}
	q := NewQueue[int](order)
	for _, item := range []int{1, 3, 2, 3} {
		q.Add(item)
	}
	if got := fmt.Sprint(get(t, q), get(t, q)); got != "3 2" {
		t.Fatalf("handed out %s, want 3 2", got)
	}
	q.Add(3) // being processed: becomes dirty, is not ready
	q.Add(3) // dirty and being processed: not touched
	if got := fmt.Sprint(order.touched); got != "[3]" {
		t.Fatalf("touched %s, want [3]", got)
	}
	order.Push(7) // never added, but handed out anyway
	if got := get(t, q); got != 7 || q.Processing() != 3 {
		t.Fatalf("got %d with %d processing, want 7 with 3", got, q.Processing())
	}
	if q.Done(7) || q.Processing() != 2 {
		t.Fatal("Done of an item from the order requeued it or left it processing")
	}
}

// TestEntriesAreReused: a long-lived queue that always sees new items keeps none of them.
func TestEntriesAreReused(t *testing.T) {
	q := NewQueue[string](nil)
	for i := range 1000 {
		q.Add(fmt.Sprint(i))
		q.Done(get(t, q))
	}
	if len(q.entries) != 1 || len(q.index) != 0 || q.entries[0].item != "" {
		t.Fatalf("%d entries, %d indexed, entry 0 holds %q", len(q.entries), len(q.index), q.entries[0].item)
	}
}

func BenchmarkAddGetDone(b *testing.B) {
	q := NewQueue[int](nil)
	b.ReportAllocs()
	for i := range b.N {
		q.Add(i)
		item, _, _ := q.TryGet()
		q.Done(item)
	}
}

func BenchmarkAddAfterAdvance(b *testing.B) {
	q := NewDelayingQueue[int](nil)
	now := time.Unix(1000, 0)
	b.ReportAllocs()
	for i := range b.N {
		now = now.Add(time.Microsecond)
		q.AddAfter(now, i, time.Duration(i*7919%1000)*time.Microsecond)
		q.Advance(now)
		for q.Len() != 0 {
			item, _, _ := q.TryGet()
			q.Done(item)
		}
	}
}
