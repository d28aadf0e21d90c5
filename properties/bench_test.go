package properties_test

import (
	"context"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/subjects/kinds"
)

// benchmarkSeeds are the seeds of the benchmarks below: as many as a median needs, and few enough to be met several times.
const benchmarkSeeds = 500

// A whole run of `informersim fuzz`: its scenario is made, played and checked with all properties.
func BenchmarkGeneratedRun(b *testing.B) {
	b.Run("only=generate", func(b *testing.B) {
		b.ReportAllocs()
		for n := range b.N {
			if _, err := generate.OfSeed(uint64(n%benchmarkSeeds)+1, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("only=fuzzer", func(b *testing.B) { // without what Go's fuzzer adds
		b.ReportAllocs()
		var steps uint64
		for n := range b.N {
			seed := uint64(n%benchmarkSeeds) + 1
			steps += fuzzed(b, fuzzedBytes(seed), seed, byte(seed)).Steps
		}
		b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
	})
	for _, kind := range kinds.All() {
		b.Run("subject="+kind.Name, func(b *testing.B) {
			b.ReportAllocs()
			var steps uint64
			var virtual time.Duration
			for n := range b.N {
				seed := uint64(n%benchmarkSeeds) + 1
				drawn, err := generate.OfSeed(seed, nil)
				if err != nil {
					b.Fatal(err)
				}
				res, err := scenarios.Run(context.Background(), drawn.Scenario, scenarios.Options{
					Subject: kind, Seed: seed, Strategy: drawn.Strategy, Mix: drawn.Mix, Properties: properties.All(),
				})
				if err != nil {
					b.Fatal(err)
				}
				steps += res.Steps
				virtual += res.Virtual
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
			b.ReportMetric(virtual.Hours()/b.Elapsed().Seconds(), "virtual-h/s")
		})
	}
}

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
