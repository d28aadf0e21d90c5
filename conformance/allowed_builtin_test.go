package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/informersim/informersim/conformance/catalogue"
	"github.com/informersim/informersim/internal/probe"
)

// TestKnownDifferencesAreOfProbes checks that every line of the list names a probe and says why.
func TestKnownDifferencesAreOfProbes(t *testing.T) {
	known, err := readKnown(knownFile)
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalogue.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if missing := unknown(known, all); len(missing) > 0 {
		t.Errorf("%s names probes that do not exist: %v", knownFile, missing)
	}
}

func TestStaleDifferencesAreFound(t *testing.T) {
	known := map[string]string{"a/differs": "because", "a/agrees": "because", "b/unplayed": "because"}
	played := []probe.Probe{{Name: "a/differs"}, {Name: "a/agrees"}, {Name: "a/other"}}
	if got := stale(known, played, map[string]bool{"a/differs": true}); !slices.Equal(got, []string{"a/agrees"}) {
		t.Errorf("stale are %v, want a/agrees", got)
	}
	if got := unknown(known, played); !slices.Equal(got, []string{"b/unplayed"}) {
		t.Errorf("unknown are %v, want b/unplayed", got)
	}
}

func TestKnownDifferencesNeedAReason(t *testing.T) {
	for _, text := range []string{"a/b\n", "a/b  \n", "a/b why\na/b why\n"} {
		path := filepath.Join(t.TempDir(), "known.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if known, err := readKnown(path); err == nil {
			t.Errorf("%q was read as %v", text, known)
		}
	}
}
