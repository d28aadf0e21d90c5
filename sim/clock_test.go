package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"
	"pgregory.net/rapid"
)

func TestClockFiresInOrderOfTimeThenOfSetting(t *testing.T) {
	c := NewClock()
	var fired []string
	set := func(name string, d time.Duration) clock.Timer {
		return c.AfterFunc(d, func() { fired = append(fired, fmt.Sprintf("%s@%v", name, c.Elapsed())) })
	}
	set("c", 2*time.Second)
	set("a", time.Second)
	late := set("late", time.Second)
	set("b", time.Second)
	late.Reset(time.Second) // set again, so after b
	set("past", -time.Hour) // due at once

	var steps []int
	for c.canAdvance() {
		c.advance()
		steps = append(steps, len(fired))
	}
	if want := []string{"past@0s", "a@1s", "b@1s", "late@1s", "c@2s"}; !slices.Equal(fired, want) {
		t.Errorf("fired %v, want %v", fired, want)
	}
	if want := []int{1, 4, 5}; !slices.Equal(steps, want) {
		t.Errorf("fired after each advance: %v, want %v: timers of the same instant belong to one step", steps, want)
	}
	if c.Timers() != 0 {
		t.Errorf("%d timers are left", c.Timers())
	}
}

func TestClockCallbackThatArmsItselfDoesNotHoldTheStep(t *testing.T) {
	c := NewClock()
	n := 0
	var timer clock.Timer
	timer = c.AfterFunc(0, func() { n++; timer.Reset(0) })
	c.AfterFunc(0, func() { c.AfterFunc(0, func() { n += 100 }) })
	for want := 1; want <= 3; want++ {
		c.advance()
		if got := n % 100; got != want {
			t.Fatalf("after advance %d the callback ran %d times", want, got)
		}
		if c.Elapsed() != 0 {
			t.Fatalf("time passed: %v", c.Elapsed())
		}
	}
	if n != 103 {
		t.Errorf("the timer set by a callback ran %d times, want once", n/100)
	}
}

func TestClockCallbackMayStopATimerThatIsDue(t *testing.T) {
	c := NewClock()
	var second clock.Timer
	c.AfterFunc(time.Second, func() {
		if !second.Stop() {
			t.Error("Stop returned false for a timer that is due but has not fired")
		}
	})
	second = c.AfterFunc(time.Second, func() { t.Error("a stopped timer fired") })
	c.advance()
}

func TestClockStopAndReset(t *testing.T) {
	c := NewClock()
	n := 0
	f := c.AfterFunc(time.Second, func() { n++ })
	if f.C() != nil {
		t.Error("an AfterFunc timer has a channel")
	}
	if !f.Stop() || f.Stop() {
		t.Error("Stop must return true exactly once")
	}
	if c.canAdvance() {
		t.Error("time may advance with no timer set")
	}
	if f.Reset(time.Second) || !f.Reset(2*time.Second) {
		t.Error("Reset must report whether the timer was set")
	}
	if d, ok := c.NextTimer(); !ok || d != 2*time.Second {
		t.Errorf("NextTimer = %v %v", d, ok)
	}
	c.advance()
	if n != 1 || f.Stop() {
		t.Errorf("fired %d times; Stop of a fired timer must be false", n)
	}

	// Since Go 1.23 no stale time is received after Stop or Reset.
	ch := c.NewTimer(time.Second)
	c.advance()
	if !ch.Reset(time.Second) {
		t.Error("Reset must return true for a timer whose time is unread")
	}
	if got := received(ch.C()); got != "" {
		t.Errorf("received a stale time, %s, after Reset", got)
	}
	c.advance()
	if !ch.Stop() || received(ch.C()) != "" || ch.Stop() {
		t.Error("Stop must take back the unread time, exactly once")
	}
}

// received returns the time in the channel, since Epoch, or "" if it is empty.
func received(ch <-chan time.Time) string {
	select {
	case at := <-ch:
		return at.Sub(Epoch).String()
	default:
		return ""
	}
}

func TestClockTickerDropsUnreadTicks(t *testing.T) {
	c := NewClock()
	ticker := c.NewTicker(time.Second)
	for range 3 {
		c.advance()
	}
	if got := received(ticker.C()); got != "1s" {
		t.Errorf("the first unread tick is %q, want 1s", got)
	}
	if got := received(ticker.C()); got != "" {
		t.Errorf("a second tick, %s, is pending; unread ticks must be dropped", got)
	}
	c.advance()
	if got := received(ticker.C()); got != "4s" {
		t.Errorf("the next tick is %q, want 4s: tickers do not drift", got)
	}
	c.advance()
	ticker.Stop()
	if c.Timers() != 0 || received(ticker.C()) != "" {
		t.Error("a stopped ticker ticks")
	}
	if c.Tick(0) != nil || c.Tick(time.Second) == nil {
		t.Error("Tick must return nil exactly for intervals that are not positive")
	}
	mustPanic(t, "positive interval, got -1s", func() { c.NewTicker(-time.Second) })
}

func TestClockLimits(t *testing.T) {
	c := NewClock()
	c.AfterFunc(10*time.Second, func() {})
	c.LimitTo(4 * time.Second)
	if c.AtLimit() || !c.canAdvance() {
		t.Error("time may pass until the limit")
	}
	c.advance()
	if c.Elapsed() != 4*time.Second || !c.AtLimit() || c.canAdvance() || c.Timers() != 1 {
		t.Errorf("at the limit: %v, atLimit %v, canAdvance %v, %d timers", c.Elapsed(), c.AtLimit(), c.canAdvance(), c.Timers())
	}
	c.LimitTo(6 * time.Second)
	c.advance()
	if c.Elapsed() != 10*time.Second || c.Timers() != 0 {
		t.Errorf("a timer at the limit itself fires: at %v, %d timers", c.Elapsed(), c.Timers())
	}
	c.LimitTo(-time.Second)
	if c.canAdvance() {
		t.Error("a negative limit must not move time")
	}

	c.Freeze()
	later := c.AfterFunc(time.Second, func() {})
	if c.canAdvance() {
		t.Error("a frozen clock may advance to a later timer")
	}
	now := c.AfterFunc(0, func() {})
	if !c.canAdvance() {
		t.Error("a frozen clock must fire what is due now")
	}
	c.advance()
	if c.Elapsed() != 10*time.Second || now.Stop() || !later.Stop() {
		t.Error("a frozen clock fires what is due, and no more")
	}
	c.Unfreeze()
	if c.canAdvance() || c.AtLimit() {
		t.Error("without limit and timers there is nowhere to advance to, and no limit to be at")
	}
}

func TestClockFarFuture(t *testing.T) {
	c := NewClock()
	c.AfterFunc(time.Second, func() {})
	c.advance()
	c.LimitTo(math.MaxInt64)
	if c.AtLimit() {
		t.Error("a limit that overflows must lie in the future")
	}
	c.Unfreeze()
	c.AfterFunc(math.MaxInt64, func() {})
	if d, ok := c.NextTimer(); !ok || d <= 0 {
		t.Errorf("a timer that overflows is due in %v", d)
	}
	c.advance()
	c.AfterFunc(time.Hour, func() {})
	c.advance()
	if c.Now().Before(Epoch) {
		t.Errorf("time overflowed: %v", c.Now())
	}
}

func TestClockReadings(t *testing.T) {
	c := NewClock()
	if !c.Now().Equal(Epoch) || c.Now().Location() != time.UTC {
		t.Errorf("a clock starts at %v", c.Now())
	}
	ch := c.After(90 * time.Second)
	c.advance()
	if got := received(ch); got != "1m30s" {
		t.Errorf("After's channel received %q", got)
	}
	if got := c.Since(Epoch.Add(time.Minute)); got != 30*time.Second {
		t.Errorf("Since = %v", got)
	}
	mustPanic(t, "sim: Clock.Sleep(1s): a step must not block; set a timer with AfterFunc", func() { c.Sleep(time.Second) })
}

// Timers, however they are set, stopped and reset, fire at the times and in the order that a plain list gives.
func TestClockAgainstAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			id, at, seq int
		}
		c := NewClock()
		var model []entry
		var timers []clock.Timer
		var fired, want []int
		seq := 0
		set := func(id, in int) {
			seq++
			model = slices.DeleteFunc(model, func(e entry) bool { return e.id == id })
			model = append(model, entry{id, int(c.Elapsed()) + in, seq})
		}
		isSet := func(id int) bool { return slices.ContainsFunc(model, func(e entry) bool { return e.id == id }) }
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				id, in := len(timers), rapid.IntRange(0, 5).Draw(t, "in")
				timers = append(timers, c.AfterFunc(time.Duration(in), func() { fired = append(fired, id) }))
				set(id, in)
			},
			"reset": func(t *rapid.T) {
				if len(timers) == 0 {
					t.Skip("no timer")
				}
				id, in := rapid.IntRange(0, len(timers)-1).Draw(t, "id"), rapid.IntRange(0, 5).Draw(t, "in")
				if was := isSet(id); timers[id].Reset(time.Duration(in)) != was {
					t.Fatalf("Reset(%d) = %v", id, !was)
				}
				set(id, in)
			},
			"stop": func(t *rapid.T) {
				if len(timers) == 0 {
					t.Skip("no timer")
				}
				id := rapid.IntRange(0, len(timers)-1).Draw(t, "id")
				if was := isSet(id); timers[id].Stop() != was {
					t.Fatalf("Stop(%d) = %v", id, !was)
				}
				model = slices.DeleteFunc(model, func(e entry) bool { return e.id == id })
			},
			"advance": func(t *rapid.T) {
				if c.canAdvance() != (len(model) > 0) {
					t.Fatalf("canAdvance = %v with %d timers", c.canAdvance(), len(model))
				}
				if len(model) == 0 {
					t.Skip("no timer")
				}
				slices.SortFunc(model, func(a, b entry) int {
					if a.at != b.at {
						return a.at - b.at
					}
					return a.seq - b.seq
				})
				at := model[0].at
				for len(model) > 0 && model[0].at == at {
					want, model = append(want, model[0].id), model[1:]
				}
				c.advance()
				if int(c.Elapsed()) != at || !slices.Equal(fired, want) {
					t.Fatalf("at %d fired %v, want at %d %v", c.Elapsed(), fired, at, want)
				}
			},
		})
	})
}
