package rest_test

import (
	"context"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/informersim/informersim/internal/probe"
	"github.com/informersim/informersim/internal/probe/fake"
)

const conformance = "../../conformance"

// waiting are the verbs of steps that take real time or another process's life: a probe with one is left to
// `go -C conformance run . --reference golden`, which plays every probe.
var waiting = map[string]bool{"watch": true, "events": true, "drain": true, "close": true, "compact": true, "restart": true, "sleep": true}

// leastGoldens is the number of probes that must be found at least: fewer means that the catalogue is not read as it should be.
const leastGoldens = 200

// saidOtherwise are probes with errors of encoding/json, whose texts are others since go1.27. The server that answered them was built with an older one.
var saidOtherwise = []string{"body/json-oddities", "list/continue-bad"}

// TestGoldens plays the probes of the conformance module that only ask and answer, and compares with what a real apiserver
// answered to them.
func TestGoldens(t *testing.T) {
	probes := promptProbes(t)
	if len(probes) < leastGoldens {
		t.Errorf("%d probes, want at least %d", len(probes), leastGoldens)
	}
	if testing.Short() { // under the race detector, which takes six times as long: some of most files, enough for four servers at a time
		var some []probe.Probe
		for i := 0; i < len(probes); i += 16 {
			some = append(some, probes[i])
		}
		probes = some
	}
	targets, stop, err := fake.StartAll(4)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, got := range probe.RunAll(context.Background(), targets, probes, nil) {
		t.Run(got.Probe.Name, func(t *testing.T) {
			want, err := probe.ReadGolden(filepath.Join(conformance, "testdata/golden"), got.Probe.Name)
			if err != nil {
				t.Fatal(err)
			}
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if probe.Diff(want, got.Transcript) == "" {
				return
			}
			if slices.Contains(saidOtherwise, got.Probe.Name) && version.Compare(runtime.Version(), "go1.27") >= 0 {
				t.Skipf("encoding/json of %s words it otherwise", runtime.Version())
			}
			// As in the conformance module, a difference must reproduce with nothing else running: a loaded machine may take
			// so long over a probe of managedFields that their seconds differ.
			again, err := probe.Run(context.Background(), targets[0], got.Probe)
			if err != nil {
				t.Fatal(err)
			}
			if diff := probe.Diff(want, again); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// promptProbes are the probes of the catalogue's scripts that nothing waits in.
func promptProbes(t *testing.T) []probe.Probe {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(conformance, "catalogue/*.probe"))
	if err != nil {
		t.Fatal(err)
	}
	var prompt []probe.Probe
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := probe.Parse(file, string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if !waits(p) {
				prompt = append(prompt, p)
			}
		}
	}
	return prompt
}

func waits(p probe.Probe) bool {
	for _, s := range p.Steps {
		if waiting[s.Verb] {
			return true
		}
	}
	return p.Slow
}
