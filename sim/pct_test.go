package sim

import (
	"fmt"
	"testing"
	"time"
)

// relay returns a kernel whose actors make so many steps each, and the order in which they make them.
func relay(s Strategy, actors, steps int) (k *Kernel, order *[]ActorID) {
	k, order = NewKernel(Options{Strategy: s}), new([]ActorID)
	for n := range actors {
		f := &fake{name: fmt.Sprintf("a%d", n)}
		id, left := k.Register(f), steps
		f.apply = func(Choice) {
			*order = append(*order, id)
			if left--; left > 0 {
				k.Offer(id, kindTestAct, 0)
			}
		}
		k.Offer(id, kindTestAct, 0)
	}
	if b, ok := s.(interface{ Bind(*Kernel) }); ok {
		b.Bind(k)
	}
	return k, order
}

// An actor that does nothing until all others have finished is a bug of depth 1: one of n runs has it. Even odds never do.
func TestPCTStarvesAnActor(t *testing.T) {
	const actors, steps, seeds = 4, 40, 400
	starved := func(strategy func(seed uint64) Strategy) int {
		n := 0
		for seed := range uint64(seeds) {
			k, order := relay(strategy(seed), actors, steps)
			for k.Step() {
			}
			first := (*order)[(actors-1)*steps:]
			all := true
			for _, id := range first {
				all = all && id == ActorID(1)
			}
			if all {
				n++
			}
		}
		return n
	}
	if n := starved(func(seed uint64) Strategy { return NewPCT(seed, nil) }); n < seeds/actors/3 || n > seeds/actors*2 {
		t.Errorf("the actor is starved in %d of %d runs of pct, want about one of %d", n, seeds, actors)
	}
	if n := starved(func(seed uint64) Strategy {
		s := NewRandom(seed, nil)
		s.paces.even = true
		return s
	}); n != 0 {
		t.Errorf("even odds starved the actor in %d runs: then the test shows nothing", n)
	}
}

// A change of priorities is needed where an actor must stop in the middle: all of another's steps between two of its own.
func TestPCTChangesPriorities(t *testing.T) {
	const seeds = 2000
	between := 0
	for seed := range uint64(seeds) {
		k, order := relay(NewPCT(seed, nil), 2, 20)
		for k.Step() {
		}
		first := 0
		for first < 40 && (*order)[first] == 1 {
			first++
		}
		if first > 0 && first < 20 && (*order)[first+19] == 2 && (*order)[20+first%20] == 1 {
			between++
		}
	}
	if between < seeds/50 {
		t.Errorf("%d of %d runs have all steps of one actor between two of the other", between, seeds)
	}
}

// Timers that never end starve nobody for ever.
func TestPCTLetsActionsHappenDespiteTimers(t *testing.T) {
	for seed := range uint64(500) {
		k, order := relay(NewPCT(seed, nil), 2, 1)
		k.Clock().NewTicker(time.Second)
		for range pctMaxPatience*(pctMaxChanges+1) + 2 {
			k.Step()
		}
		if len(*order) != 2 {
			t.Fatalf("seed %d: %d of 2 actions happened while time passed %v", seed, len(*order), k.Elapsed())
		}
	}
}

func TestPCTAndPOSHaveFaultsAndConverge(t *testing.T) {
	for name, strategy := range map[string]func(uint64) Strategy{ // order: of subtests
		"pct": func(seed uint64) Strategy { return NewPCT(seed, rate(0.05)) },
		"pos": func(seed uint64) Strategy { return NewPOS(seed, rate(0.05)) },
	} {
		t.Run(name, func(t *testing.T) {
			hashes := map[uint64]bool{}
			for seed := range uint64(50) {
				play := func() *Kernel {
					s := strategy(seed)
					k, _ := toyWorld(Options{Seed: seed, Strategy: s}, "a", "b", "c")
					if b, ok := s.(interface{ Bind(*Kernel) }); ok {
						b.Bind(k)
					}
					run(t, k, 300)
					s.(interface{ StopFaults() }).StopFaults()
					faults, at := k.Faults(), k.Elapsed()
					if run(t, k, 300); k.Faults() != faults || k.Elapsed() != at {
						t.Errorf("seed %d: after StopFaults there are %d faults, and %v pass while something can happen", seed, k.Faults()-faults, k.Elapsed()-at)
					}
					return k
				}
				one, again := play(), play()
				if one.Hash() != again.Hash() {
					t.Errorf("seed %d: two runs differ", seed)
				}
				if one.Faults() == 0 {
					t.Errorf("seed %d: no faults", seed)
				}
				hashes[one.Hash()] = true
			}
			if len(hashes) != 50 {
				t.Errorf("50 seeds make %d runs", len(hashes))
			}
		})
	}
}
