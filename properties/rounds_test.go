package properties

import "testing"

// Rounds take the same share of all runs, whatever their length.
func TestRounds(t *testing.T) {
	for _, steps := range []uint64{1, 128, 1024, 1500, 40_000} {
		const runs = 1_000_000
		var made uint64
		for seed := range uint64(runs) {
			made += roundsOf(seed, steps)
		}
		want := runs * steps / stepsPerRound
		if made < want*9/10 || made > want*11/10+1 {
			t.Errorf("%d runs of %d steps make %d rounds, want about %d", runs, steps, made, want)
		}
	}
}
