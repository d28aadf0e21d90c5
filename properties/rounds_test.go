package properties

import "testing"

// Rounds take the same share of all runs, until there are as many as may be.
func TestRounds(t *testing.T) {
	for _, from := range []uint64{0, 128, 1024, 1500, 3000} {
		const runs = 4096
		var steps, made uint64
		for n := from; n < from+runs; n++ {
			steps += n
			made += rounds(n, 1<<30)
		}
		if want := steps / stepsPerRound; made < want*19/20 || made > want*21/20 {
			t.Errorf("%d runs of %d steps and more make %d rounds, want about %d", runs, from, made, want)
		}
	}
	if n := rounds(1<<20, 4); n != 4 {
		t.Errorf("a long run makes %d rounds, want no more than 4", n)
	}
	if a, b := rounds(700, 4), rounds(700, 4); a != b {
		t.Errorf("a run of 700 steps makes %d rounds, and then %d", a, b)
	}
}
