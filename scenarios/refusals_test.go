package scenarios_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
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

// What a replica that lags shows of the past is not in the Store any more: the informer leaves its selection, or is deleted, with a state for which the transform fails.
const refusedPast = `resource pods
create pods default/a {"metadata":{"labels":{"app":"x"}}}
settle
fault replica/0 replica=lag for=10s
update pods default/a {"metadata":{"labels":{"app":"x","tier":"z"}}}
%s
compact
informer i1 pods transform=fail:tier labels=app=x watch-list=off
advance 1m
%s
advance 1m
`

func TestI112RefusedPast(t *testing.T) {
	const out = `update pods default/a {"metadata":{"labels":{"app":"y","tier":null}}}`
	for _, test := range []struct{ past, then string }{
		{"delete pods default/a", ""},
		{"delete pods default/a", "create pods default/a"},
		{"delete pods default/a", "create pods default/a\ndelete pods default/a"},
		{out, ""},
		{out + "\n" + out, ""},
		{out, "delete pods default/a"},
	} {
		s, err := scenarios.Parse("refused_past.sim", fmt.Appendf(nil, refusedPast, test.past, test.then))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds.All() {
			res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: kind, Seed: 1, Properties: properties.All()})
			switch {
			case err != nil:
				t.Fatal(err)
			case !res.Passed():
				t.Errorf("%s, %q, then %q: %s: %s", kind.Name, test.past, test.then, res.Violation.Property, res.Violation.Message)
			case len(res.Refused) != 1 || !slices.Equal(res.Refused[0].Keys, []string{"default/a"}):
				t.Errorf("%s, %q, then %q: refused are %+v", kind.Name, test.past, test.then, res.Refused)
			}
		}
	}
	// What comes back into the selection is shown once more, and must be taken.
	s, err := scenarios.Parse("refused_past.sim", fmt.Appendf(nil, refusedPast, out, `update pods default/a {"metadata":{"labels":{"app":"x"}}}`+"\nexpect i1 converged within=1m"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.All() {
		res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: kind, Seed: 1, Properties: properties.All()})
		if err != nil || !res.Passed() || len(res.Refused) > 0 {
			t.Errorf("%s: %s, %v, refused are %+v", kind.Name, res.Verdict(), err, res.Refused)
		}
	}
}

// A server that refuses what it has to accept ends the run within a step. Its trace must be as good as any: it is all that a finding has.
func TestTraceOfRefusedWriteReplays(t *testing.T) {
	s, err := scenarios.Parse("refused_write.sim", []byte("resource pods\ncreate pods default/a\nsettle\ndelete pods default/a\nsettle\n"))
	if err != nil {
		t.Fatal(err)
	}
	lost := func(w *scenarios.World, _ string) { // a server that loses what it has committed
		if _, _, err := w.Cluster().Store().Delete(0, "default", "a"); err != nil {
			t.Error(err)
		}
	}
	var trace bytes.Buffer
	o := scenarios.Options{Subject: kinds.All()[0], Seed: 1, Properties: properties.All(), Settled: lost}
	o.Trace = &trace
	res, err := scenarios.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Violation == nil || res.Violation.Property != "ServerAgrees" {
		t.Fatalf("the run ended with %v, not with what ServerAgrees says of a deletion that is refused", res.Violation)
	}
	r, err := sim.NewTraceReader("trace", &trace)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenarios.Replay(context.Background(), r, scenarios.Options{Subject: o.Subject, Properties: properties.All(), Settled: lost})
	if err != nil {
		t.Fatal(err)
	}
	if again.Violation == nil || again.Violation.Message != res.Violation.Message || again.Steps != res.Steps {
		t.Errorf("the replay ended after %d steps with %v, the run after %d with %v", again.Steps, again.Violation, res.Steps, res.Violation)
	}
}
