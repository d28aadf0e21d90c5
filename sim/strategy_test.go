package sim

import (
	"math"
	"slices"
	"testing"
	"time"
)

// picks takes the given number of steps and returns the choices picked.
func picks(t *testing.T, k *Kernel, steps int) []Choice {
	t.Helper()
	seen := &recorder{}
	k.Observe(seen)
	run(t, k, steps)
	var cs []Choice
	for _, s := range seen.steps {
		cs = append(cs, s.Choice)
	}
	return cs
}

func TestFIFOPicksTheOldestActionAndScriptsFirst(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	a := k.Register(&fake{name: "a"})
	b := k.Register(&fake{name: "b"})
	k.Offer(b, kindTestDrop, 0)
	second := k.Offer(b, kindTestAct, 0)
	third := k.Offer(a, kindTestAct, 0)
	k.Offer(a, kindTestStall, 0)
	first := k.Offer(b, kindTestLine, 0)
	k.Clock().AfterFunc(time.Second, func() {})
	fourth := k.Ready().Advance
	if got, want := picks(t, k, 4), []Choice{first, second, third, fourth}; !slices.Equal(got, want) {
		t.Errorf("picked %v, want %v", got, want)
	}
	if k.Step() || k.Err() != nil || k.Faults() != 0 {
		t.Errorf("fifo must pick none of the faults that are left: step %d, err %v", k.Steps(), k.Err())
	}
	if len(k.Ready().Faults) != 2 {
		t.Error("the faults must still be enabled")
	}
}

func TestFIFONeverPicksAFault(t *testing.T) {
	k, _ := toyWorld(Options{Seed: 1, Strategy: NewFIFO()}, "a", "b")
	enabled := 0
	for range 5000 {
		enabled += len(k.Ready().Faults)
		run(t, k, 1)
	}
	if k.Faults() != 0 || enabled == 0 {
		t.Errorf("%d faults were picked, %d were enabled", k.Faults(), enabled)
	}
}

func TestRandomWithoutActions(t *testing.T) {
	k := NewKernel(Options{Strategy: NewRandom(1, rate(0))})
	id := k.Register(&fake{name: "a"})
	k.Offer(id, kindTestDrop, 0)
	if k.Step() || k.Err() != nil {
		t.Errorf("want no step and no error: err %v", k.Err())
	}
	k.Clock().AfterFunc(time.Second, func() {})
	run(t, k, 1)
	if k.Elapsed() != time.Second {
		t.Error("with nothing else to do, time must pass")
	}
}

func TestRandomIsUniformAndLetsTimePassEarly(t *testing.T) {
	const n, actions = 100000, 5
	strategy := NewRandom(1, nil)
	strategy.paces.even = true
	const earlyAdvance = 1.0 / (1<<evenPace*actions + 1)
	k := NewKernel(Options{Strategy: strategy})
	f := &fake{name: "a"}
	id := k.Register(f)
	var count [actions]int
	f.apply = func(c Choice) { count[c.Target]++; k.Offer(id, kindTestAct, c.Target) }
	for i := range actions {
		k.Offer(id, kindTestAct, uint32(i))
	}
	k.Clock().NewTicker(time.Second)
	run(t, k, n)
	sum := 0
	for i, c := range count {
		sum += c
		if want := n * (1 - earlyAdvance) / actions; math.Abs(float64(c)-want) > 5*math.Sqrt(want) {
			t.Errorf("action %d was picked %d times, want about %.0f", i, c, want)
		}
	}
	if early, want := float64(n-sum), n*earlyAdvance; math.Abs(early-want) > 5*math.Sqrt(want) {
		t.Errorf("time passed early %.0f times, want about %.0f", early, want)
	}
}

func TestRandomFaultRates(t *testing.T) {
	const n = 200000
	for _, test := range []struct {
		drop, stall float64
		faults      int // enabled, half of each kind
	}{
		{0.01, 0, 2}, {0.01, 0.05, 2}, {0.01, 0.05, 40}, {1, 0, 6}, {0, 1, 6}, {1e-9, 0, 2}, {math.NaN(), -1, 2}, {2, 0, 2},
	} {
		s := NewRandom(11, func(kind Kind) float64 {
			switch kind {
			case kindTestDrop:
				return test.drop
			case kindTestStall:
				return test.stall
			}
			t.Errorf("asked for the rate of %s", kind)
			return 0
		})
		k := newChurn(s, 3, test.faults)
		count := map[Kind]int{}
		targets := map[uint32]int{}
		for _, c := range picks(t, k, n) {
			count[c.Kind]++
			if c.Kind.Class() == ClassFault {
				targets[c.Target]++
			}
		}
		// Kinds get their chance one after another, drop before stall, and at most one fault happens in a step.
		drop := clamp(test.drop)
		about(t, "drop", count[kindTestDrop], n*drop)
		about(t, "stall", count[kindTestStall], n*(1-drop)*clamp(test.stall))
		if got := count[kindTestDrop] + count[kindTestStall]; uint64(got) != k.Faults() {
			t.Errorf("%d faults are counted, %d happened", k.Faults(), got)
		}
		// Faults of one kind are equally likely.
		for target, c := range targets {
			kind := []Kind{kindTestDrop, kindTestStall}[target%2]
			about(t, "one target's "+kind.String(), c, float64(count[kind])/float64(test.faults/2))
		}
	}
}

// clamp returns the rate that faultDice uses for p.
func clamp(p float64) float64 {
	switch {
	case p >= 1:
		return 1
	case p > 0:
		return max(1, math.Floor(p*(1<<16))) / (1 << 16)
	}
	return 0
}

func about(t *testing.T, what string, got int, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 5*math.Sqrt(want) {
		t.Errorf("%s happened %d times, want about %.0f", what, got, want)
	}
}

func TestStopFaults(t *testing.T) {
	s := NewRandom(1, rate(0.5))
	k := newChurn(s, 2, 4)
	run(t, k, 100)
	before := k.Faults()
	if before == 0 {
		t.Fatal("no fault happened")
	}
	s.StopFaults()
	run(t, k, 100)
	if k.Faults() != before {
		t.Errorf("%d faults happened after StopFaults", k.Faults()-before)
	}
}

// The schedule draws from its own stream: which faults are enabled, and whether they happen, changes when an action is
// picked, not which is picked next.
func TestRandomStreamsAreSplit(t *testing.T) {
	actions := func(faults int, stall float64) (cs []uint32, happened uint64) {
		s := NewRandom(42, func(kind Kind) float64 {
			if kind == kindTestStall {
				return stall
			}
			return 0.02
		})
		k := newChurn(s, 9, faults)
		for _, c := range picks(t, k, 3000) {
			if c.Kind == kindTestAct {
				cs = append(cs, c.Target)
			}
		}
		return cs, k.Faults()
	}
	// All three roll the same dice of kind drop.
	none, _ := actions(0, 0)
	drops, some := actions(1, 0)
	both, more := actions(2, 0.3)
	if some == 0 || more <= some {
		t.Fatalf("%d and %d faults happened: the test does not exercise the difference", some, more)
	}
	// Applying a fault offers it again, with another sequence, but the actions keep their order among themselves.
	if !slices.Equal(drops, none[:len(drops)]) {
		t.Error("the faults of one kind shifted the schedule")
	}
	if !slices.Equal(both, none[:len(both)]) {
		t.Error("the faults of two kinds shifted the schedule")
	}
}

// Faults of one kind happen at the same opportunities, regardless of other kinds.
func TestRandomFaultStreamsAreSplit(t *testing.T) {
	rolls := func(others ...Kind) (hits []bool) {
		s := NewRandom(42, rate(0.1))
		for range 2000 {
			for _, o := range others {
				s.of(o).roll()
			}
			hits = append(hits, s.of(kindTestStall).roll())
		}
		return hits
	}
	alone := rolls()
	if !slices.Contains(alone, true) {
		t.Fatal("no fault happened: the test does not exercise them")
	}
	if !slices.Equal(rolls(kindTestDrop), alone) {
		t.Error("the dice of one kind shifted those of another")
	}
}

func TestRandomSameSeedSamePicks(t *testing.T) {
	of := func(seed uint64) []Choice {
		k, _ := toyWorld(Options{Seed: seed, Strategy: NewRandom(seed, rate(0.05))}, "a", "b", "c")
		return picks(t, k, 2000)
	}
	if !slices.Equal(of(1), of(1)) {
		t.Error("the same seed gave two different runs")
	}
	if slices.Equal(of(1), of(2)) {
		t.Error("two seeds gave the same run")
	}
}

func TestNamesOfStrategies(t *testing.T) {
	for want, s := range map[string]Strategy{"fifo": NewFIFO(), "random": NewRandom(1, nil), "replay": NewReplay(nil)} {
		if s.Name() != want {
			t.Errorf("Name() = %q, want %q", s.Name(), want)
		}
	}
}

// An action may be as old as the backlog it belongs to: the second event of a backlog is older than whatever came after the
// backlog.
func TestOfferSinceKeepsItsAge(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	f := &fake{name: "backlog"}
	id := k.Register(f)
	since := k.NextStamp()
	f.apply = func(c Choice) {
		if c.Target > 0 {
			k.OfferSince(id, kindTestAct, c.Target-1, since)
		}
	}
	head := k.Offer(id, kindTestAct, 2)
	if got := k.Ready().Actions[0].Stamp; got != since {
		t.Fatalf("NextStamp = %d, but the next offer has stamp %d", since, got)
	}
	other := k.Register(&fake{name: "other"})
	later := k.Offer(other, kindTestAct, 0)
	got := picks(t, k, 4)
	if len(got) != 4 || got[0] != head || got[1].Actor != id || got[2].Actor != id || got[3] != later {
		t.Errorf("picked %v, want the backlog first", got)
	}

	k.OfferSince(id, kindTestAct, 0, 1<<60)
	if next, o := k.NextStamp(), k.Ready().Actions[0]; o.Stamp >= next {
		t.Errorf("an offer has stamp %d from the future, the next is %d", o.Stamp, next)
	}
	mustPanic(t, `"test-drop" is offered with an age, but only actions have one`, func() { k.OfferSince(id, kindTestDrop, 0, 1) })
	mustPanic(t, `"test-line" is offered with an age, but only actions have one`, func() { k.OfferSince(id, kindTestLine, 0, 1) })
}
