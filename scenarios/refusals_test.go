package scenarios_test

import (
	"context"
	"testing"

	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/kinds"
)

// The transform fails for the deletion, which is the last that the watch shows: what is created later is not in the informer's selection. So the
// informer keeps what it has, and nobody blames it.
const refusedDeletion = `resource pods
create pods default/a {"metadata":{"labels":{"app":"x"}}}
informer i1 pods transform=fail:tier labels=app=x
settle
update pods default/a {"metadata":{"labels":{"app":"x","tier":"x"}}}
delete pods default/a
create pods default/a
settle
`

func TestI112RefusedDeletionAndAnotherOfThatName(t *testing.T) {
	for _, then := range []string{"", "update pods default/a\n", "delete pods default/a\n"} {
		s, err := scenarios.Parse("refused_deletion.sim", []byte(refusedDeletion+then))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds.All() {
			res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: kind, Seed: 1, Properties: properties.All()})
			if err != nil {
				t.Fatal(err)
			}
			if !res.Passed() {
				t.Errorf("%s, then %q: %s: %s", kind.Name, then, res.Violation.Property, res.Violation.Message)
			}
		}
	}
}
