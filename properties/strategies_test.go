package properties_test

import (
	"slices"
	"testing"

	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/stack"
)

// mutantNamed returns the mutant of that name.
func mutantNamed(t *testing.T, name string) mutants.Mutant {
	t.Helper()
	all := mutants.All()
	n := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
	if n < 0 {
		t.Fatalf("there is no mutant %q", name)
	}
	return all[n]
}

// A portfolio's seeds are those of its strategies.
func TestPortfolio(t *testing.T) {
	for seed := uint64(1); seed <= 8; seed++ {
		one := checked(t, scenarios.BuiltIn(), stack.Kind, seed, scenarios.Portfolio, "storm")
		other := checked(t, scenarios.BuiltIn(), stack.Kind, seed, scenarios.StrategyOfSeed(seed), "storm")
		if one.Hash != other.Hash || one.Strategy != scenarios.StrategyOfSeed(seed) {
			t.Errorf("seed %d: strategy %s, %016x and %016x", seed, one.Strategy, one.Hash, other.Hash)
		}
	}
}

// Every strategy that draws schedules finds a defect of an order, and its run replays and can be followed.
func TestStrategiesFindAMutant(t *testing.T) {
	m := mutantNamed(t, "replace-forgets-queue-only-keys")
	s, err := scenarios.Parse("gap.sim", []byte(gap))
	if err != nil {
		t.Fatal(err)
	}
	for _, strategy := range []string{"random", "pct", "pos"} {
		t.Run(strategy, func(t *testing.T) {
			var search []attempt
			for seed := uint64(1); seed <= 100; seed++ {
				search = append(search, attempt{s, seed, strategy, ""})
			}
			a, tries, res := find(t, m, slices.Values(search))
			t.Logf("found after %d runs (%s)", tries, a)
			replayed(t, m, a, res)
		})
	}
}
