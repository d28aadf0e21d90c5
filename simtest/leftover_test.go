package simtest_test

import (
	"testing"

	"github.com/informersim/informersim/simtest"
)

// What a controller has made for an object that is gone, and removes elsewhere, must not be left. Those that are to stay, as their annotation says, are.
func TestNoLeftover(t *testing.T) {
	for mistake, says := range map[string]string{
		"drops tombstones":                "a list without it, whereupon informers hand their handlers a cache.DeletedFinalStateUnknown",
		"thinks that a deletion succeeds": "here it was told that its request had failed",
	} {
		t.Run(mistake, func(t *testing.T) {
			others := []simtest.Exception{{Property: simtest.NoForgottenChange, Why: "another test's"}, {Property: simtest.QuietAfterRestart, Why: "another test's"}, {Property: simtest.NoLostDeletion, Why: "another test's"}}
			o := simtest.Options{Seeds: 100, Properties: simtest.WellBehaved(others...)}
			body := mirroringBody(mirroring{mistake: mistake})
			found := simtest.Find(t, o, body)
			if found == nil || found.Property != simtest.NoLeftover {
				t.Fatalf("found %v", found)
			}
			t.Logf("seed %d", found.Seed)
			wantIn(t, found.Text, says, "secrets default/m", " is left: configmaps default/m", ", for which mirrors had made it, has been gone for ", "mirrors makes secrets default/m", "as elsewhere, mirrors deletes secrets default/m")

			if testing.Short() && mistake != "drops tombstones" {
				return // the other one shows that exceptions are heeded
			}
			o.Seeds, o.Properties = int(found.Seed), simtest.WellBehaved(append(others, simtest.Exception{Property: simtest.NoLeftover, Object: "secrets", Why: "an administrator removes them"})...)
			if found := simtest.Find(t, o, body); found != nil {
				t.Errorf("an exception: found %v", found)
			}
		})
	}
}
