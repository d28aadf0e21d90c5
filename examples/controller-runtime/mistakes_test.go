package website_test

import (
	"testing"

	website "github.com/informersim/informersim/examples/controller-runtime"
	"github.com/informersim/informersim/simtest"
)

// The same test finds each mistake within the default number of seeds. simtest.Find is Run for a test that must fail.
func TestMistakesAreFound(t *testing.T) {
	for _, test := range []struct {
		name     string
		mistakes website.Mistakes
		by       string
	}{
		{"a stale cache is trusted", website.Mistakes{GenerateName: true}, onlyOne},
		{"success is reported too early", website.Mistakes{StatusFirst: true}, allServed},
		{"children are not watched", website.Mistakes{NoOwns: true}, allServed},
		{"errors are swallowed", website.Mistakes{SwallowErrors: true}, allServed},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := simtest.Find(t, options, testReconciler(test.mistakes))
			if found == nil {
				t.Fatalf("not found with %d seeds", simtest.DefaultSeeds)
			}
			if found.Property != test.by {
				t.Errorf("something else was found:\n%s", found)
			}
			t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
		})
	}
}
