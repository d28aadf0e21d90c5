package properties_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// small has two keys, four writes and a handler.
const small = `resource pods
informer i1 pods handlers=h1 queue=%s watch-list=off page=0 resync=0s
create pods default/a
create pods default/b
delete pods default/b
create pods default/b
`

// expired is a mix of one fault: the watch is too old.
var expired = fault.Mix{Name: "expired", Rates: map[string]float64{string(fault.Watch410): 1}}

func exhaustively(t *testing.T, queue subjects.Queue, kind subjects.Kind, trace *bytes.Buffer) *scenarios.Result {
	t.Helper()
	s, err := scenarios.Parse("small", []byte(fmt.Sprintf(small, queue)))
	if err != nil {
		t.Fatal(err)
	}
	o := scenarios.Options{Subject: kind, Seed: 1, Strategy: scenarios.Exhaustive, Mix: &expired, Properties: properties.All()}
	if trace != nil {
		o.Trace = trace
	}
	res, err := scenarios.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// All runs of a small world, with each queue: nothing breaks, and the search comes to its end.
func TestExhaustiveFinishes(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	if testing.Short() {
		t.Skip("it makes 90,000 runs")
	}
	for _, queue := range stack.Kind.Queues {
		t.Run(string(queue), func(t *testing.T) {
			t.Parallel()
			res := exhaustively(t, queue, stack.Kind, nil)
			if !res.Passed() || !res.Search.Finished || res.Search.States < 10_000 {
				t.Errorf("%v, %+v", res.Violation, res.Search)
			}
			t.Logf("%s, the longest of %d steps", res.Search, res.Search.Longest)
		})
	}
}

// The bugs of a relist while the queue holds something are found when they are put back, and the run that shows each replays, and can
// be shrunk.
func TestExhaustiveFindsRelistBugs(t *testing.T) {
	for _, name := range []string{
		"replace-forgets-queue-only-keys",         // k115658
		"inorder-replace-forgets-queue-only-keys", // k115658
		"replace-skips-pending-deletions",         // k83810
	} {
		m := mutantNamed(t, name)
		var trace bytes.Buffer
		res := exhaustively(t, m.Queue, m.Kind, &trace)
		if res.Violation == nil || res.Violation.Property != m.Property || res.Search.Finished {
			t.Errorf("%s: %v, %+v", name, res.Violation, res.Search)
			continue
		}
		t.Logf("%s: %s after %s", name, res.Violation.Property, res.Search)
		tr, err := sim.NewTraceReader("found", bytes.NewReader(trace.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenarios.Replay(context.Background(), tr, scenarios.Options{Subject: m.Kind, Properties: properties.All()})
		if err != nil || again.Hash != res.Hash || again.Violation == nil {
			t.Errorf("%s: the replay ends with %v, %v", name, again, err)
		}
		if tr, err = sim.NewTraceReader("found", bytes.NewReader(trace.Bytes())); err != nil {
			t.Fatal(err)
		}
		fixed, err := scenarios.Follow(context.Background(), tr, scenarios.Options{Subject: stack.Kind, Properties: properties.All()})
		if err != nil || fixed.Diverged == nil || fixed.Violation != nil {
			t.Errorf("%s: followed without the defect, it ends with %+v, %v", name, fixed, err)
		}
		found := minimal.Found{Options: scenarios.Options{Subject: m.Kind, Properties: properties.All()}, Violation: res.Violation}
		if tr, err = sim.NewTraceReader("found", bytes.NewReader(trace.Bytes())); err != nil {
			t.Fatal(err)
		}
		if found.Scenario, found.Options, err = scenarios.OfTrace(tr.Header(), found.Options); err != nil {
			t.Fatal(err)
		}
		if found.Picks, err = sim.ReadPicks(tr); err != nil {
			t.Fatal(err)
		}
		less, err := minimal.Search(context.Background(), found, minimal.Budget{Tries: 500})
		if errors.Is(err, minimal.ErrNotRepeated) || err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Logf("%s: %s, was %s", name, less.After, less.Before)
	}
}
