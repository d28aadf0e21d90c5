package network_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	network "github.com/informersim/informersim/examples/network-controller"
	"github.com/informersim/informersim/simtest"
)

// The same test finds each mistake within its number of seeds. simtest.Find is Run for a test that must fail: it returns the
// first failure.
func TestMistakesAreFound(t *testing.T) {
	for name, mistakes := range map[string]network.Mistakes{
		"a tombstone is ignored":                 {IgnoreTombstones: true},
		"a failure is forgotten":                 {ForgetFailures: true},
		"deletions while it was down are missed": {NoSweep: true},
	} {
		t.Run(name, func(t *testing.T) {
			found := simtest.Find(t, options, testController(mistakes))
			if found == nil {
				t.Fatalf("not found with %d seeds", options.Seeds)
			}
			if !strings.Contains(found.Message, "the cloud has") {
				t.Errorf("something else was found:\n%s", found)
			}
			t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
		})
	}
}

// Assuming that a synced cache is current is a mistake, too: if a watch cannot be opened, an informer falls back to a list that
// any replica may answer from its cache, however stale.
func TestSyncedIsNotCurrent(t *testing.T) {
	found := simtest.Find(t, options, listNodes(func(names []string) error {
		if !slices.Equal(names, threeNodes) {
			return fmt.Errorf("it has %v", names)
		}
		return nil
	}))
	if found == nil {
		t.Fatalf("not found with %d seeds", options.Seeds)
	}
	if found.Property != "the list is right" {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}
