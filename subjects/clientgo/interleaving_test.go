package clientgo_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/clientgo"
)

// interleaved makes the run of a seed as fuzz does, interleaved or not, and returns its trace.
func interleaved(t *testing.T, seed uint64, how scenarios.Interleaving) (*scenarios.Result, []byte) {
	t.Helper()
	r, err := generate.OfSeed(seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	res := run(t, r.Scenario, scenarios.Options{
		Subject: clientgo.Kind, Seed: seed, Strategy: r.Strategy, Mix: r.Mix, Properties: properties.All(), Interleave: how, Trace: &trace,
	})
	return res, trace.Bytes()
}

// Interleaved runs hold every property, repeat, and replay; workers end together in some, and most have other hashes than straight runs.
func TestInterleavedRuns(t *testing.T) {
	if !bubble.Seeded() {
		t.Skip("built without the overlay")
	}
	same, together := 0, 0
	const seeds = 40
	for seed := uint64(1); seed <= seeds; seed++ {
		first, trace := interleaved(t, seed, scenarios.InterleaveOn)
		if !first.Passed() {
			t.Errorf("seed %d breaks %s: %s", seed, first.Violation.Property, first.Violation.Message)
		}
		if again, _ := interleaved(t, seed, scenarios.InterleaveOn); again.Hash != first.Hash {
			t.Errorf("seed %d has the hashes %016x and %016x", seed, first.Hash, again.Hash)
		}
		tr, err := sim.NewTraceReader("trace", bytes.NewReader(trace))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scenarios.Replay(context.Background(), tr, scenarios.Options{Subject: clientgo.Kind, Properties: properties.All()}); err != nil {
			t.Errorf("seed %d does not replay: %v", seed, err)
		}
		_, straight := interleaved(t, seed, scenarios.InterleaveOff)
		_, steps, _ := strings.Cut(string(trace), "\n")
		if _, others, _ := strings.Cut(string(straight), "\n"); stepsOf(steps) == stepsOf(others) {
			same++
		}
		together += strings.Count(steps, `"finish all"`)
	}
	if same > seeds/2 || together == 0 {
		t.Errorf("%d of %d interleaved runs are like straight ones; workers end together %d times", same, seeds, together)
	}
}

// stepsOf returns a trace's lines without the hashes, which depend on the header.
func stepsOf(trace string) string {
	var b strings.Builder
	for line := range strings.Lines(trace) {
		before, _, _ := strings.Cut(line, `"h":`)
		b.WriteString(before)
	}
	return b.String()
}

// A program without the overlay refuses to replay an interleaved run, and says what to do.
func TestInterleavedTraceNeedsTheOverlay(t *testing.T) {
	if bubble.Seeded() {
		t.Skip("built with the overlay")
	}
	_, trace := interleaved(t, 1, scenarios.InterleaveBySeed)
	text := strings.Replace(string(trace), `"seed":"1"`, `"seed":"1","options":{"interleave":"true"}`, 1)
	tr, err := sim.NewTraceReader("trace", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = scenarios.Replay(context.Background(), tr, scenarios.Options{Subject: clientgo.Kind})
	if err == nil || !strings.Contains(err.Error(), "built without the overlay") || !strings.Contains(err.Error(), "informersim go build") {
		t.Errorf("the error is %v", err)
	}
}
