package sim

import (
	"container/heap"
	"fmt"
	"math"
	"time"

	"k8s.io/utils/clock"
)

// Epoch is the virtual time at which every run starts. A testing/synctest bubble starts at the same instant, so that the
// timestamps of both engines agree.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Clock is virtual time. It moves only when the kernel applies the choice "advance", to the next timer or to the limit,
// whichever comes first. Timers due at the same instant fire in the order in which they were set.
//
// It implements clock.WithTickerAndDelayedExecution, so components written for Kubernetes' clocks run on it.
type Clock struct {
	epoch  time.Time
	now    int64 // nanoseconds since epoch
	limit  int64 // time must not pass this instant; noLimit for none
	seq    uint64
	timers timerHeap
	share  func(d time.Duration) time.Duration
}

const noLimit = math.MaxInt64

var _ clock.WithTickerAndDelayedExecution = (*Clock)(nil)

// NewClock returns a clock at Epoch without a limit.
func NewClock() *Clock { return &Clock{epoch: Epoch, limit: noLimit} }

// StartAt makes the clock show t at the start of the run instead of Epoch: for a server that people look at, whose objects
// should not date from 2000. It affects a run only where the run looks at the date.
func (c *Clock) StartAt(t time.Time) { c.epoch = t.UTC() }

// Now returns the current virtual time.
func (c *Clock) Now() time.Time { return c.epoch.Add(time.Duration(c.now)) }

// Elapsed returns the virtual time since the start of the run.
func (c *Clock) Elapsed() time.Duration { return time.Duration(c.now) }

// Since returns the virtual time since t.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Freeze stops time.
func (c *Clock) Freeze() { c.limit = c.now }

// Unfreeze lets time pass without limit.
func (c *Clock) Unfreeze() { c.limit = noLimit }

// LimitTo lets at most d pass from now.
func (c *Clock) LimitTo(d time.Duration) { c.limit = c.in(d) }

// in returns the instant d from now, or one that no run can reach if the sum overflows.
func (c *Clock) in(d time.Duration) int64 {
	if when := c.now + int64(max(d, 0)); when >= c.now {
		return min(when, noLimit-1)
	}
	return noLimit - 1
}

// MaxShared bounds how far one advance moves a shared clock.
const MaxShared = time.Minute

// Share couples the clock to another one, that of goroutines whose timers this clock does not know. Every advance that would
// move time calls pass with the time to the next timer, to the limit, or MaxShared, whichever is least; pass lets up to that
// much time pass on the other clock and returns how much did: less if something happened earlier. From then on time can be
// advanced whenever the limit allows, since there may always be a timer that this clock does not know.
func (c *Clock) Share(pass func(d time.Duration) time.Duration) { c.share = pass }

// AtLimit reports whether time has reached the limit set by LimitTo or Freeze.
func (c *Clock) AtLimit() bool { return c.now >= c.limit }

// NextTimer returns the time until the next timer; ok is false if none is set.
func (c *Clock) NextTimer() (d time.Duration, ok bool) {
	if len(c.timers) == 0 {
		return 0, false
	}
	return time.Duration(c.timers[0].when - c.now), true
}

// Timers returns the number of timers that are set.
func (c *Clock) Timers() int { return len(c.timers) }

func (c *Clock) canAdvance() bool {
	if c.limit != noLimit {
		return c.now < c.limit || (len(c.timers) > 0 && c.timers[0].when <= c.limit)
	}
	return len(c.timers) > 0 || c.share != nil
}

// advance moves to the next timer or the limit and fires the timers that are due.
func (c *Clock) advance() {
	to := c.limit
	if len(c.timers) > 0 && c.timers[0].when <= to {
		to = c.timers[0].when
	}
	if to > c.now {
		if c.share != nil {
			d := min(time.Duration(to-c.now), MaxShared)
			to = c.now + int64(min(max(c.share(d), 0), d))
		}
		c.now = to
	}
	// Timers that callbacks set for this same instant wait for the next advance: a callback that re-arms itself at once
	// must not trap the kernel inside one step.
	last := c.seq
	for len(c.timers) > 0 && c.timers[0].when <= c.now && c.timers[0].seq <= last {
		t := c.timers[0]
		heap.Pop(&c.timers)
		t.fire()
	}
}

// AfterFunc runs f once d has passed, inside the step that advances time.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	t := &timer{clock: c, f: f, index: -1}
	t.set(d)
	return t
}

// NewTimer returns a timer whose channel receives the time once d has passed.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	t := &timer{clock: c, ch: make(chan time.Time, 1), index: -1}
	t.set(d)
	return t
}

// NewTicker returns a ticker; like time.NewTicker it panics if d is not positive and drops unread ticks.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker {
	if d <= 0 {
		panic(fmt.Sprintf("sim: NewTicker needs a positive interval, got %v", d))
	}
	t := &timer{clock: c, ch: make(chan time.Time, 1), period: d, index: -1}
	t.set(d)
	return ticker{t}
}

// After returns NewTimer(d).C().
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

// Tick returns NewTicker(d).C(), or nil if d is not positive.
func (c *Clock) Tick(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return c.NewTicker(d).C()
}

// Sleep panics: a step must not block. Use AfterFunc and continue in the callback.
func (c *Clock) Sleep(d time.Duration) {
	panic(fmt.Sprintf("sim: Clock.Sleep(%v): a step must not block; set a timer with AfterFunc and continue when it fires", d))
}

type timer struct {
	clock  *Clock
	when   int64
	seq    uint64
	period time.Duration
	f      func()
	ch     chan time.Time
	index  int // in the heap; -1 when not set
}

func (t *timer) set(d time.Duration) {
	c := t.clock
	c.seq++
	t.when, t.seq = c.in(d), c.seq
	heap.Push(&c.timers, t)
}

func (t *timer) fire() {
	if t.period > 0 {
		t.set(t.period)
	}
	if t.f != nil {
		t.f()
		return
	}
	select {
	case t.ch <- t.clock.Now():
	default:
	}
}

// C returns the timer's channel; nil for AfterFunc timers.
func (t *timer) C() <-chan time.Time { return t.ch }

// Stop stops the timer and reports whether it was set. As with the time package's timers since Go 1.23, an unread time is
// removed from the channel, and the timer then counts as set.
func (t *timer) Stop() bool {
	was := t.index >= 0
	if was {
		heap.Remove(&t.clock.timers, t.index)
	}
	select {
	case <-t.ch: // never ready for AfterFunc timers, which have no channel
		was = true
	default:
	}
	return was
}

// Reset sets the timer to d from now and reports whether it was set before. It treats the channel as Stop does.
func (t *timer) Reset(d time.Duration) bool {
	was := t.Stop()
	t.set(d)
	return was
}

type ticker struct{ t *timer }

func (t ticker) C() <-chan time.Time { return t.t.ch }
func (t ticker) Stop()               { t.t.Stop() }

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].when != h[j].when {
		return h[i].when < h[j].when
	}
	return h[i].seq < h[j].seq
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
