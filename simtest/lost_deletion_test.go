package simtest_test

import (
	"testing"

	"github.com/informersim/informersim/simtest"
)

// Who makes an object again when its watch tells that somebody has deleted it, and drops the tombstone that informers hand their handlers when a list tells, never learns of a deletion that its watch
// has missed. No body has to delete anything: a run does, while watches have ended.
func TestNoLostDeletion(t *testing.T) {
	only := just(simtest.NoLostDeletion)
	for _, ready := range [][]simtest.Property{only, simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(6), Properties: ready, Mix: "none"}
		for _, k := range []secretMaker{{children: true}, {children: true, drawn: true}, {children: true, protobuf: true}, {children: true, applies: true}} {
			simtest.Run(t, o, keeps(k))
			k.blind = true
			found := simtest.Find(t, o, keeps(k))
			if found == nil || found.Property != simtest.NoLostDeletion {
				t.Fatalf("%+v: found %v", k, found)
			}
			wantIn(t, found.Text, "keeps creates secrets default/", "only when its informers have listed anew", "while no watch of its was open", "cache.DeletedFinalStateUnknown", "somebody deletes secrets default/",
				"keeps, whose watch has told of that, sends ", "keeps is told so by a list without it", "is told anew of what there is")
			t.Logf("seed %d: %s", found.Seed, found.Text)
		}
		// Of one that leaves out what has not changed, whatever its informers list, a restart shows it.
		k := secretMaker{children: true, filters: true}
		o.CrashProbability = 1e-9
		simtest.Run(t, o, keeps(k))
		k.blind = true
		found := simtest.Find(t, o, keeps(k))
		if found == nil || found.Property != simtest.NoLostDeletion {
			t.Fatalf("%+v: found %v", k, found)
		}
		wantIn(t, found.Text, "keeps creates secrets default/", "only when it is restarted", "keeps is told so by a list without it", "keeps, which the run has restarted, is told anew of what there is")
		simtest.Run(t, o, keeps(secretMaker{})) // no handler of its is told that anything is missing, whoever tells
	}
}
