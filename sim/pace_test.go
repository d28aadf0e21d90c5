package sim

import "testing"

// In every phase some actors are slow and others are not, and each takes its turn at both.
func TestPacesMakeActorsSlowForAWhile(t *testing.T) {
	const actors, steps = 4, 100_000
	k := NewKernel(Options{Strategy: NewRandom(unevenSeed(t), nil)})
	var count [actors]int
	var starved, longest [actors]int
	for i := range actors {
		f := &fake{name: string(rune('a' + i))}
		id := k.Register(f)
		f.apply = func(c Choice) {
			count[i]++
			for j := range starved {
				starved[j]++
				longest[j] = max(longest[j], starved[j])
			}
			starved[i] = 0
			k.Offer(id, kindTestAct, 0)
		}
		k.Offer(id, kindTestAct, 0)
	}
	run(t, k, steps)
	for i := range actors {
		if count[i] < steps/actors/4 {
			t.Errorf("actor %d had %d of %d steps: slowness must end", i, count[i], steps)
		}
		// With equal odds a gap of 60 steps occurs once in 30 million.
		if longest[i] < 60 {
			t.Errorf("actor %d never waited longer than %d steps: no actor is slow", i, longest[i])
		}
	}
}

func unevenSeed(t *testing.T) uint64 {
	t.Helper()
	for seed := uint64(1); seed < 100; seed++ {
		if !newPaces(seed).even {
			return seed
		}
	}
	t.Fatal("all of a hundred seeds are even")
	return 0
}

func TestAQuarterOfTheRunsIsEven(t *testing.T) {
	const n = 4000
	even := 0
	for seed := range uint64(n) {
		if newPaces(seed).even {
			even++
		}
	}
	about(t, "an even run", even, n/4)
}

// Something is picked even if every enabled action is slow.
func TestPacesNeverStall(t *testing.T) {
	s := NewRandom(unevenSeed(t), nil)
	k := NewKernel(Options{Strategy: s})
	f := &fake{name: "a"}
	id := k.Register(f)
	f.apply = func(Choice) { k.Offer(id, kindTestAct, 0) }
	k.Offer(id, kindTestAct, 0)
	run(t, k, 10_000)
}

func TestPhases(t *testing.T) {
	p := newPaces(3)
	last, lengths := uint64(0), map[uint64]bool{}
	for step := uint64(1); step < 100_000; step++ {
		before := p.phase
		p.next()
		if p.phase == before {
			continue
		}
		if p.phase != before+1 {
			t.Fatalf("step %d goes from phase %d to %d", step, before, p.phase)
		}
		if length := step - last; before > 0 && (length < 16 || length > 527) {
			t.Errorf("phase %d is %d steps long", before, length)
		} else {
			lengths[length] = true
		}
		last = step
	}
	if len(lengths) < 100 {
		t.Errorf("phases have only %d different lengths", len(lengths))
	}
}
