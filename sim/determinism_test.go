package sim

import (
	"fmt"
	"runtime"
	"testing"
)

// Each seed has one hash, whatever GOMAXPROCS is.
func TestSameSeedSameHash(t *testing.T) {
	hash := func(seed uint64) uint64 {
		k, _ := toyWorld(Options{Seed: seed, Strategy: NewRandom(seed, rate(0.05))}, "a", "b", "c")
		run(t, k, 1000)
		return k.Hash()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	seen := map[uint64]uint64{}
	for seed := range uint64(20) {
		want := hash(seed)
		for _, procs := range []int{1, 4} {
			runtime.GOMAXPROCS(procs)
			if got := hash(seed); got != want {
				t.Errorf("seed %d: hash %x, then %x", seed, want, got)
			}
		}
		if other, clash := seen[want]; clash {
			t.Errorf("seeds %d and %d have the same hash", seed, other)
		}
		seen[want] = seed
	}
}

// The negative control: comparing hashes catches an actor that lets map order reach its records, and the trace shows at
// which step and in which record.
func TestNondeterminismIsCaught(t *testing.T) {
	hashes := map[uint64]bool{}
	for range 20 {
		k := NewKernel(Options{Strategy: NewFIFO()})
		set := map[string]bool{}
		for i := range 50 {
			set[fmt.Sprintf("default/%d", i)] = true
		}
		f := &fake{name: "careless"}
		id := k.Register(f)
		f.apply = func(Choice) {
			for key := range set { // Go map order, on purpose
				r := k.Record(id, kindTestHappen)
				r.Key = key
				k.Emit(r)
			}
		}
		k.Offer(id, kindTestAct, 0)
		run(t, k, 1)
		hashes[k.Hash()] = true
	}
	if len(hashes) < 2 {
		t.Error("20 runs that emit 50 records in map order all have the same hash")
	}
}

// One number that differs in one record of a long run changes the hash of that step and of every later one.
func TestOneDifferenceChangesEveryLaterHash(t *testing.T) {
	at := func(twist func(*Record)) []StepInfo {
		k, toys := toyWorld(Options{Seed: 1, Strategy: NewRandom(1, nil)}, "a", "b")
		seen := &recorder{}
		k.Observe(seen)
		toys[0].twist = twist
		run(t, k, 600)
		return seen.steps
	}
	plain := at(nil)
	n := 0
	var step uint64
	twisted := at(func(r *Record) {
		if n++; n == 50 {
			r.N++
			step = r.Step
		}
	})
	for i := range plain {
		if differs := plain[i].Hash != twisted[i].Hash; differs != (plain[i].Step >= step) {
			t.Fatalf("step %d: differs %v, but the difference is in step %d", plain[i].Step, differs, step)
		}
	}
}
