package sim

import (
	"math"
	"slices"
	"testing"
)

// The numbers of a stream are part of the meaning of a seed: they must not change between versions or machines.
func TestStreamIsThatOfItsSeedAndName(t *testing.T) {
	take := func(s *Stream) []uint64 {
		var v []uint64
		for range 3 {
			v = append(v, s.Uint64())
		}
		return v
	}
	golden := []uint64{0xddf316c74b1271cd, 0x6c88acb8c2989231, 0xea565ee307bf4986}
	if got := take(NewStream(1, "schedule")); !slices.Equal(got, golden) {
		t.Errorf("stream (1, schedule) = %#x, want %#x", got, golden)
	}
	if slices.Equal(take(NewStream(2, "schedule")), golden) || slices.Equal(take(NewStream(1, "backoff")), golden) {
		t.Error("another seed or another name must give different numbers")
	}
}

func TestRecordedStreamsAreSplitAndRecorded(t *testing.T) {
	// Extra draws from one stream must not shift the other's numbers.
	other := func(more int) (numbers, draws []uint64) {
		k := NewKernel(Options{Seed: 3, Strategy: NewFIFO()})
		seen := &recorder{}
		k.Observe(seen)
		a, b := k.Stream("a"), k.Stream("b")
		id := k.Register(&fake{name: "x", apply: func(Choice) {
			for range more {
				a.Uint64()
			}
			numbers = append(numbers, b.Uint64())
		}})
		for range 3 {
			k.Offer(id, kindTestAct, 0)
		}
		run(t, k, 3)
		for _, s := range seen.steps {
			draws = append(draws, s.Draws...)
		}
		return numbers, draws
	}
	alone, draws := other(0)
	if !slices.Equal(draws, alone) {
		t.Errorf("recorded draws %x, want %x", draws, alone)
	}
	beside, draws := other(5)
	if !slices.Equal(beside, alone) {
		t.Errorf("got %x, but %x without the other stream's draws", beside, alone)
	}
	if len(draws) != 18 {
		t.Errorf("%d draws are recorded, want 18", len(draws))
	}
}

func TestStreamNumbersAreInRange(t *testing.T) {
	s := NewStream(1, "range")
	var count [7]int
	chance := 0
	const n = 70000
	for range n {
		i := s.IntN(len(count))
		if i < 0 || i >= len(count) {
			t.Fatalf("IntN(7) = %d", i)
		}
		count[i]++
		if f := s.Float64(); f < 0 || f >= 1 {
			t.Fatalf("Float64() = %v", f)
		}
		if s.Chance(0.25) {
			chance++
		}
		if s.Chance(0) || !s.Chance(1) {
			t.Fatal("Chance(0) must be false and Chance(1) true")
		}
	}
	for i, c := range count {
		if math.Abs(float64(c)-n/7) > 5*math.Sqrt(n/7) {
			t.Errorf("IntN(7) was %d %d times in %d", i, c, n)
		}
	}
	if math.Abs(float64(chance)-n/4) > 5*math.Sqrt(n*3/16) {
		t.Errorf("Chance(0.25) was true %d times in %d", chance, n)
	}
	for range 100 {
		if v := s.IntN(math.MaxInt); v < 0 {
			t.Fatalf("IntN(MaxInt) = %d", v)
		}
	}
	mustPanic(t, "IntN needs a positive number", func() { s.IntN(0) })
}
