package simtest_test

import (
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/simtest"
)

// noDeletion is a user's property.
var noDeletion = property.Property{
	Name:      "NothingIsDeleted",
	Statement: "no object is deleted",
	Kinds:     []sim.Kind{fakeapiserver.KindCommit},
	New: property.OnRecord(func(w property.World, r *sim.Record) *reports.Violation {
		if r.Detail != "DELETED" {
			return nil
		}
		return &reports.Violation{Key: r.Key, Message: r.Key + " is deleted", Because: []reports.Evidence{
			reports.Because(r, "%s committed the deletion", w.Kernel().ActorName(r.Actor)),
		}}
	}),
}

// fewCommits is a property that is checked when the body has returned.
var fewCommits = property.Property{
	Name:  "FewCommits",
	Kinds: []sim.Kind{fakeapiserver.KindCommit},
	New: func() property.Checker {
		commits := 0
		return property.Checker{
			Record: func(property.World, *sim.Record) *reports.Violation { commits++; return nil },
			End: func(w property.World) *reports.Violation {
				if commits > 2 || len(w.Informers()) > 0 {
					return &reports.Violation{Message: "there are too many commits"}
				}
				return nil
			},
		}
	},
}

// A user's properties are checked like those at the API, and a failure names the broken one.
func TestPropertiesOfOnesOwn(t *testing.T) {
	o := simtest.Options{Seeds: 3, Mix: "none", Shrink: -1, Properties: []property.Property{noDeletion, fewCommits}}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Create(configMap("a", ""), configMap("b", ""))
		env.Advance(time.Second)
	})
	deletes := func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		env.Delete(configMap("a", ""))
		t.Error("the body continues although a property is broken")
	}
	wantIn(t, failure(t, o, deletes), "FAIL  NothingIsDeleted at step", "configmaps default/a is deleted", "because step", "cluster committed the deletion", "-simtest.seed=1")
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Create(configMap("a", ""), configMap("b", ""), configMap("c", ""))
	})
	if found == nil || found.Property != "FewCommits" || found.Message != "there are too many commits" {
		t.Errorf("found %v", found)
	}
	o.Properties = append(o.Properties, noDeletion)
	wantIn(t, failure(t, o, deletes), `Options.Properties: there are two properties "NothingIsDeleted"`)
}
