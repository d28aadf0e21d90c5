package sim

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// hasty makes a run of a program that asks for something after 1 s, and after 5 s is open to a fault for half a second, which breaks it. Without the fault at the
// beginning it ticks meanwhile, every 300 ms, so that other steps come between. It returns the picks, and when it broke, 0 for never.
func hasty(t *testing.T, start func() *Guided) (picks []Pick, broken time.Duration) {
	t.Helper()
	g := start()
	k := NewKernel(Options{Strategy: g, Tape: g, Start: Header{}.Digest()})
	g.Bind(k)
	var file bytes.Buffer
	w, err := NewTraceWriter(k, &file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	k.Observe(w)
	f := &fake{name: "program"}
	id := k.Register(f)
	calm, ended := true, false
	f.apply = func(c Choice) {
		switch c.Kind {
		case kindTestDrop:
			calm = false
		case kindTestStall:
			broken = k.Elapsed()
		}
	}
	k.Offer(id, kindTestDrop, 0)
	k.Offer(id, kindTestAct, 0)
	var tick func()
	tick = func() {
		if calm && !ended {
			k.Offer(id, kindTestAct, 0)
			k.Clock().AfterFunc(300*time.Millisecond, tick)
		}
	}
	k.Clock().AfterFunc(300*time.Millisecond, tick)
	k.Clock().AfterFunc(time.Second, func() { k.Offer(id, kindTestAct, 1) })
	k.Clock().AfterFunc(5*time.Second, func() {
		open := k.Offer(id, kindTestStall, 0)
		k.Clock().AfterFunc(500*time.Millisecond, func() {
			if broken == 0 {
				k.Withdraw(open)
			}
		})
	})
	k.Clock().AfterFunc(10*time.Second, func() { ended = true })
	for k.Step() {
	}
	if err := w.Close("pass", nil); err != nil || k.Err() != nil {
		t.Fatal(err, k.Err())
	}
	r, err := NewTraceReader("t.trace.jsonl", &file)
	if err != nil {
		t.Fatal(err)
	}
	if picks, err = ReadPicks(r); err != nil {
		t.Fatal(err)
	}
	return picks, broken
}

// All picks of a run make it again. Without one of them, the others keep their times, so that the fault still meets what it met.
func TestTimedPicksKeepTheirTimes(t *testing.T) {
	timed := func(picks []Pick) func() *Guided { return func() *Guided { return NewTimed(1, picks) } }
	drop, stall := Pick{Actor: "program", Kind: kindTestDrop}, Pick{Actor: "program", Kind: kindTestStall, At: 5 * time.Second}
	all, broken := hasty(t, timed([]Pick{drop, stall}))
	if broken != 5*time.Second {
		t.Fatalf("the run breaks at %v", broken)
	}
	again, broken := hasty(t, timed(all))
	if broken != 5*time.Second || !slices.EqualFunc(again, all, func(a, b Pick) bool {
		return a.Actor == b.Actor && a.Kind == b.Kind && a.Target == b.Target && a.At == b.At
	}) {
		t.Errorf("made again it breaks at %v, with %v in place of %v", broken, again, all)
	}
	fewer := slices.DeleteFunc(slices.Clone(all), func(p Pick) bool { return p.Kind == kindTestDrop })
	if _, broken = hasty(t, timed(fewer)); broken != 5*time.Second {
		t.Errorf("without the first fault it breaks at %v", broken)
	}
	if _, broken = hasty(t, func() *Guided { return NewGuided(1, fewer) }); broken != 0 {
		t.Errorf("picks in their order only break it at %v, so this test shows nothing", broken)
	}
}

// A fault whose turn comes too early waits, but not for ever.
func TestTimedFaultsWaitForTheirChance(t *testing.T) {
	for at, want := range map[time.Duration]time.Duration{4 * time.Second: 5 * time.Second, 0: 5 * time.Second, 6 * time.Second: 0, -6 * time.Second: 0} {
		_, broken := hasty(t, func() *Guided { return NewTimed(1, []Pick{{Actor: "program", Kind: kindTestStall, At: at}}) })
		if broken != want {
			t.Errorf("a fault for %v comes at %v, want %v", at, broken, want)
		}
	}
}
