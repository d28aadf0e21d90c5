package network_test

import (
	"fmt"
	"slices"
	"testing"

	network "github.com/informersim/informersim/examples/network-controller"
	"github.com/informersim/informersim/simtest"
)

// The same test finds each mistake within the default number of seeds. simtest.Find is Run for a test that must fail: it returns the
// first failure.
func TestMistakesAreFound(t *testing.T) {
	for _, test := range []struct {
		name     string
		mistakes network.Mistakes
		by       string
	}{
		{"a tombstone is ignored", network.Mistakes{IgnoreTombstones: true}, converges},
		{"a failure is forgotten", network.Mistakes{ForgetFailures: true}, converges},
		{"deletions while it was down are missed", network.Mistakes{NoSweep: true}, converges},
		{"it does not wait for its caches", network.Mistakes{NoSync: true}, restarts},
		{"resyncs are dropped", network.Mistakes{SkipResyncs: true}, resyncs},
		{"changes of the status are dropped", network.Mistakes{GenerationOnly: true}, converges},
		{"children are not watched", network.Mistakes{NoChildren: true}, converges},
		{"the cache is written to", network.Mistakes{WriteToCache: true}, converges},
		{"a conflict is not retried", network.Mistakes{DropConflicts: true}, converges},
		{"removing is not idempotent", network.Mistakes{RemoveOnce: true}, rests},
		{"a stale cache is trusted", network.Mistakes{GenerateName: true}, converges},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantFound(t, test.by, testController(test.mistakes))
		})
	}
}

// Assuming that a synced cache is current is a mistake, too: if a watch cannot be opened, an informer falls back to a list that
// any replica may answer from its cache, however stale.
func TestSyncedIsNotCurrent(t *testing.T) {
	wantFound(t, "the list is right", listNodes(func(names []string) error {
		if !slices.Equal(names, threeNodes) {
			return fmt.Errorf("it has %v", names)
		}
		return nil
	}))
}

// wantFound wants a body to break the property.
func wantFound(t *testing.T, property string, body func(env *simtest.Env)) {
	t.Helper()
	found := simtest.Find(t, options, body)
	if found == nil {
		t.Fatalf("not found with %d seeds", simtest.DefaultSeeds)
	}
	if found.Property != property {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}
