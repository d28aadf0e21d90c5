package differential_test

import (
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/clientgo"
)

// All runs of a seed are the same, even with workers' goroutines, and client-go breaks no property.
func TestClientGoRepeats(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	mix, err := fault.MixNamed("default")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 50; seed++ {
		s := generated(t, seed)
		var first *scenarios.Result
		for range 3 {
			res, err := scenarios.Run(t.Context(), s, scenarios.Options{
				Subject: clientgo.Kind, Seed: seed, Strategy: "random", Mix: &mix, Properties: properties.All(),
			})
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, s.Text())
			}
			if res.Violation != nil {
				t.Fatalf("seed %d: %v\n%s", seed, res.Violation, s.Text())
			}
			if first == nil {
				first = res
			}
			if res.Hash != first.Hash || res.Steps != first.Steps {
				t.Fatalf("seed %d: a run of %d steps with hash %x and one of %d with %x\n%s", seed, first.Steps, first.Hash, res.Steps, res.Hash, s.Text())
			}
		}
	}
}
