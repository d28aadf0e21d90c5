package sim

import "testing"

// An action that nothing races with keeps its priority, so among the n actions of another actor it has each place equally often; even
// odds would have it behind all of them in one of 2^n runs. If each of those actions touches it, each is a new race.
func TestPOSDrawsAgainOnlyForRaces(t *testing.T) {
	const n, seeds = 10, 3000
	last := func(touches bool) int {
		count := 0
		for seed := range uint64(seeds) {
			s := NewPOS(seed, nil)
			k := NewKernel(Options{Strategy: s})
			s.Bind(k)
			lone, many := &fake{name: "lone"}, &fake{name: "many"}
			loneID, manyID := k.Register(lone), k.Register(many)
			left, done := n, false
			lone.apply = func(Choice) { done = true }
			many.apply = func(Choice) {
				if left--; left > 0 {
					k.Offer(manyID, kindTestAct, 0)
				} else if !done {
					count++
				}
				if touches {
					k.Emit(k.Record(loneID, kindTestHappen))
				}
			}
			k.Offer(loneID, kindTestAct, 0)
			k.Offer(manyID, kindTestAct, 0)
			for k.Step() {
			}
		}
		return count
	}
	if got, want := last(false), seeds/(n+1); got < want*3/4 || got > want*5/4 {
		t.Errorf("without races the action is last in %d runs of %d, want about %d", got, seeds, want)
	}
	if got := last(true); got > seeds/(1<<n)*4+8 {
		t.Errorf("with races the action is last in %d runs of %d, want about %d", got, seeds, seeds>>n)
	}
}

// Choices that are withdrawn and offered again leave nothing behind.
func TestPOSFollowsTheReadySet(t *testing.T) {
	s := NewPOS(1, nil)
	k, _ := toyWorld(Options{Seed: 1, Strategy: s}, "a", "b")
	s.Bind(k)
	for range 2000 {
		run(t, k, 1)
		if len(s.waiting) > 64 {
			t.Fatalf("%d choices have priorities", len(s.waiting))
		}
	}
}
