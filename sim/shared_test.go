package sim

import (
	"testing"
	"time"
)

// otherClock is the clock of goroutines: something may happen there before the requested time has passed.
type otherClock struct {
	asked  []time.Duration
	events []time.Duration // from the start
	now    time.Duration
}

func (o *otherClock) pass(d time.Duration) time.Duration {
	o.asked = append(o.asked, d)
	if len(o.events) > 0 && o.events[0] <= o.now+d {
		d, o.events = o.events[0]-o.now, o.events[1:]
	}
	o.now += d
	return d
}

func TestSharedClockStopsWhereTheOtherDoes(t *testing.T) {
	c := NewClock()
	o := &otherClock{events: []time.Duration{3 * time.Second}}
	c.Share(o.pass)
	var fired time.Duration
	c.AfterFunc(10*time.Second, func() { fired = c.Elapsed() })

	c.LimitTo(20 * time.Second)
	var stops []time.Duration
	for c.canAdvance() {
		c.advance()
		stops = append(stops, c.Elapsed())
		if c.Elapsed() != o.now {
			t.Fatalf("the clock is at %v, the other at %v", c.Elapsed(), o.now)
		}
	}
	want := []time.Duration{3 * time.Second, 10 * time.Second, 20 * time.Second}
	if len(stops) != 3 || stops[0] != want[0] || stops[1] != want[1] || stops[2] != want[2] {
		t.Errorf("stops at %v, want %v", stops, want)
	}
	if fired != 10*time.Second {
		t.Errorf("the timer fired at %v", fired)
	}
}

func TestSharedClockAdvancesWithoutTimersAndNeverFar(t *testing.T) {
	c := NewClock()
	o := &otherClock{}
	if c.canAdvance() {
		t.Fatal("a clock without timers can be advanced")
	}
	c.Share(o.pass)
	if !c.canAdvance() {
		t.Fatal("a shared clock without timers cannot be advanced, but the other clock may have timers")
	}
	c.advance()
	if c.Elapsed() != MaxShared || o.now != MaxShared {
		t.Errorf("one advance went to %v, the other clock to %v, want %v", c.Elapsed(), o.now, MaxShared)
	}
	c.Freeze()
	if c.canAdvance() {
		t.Error("a frozen clock can be advanced because it is shared")
	}
}

// A record emitted after the choice was applied belongs to the same step.
func TestOnAppliedBelongsToTheStep(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	f := &fake{name: "a"}
	id := k.Register(f)
	f.apply = func(Choice) {}
	k.Offer(id, kindTestAct, 0)
	var steps []uint64
	k.OnApplied(func() {
		r := k.Record(id, kindTestHappen)
		steps = append(steps, r.Step)
		k.Emit(r)
	})
	before := k.Hash()
	if !k.Step() || len(steps) != 1 || steps[0] != 1 {
		t.Fatalf("called in steps %v, want once, in step 1", steps)
	}
	with := k.Hash()
	if with == before {
		t.Error("the step did not change the hash")
	}

	plain := NewKernel(Options{Strategy: NewFIFO()})
	g := &fake{name: "a", apply: func(Choice) {}}
	plain.Offer(plain.Register(g), kindTestAct, 0)
	plain.Step()
	if plain.Hash() == with {
		t.Error("the record emitted after the choice was applied is not in the hash")
	}
}
