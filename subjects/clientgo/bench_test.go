package clientgo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/clientgo"
)

// bare returns the options of a run on client-go without properties, to measure the engine alone.
func bare(seed uint64) scenarios.Options {
	return scenarios.Options{Subject: clientgo.Kind, Seed: seed, Strategy: "random"}
}

// BenchmarkBubbleStep measures a step, in runs of about 300 steps: an informer, three handlers, writes, ends of watches.
func BenchmarkBubbleStep(b *testing.B) {
	var script strings.Builder
	script.WriteString("resource pods\ninformer i1 pods handlers=h1,h2,h3 resync=30s\n")
	for n := range 38 {
		key := fmt.Sprintf("default/p%d", n%8)
		switch {
		case n < 8:
			fmt.Fprintf(&script, "create pods %s\n", key)
		case n%9 == 0:
			fmt.Fprintf(&script, "fault i1 watch=%s\nadvance 3s\n", []string{"410", "eof"}[n%2])
		default:
			fmt.Fprintf(&script, "update pods %s\n", key)
		}
	}
	s := parse(b, script.String())
	steps := uint64(0)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		res := run(b, s, bare(uint64(n)))
		if !res.Passed() {
			b.Fatal(res.Verdict())
		}
		steps += res.Steps
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/float64(steps), "µs/step")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}

// BenchmarkWorld measures a whole run in which an informer syncs 100 objects.
func BenchmarkWorld(b *testing.B) {
	var script strings.Builder
	script.WriteString("resource pods\n")
	for n := range 100 {
		fmt.Fprintf(&script, "create pods default/p%d\n", n)
	}
	script.WriteString("informer i1 pods handlers=h1\nsettle\nexpect i1 converged synced count=100\n")
	s := parse(b, script.String())
	b.ReportAllocs()
	for b.Loop() {
		o := bare(1)
		o.Strategy = "fifo"
		if res := run(b, s, o); !res.Passed() {
			b.Fatal(res.Verdict())
		}
	}
}
