package properties_test

import (
	"context"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/kinds"
)

// A whole run of `informersim run --fault-mix default`: the built-in scenario, which is parsed once for all seeds.
func BenchmarkBuiltInRun(b *testing.B) {
	s := scenarios.BuiltIn()
	mix, err := fault.MixNamed("default")
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range kinds.All() {
		b.Run("subject="+kind.Name, func(b *testing.B) {
			b.ReportAllocs()
			var steps uint64
			for n := range b.N {
				res, err := scenarios.Run(context.Background(), s, scenarios.Options{
					Subject: kind, Seed: uint64(n%benchmarkSeeds) + 1, Mix: &mix, Properties: properties.All(),
				})
				if err != nil {
					b.Fatal(err)
				}
				steps += res.Steps
			}
			b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
		})
	}
}
