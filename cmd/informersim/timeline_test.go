package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/kinds"
)

// What is derived from a trace is what happened: once a run has converged, every queue is empty, every handler has been told everything, and
// each Indexer has what the store has.
func TestTimelineAgreesWithRuns(t *testing.T) {
	mix, err := faultmix.Load(t.Context(), "storm")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.All() {
		t.Run(kind.Name, func(t *testing.T) {
			for seed := range uint64(30) {
				var trace bytes.Buffer
				res, err := scenarios.Run(t.Context(), scenarios.BuiltIn(), scenarios.Options{Subject: kind, Seed: seed + 1, Mix: mix, Trace: &trace})
				if err != nil {
					t.Fatal(err)
				}
				tr, err := sim.NewTraceReader("the run", &trace)
				if err != nil {
					t.Fatal(err)
				}
				tl, err := timeline.Read(tr)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := fmt.Sprint(tl.Run.Steps, tl.Run.Virtual, tl.Run.Commits, tl.Run.Requests, tl.Run.Frames, tl.Run.Notifications, tl.Run.Faults),
					fmt.Sprint(res.Steps, res.Virtual, res.Commits, res.Requests, res.Frames, res.Notifications, res.Faults); got != want {
					t.Errorf("seed %d: counted %s, want %s", seed+1, got, want)
				}
				converged(t, tl, seed+1)
			}
		})
	}
}

// converged checks the state after the last step.
func converged(t *testing.T, tl *timeline.Timeline, seed uint64) {
	t.Helper()
	state := tl.State(uint64(len(tl.Steps)))
	objects := func(n int) string {
		all := map[string]int64{}
		for _, i := range state[n] {
			all[i.Key] = i.RV
		}
		return fmt.Sprint(all)
	}
	store, seen := "", map[timeline.PartKind]int{}
	for n, p := range tl.Parts {
		if p.Kind == timeline.PartStore {
			store = objects(n)
		}
	}
	for n, p := range tl.Parts {
		seen[p.Kind]++
		name := tl.Lanes[p.Lane].Name
		switch p.Kind {
		case timeline.PartQueue, timeline.PartRing:
			if len(state[n]) > 0 {
				t.Errorf("seed %d: the %s of %s has %v at the end, want nothing", seed, p.Kind, name, state[n])
			}
		case timeline.PartIndexer, timeline.PartTold, timeline.PartApplied:
			if got := objects(n); got != store {
				t.Errorf("seed %d: %s (%s) has %s, the store %s", seed, name, p.Kind, got, store)
			}
		}
	}
	if seen[timeline.PartQueue] != 2 || seen[timeline.PartRing] != 3 || seen[timeline.PartTold] != 3 {
		t.Errorf("seed %d: there are %v parts", seed, seen)
	}
}
