package network_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	network "github.com/informersim/informersim/examples/network-controller"
	"github.com/informersim/informersim/simtest"
)

// The same test finds each mistake, within the seeds that it has. simtest.Find is Run for a test that is to fail: it returns the first failure.
func TestMistakesAreFound(t *testing.T) {
	for name, mistakes := range map[string]network.Mistakes{
		"a tombstone is ignored":          {IgnoreTombstones: true},
		"a failure is forgotten":          {ForgetFailures: true},
		"what happened while it was down": {NoSweep: true},
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

// That a synced cache has everything is a mistake, too: a watch that cannot be opened makes an informer fall back to a list
// that any replica may answer from its cache, however far that lags.
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
