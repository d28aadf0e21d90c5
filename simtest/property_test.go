package simtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// noDeletion is a user's property.
var noDeletion = simtest.Property{
	Name:      "NothingIsDeleted",
	Statement: "no object is deleted",
	Kinds:     []string{"commit"},
	New: func() simtest.Checker {
		return simtest.Checker{Record: func(r *simtest.Record) *simtest.Violation {
			if r.Detail != "DELETED" {
				return nil
			}
			return &simtest.Violation{Key: r.Key, Message: r.Key + " is deleted by " + r.Actor}
		}}
	},
}

// fewCommits is a property that is checked when the body has returned.
var fewCommits = simtest.Property{
	Name:  "FewCommits",
	Kinds: []string{"commit"},
	New: func() simtest.Checker {
		commits := 0
		return simtest.Checker{
			Record: func(*simtest.Record) *simtest.Violation { commits++; return nil },
			End: func() *simtest.Violation {
				if commits > 2 {
					return &simtest.Violation{Message: "there are too many commits"}
				}
				return nil
			},
		}
	},
}

// A user's properties are checked like those at the API, and a failure names the broken one.
func TestPropertiesOfOnesOwn(t *testing.T) {
	o := simtest.Options{Seeds: 3, Mix: "none", Shrink: -1, Properties: []simtest.Property{noDeletion, fewCommits}}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Create(configMap("a", ""), configMap("b", ""))
		env.Advance(time.Second)
	})
	deletes := func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		env.Delete(configMap("a", ""))
		t.Error("the body continues although a property is broken")
	}
	wantIn(t, failure(t, o, deletes), "FAIL  NothingIsDeleted at step", "configmaps default/a is deleted by cluster", "-simtest.seed=1")
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Create(configMap("a", ""), configMap("b", ""), configMap("c", ""))
	})
	if found == nil || found.Property != "FewCommits" || found.Message != "there are too many commits" {
		t.Errorf("found %v", found)
	}
	o.Properties = append(o.Properties, noDeletion)
	wantIn(t, failure(t, o, deletes), `Options.Properties: there are two properties "NothingIsDeleted"`)
	o.Properties = []simtest.Property{{Name: "Odd", Kinds: []string{"comit"}, New: noDeletion.New}}
	wantIn(t, failure(t, o, deletes), `property "Odd": there is no kind of record "comit"`)
}

// secondCommit is a property with proof: the records that it cites, given in the wrong order.
var secondCommit = simtest.Property{
	Name:  "OneCommit",
	Kinds: []string{"commit"},
	New: func() simtest.Checker {
		var first *simtest.Record
		return simtest.Checker{Record: func(r *simtest.Record) *simtest.Violation {
			if first == nil {
				first = r
				return nil
			}
			return &simtest.Violation{Key: r.Key, Message: "there is a second commit", Because: []simtest.Evidence{
				r.Because("%s is %s (RV %d)", r.Key, r.Detail, r.RV), first.Because("%s was first (RV %d)", first.Key, first.RV),
			}}
		}}
	},
}

// The report shows the records that a user's property cites, oldest first, and so does the trace.
func TestPropertiesOfOnesOwnProve(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Properties: []simtest.Property{secondCommit}}, func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		env.Advance(time.Minute)
		env.Create(configMap("b", ""))
	})
	if found == nil || found.Property != "OneCommit" {
		t.Fatalf("found %v", found)
	}
	first, second := strings.Index(found.Text, "configmaps default/a was first (RV "), strings.Index(found.Text, "configmaps default/b is ADDED (RV ")
	if first < 0 || second < first {
		t.Errorf("the report lacks the proof, or has it in another order:\n%s", found.Text)
	}
	wantIn(t, string(found.Trace), `"text":"configmaps default/a was first (RV `)
}
