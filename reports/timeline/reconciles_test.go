package timeline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

// A story tells what workers made of an object, equal failures once, and an explanation goes on to them: who reconciled the newest version,
// after which failures, and who never did.
func TestReconciles(t *testing.T) {
	steps := []sim.TraceStep{
		{Actor: "script", Records: []sim.TraceRecord{{Kind: "workers", Actor: "c1", Key: "i1/c1", Detail: "added"}}},
		{Actor: "script", Records: []sim.TraceRecord{{Kind: "workers", Actor: "c2", Key: "i1/c2", Detail: "added"}}},
		{Actor: "i1", Records: []sim.TraceRecord{{Kind: "request", Actor: "conn/i1", Key: "pods", N: 1, Detail: `list rv="0"`}}},
		{Actor: "conn/i1", Records: []sim.TraceRecord{{Kind: "page", Actor: "conn/i1", RV: 0, N: 0, Detail: "request=1"}, {Kind: "replace", Actor: "i1", RV: 0}}},
		{Actor: "script", Records: []sim.TraceRecord{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 1, Detail: "ADDED"}}},
		{Actor: "i1", Records: []sim.TraceRecord{{Kind: "indexer", Actor: "i1", Key: "default/a", RV: 1, Detail: "add"}}},
	}
	const failures = 5
	for range failures {
		steps = append(steps, sim.TraceStep{Actor: "c1/0", Records: []sim.TraceRecord{{Kind: "reconcile", Actor: "c1/0", Key: "default/a", RV: 1}}},
			sim.TraceStep{Actor: "c1/0", Records: []sim.TraceRecord{{Kind: "reconciled", Actor: "c1/0", Key: "default/a", N: int64(time.Second), Detail: "failed"}}})
	}
	steps = append(steps, sim.TraceStep{Actor: "c1/0", Records: []sim.TraceRecord{{Kind: "reconcile", Actor: "c1/0", Key: "default/a", RV: 1}}},
		sim.TraceStep{Actor: "c1/0", Records: []sim.TraceRecord{{Kind: "commit", Actor: "cluster", Key: "jobs default/j", RV: 2, Detail: "ADDED"}}},
		sim.TraceStep{Actor: "c1/0", Records: []sim.TraceRecord{{Kind: "reconciled", Actor: "c1/0", Key: "default/a", N: -1, Detail: "ok"}}},
		sim.TraceStep{Actor: "c1/0", Records: []sim.TraceRecord{{Kind: "reconcile", Actor: "c1/0", Key: "default/a", RV: 1}}})
	for i := range steps {
		steps[i].Step, steps[i].At, steps[i].Kind = uint64(i+1), int64(time.Duration(i)*time.Second), "x"
	}
	tl, err := timeline.Of(sim.Header{Scenario: "s"}, steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := tl.Object("default/a")
	var story, chain strings.Builder
	for _, l := range tl.Story(of, 0) {
		fmt.Fprintln(&story, l.Step, l.Actor, l.Text)
	}
	for _, e := range tl.Explain(of) {
		fmt.Fprintln(&chain, e.Step, e.Text)
	}
	for what, test := range map[string]struct { // order: each by itself
		text string
		want []string
	}{
		"story": {story.String(), []string{
			"8 c1/0 5 × reconciles pods default/a at rv=1: failed, again in 1s (the first; until step 16)\n",
			"19 c1/0 reconciles pods default/a at rv=1: ok; writes ADDED of jobs default/j at rv=2\n", "20 c1/0 reconciles pods default/a at rv=1, and has not returned\n",
		}},
		"explanation": {chain.String(), []string{
			"8 c1: 5 × reconciles pods default/a: failed, until step 16\n", "17 c1/0 reconciles pods default/a at rv=1: ok; writes", "20 c2 never reconciled it\n",
		}},
	} {
		for _, want := range test.want {
			if !strings.Contains(test.text, want) {
				t.Errorf("the %s is\n%swant %q", what, test.text, want)
			}
		}
	}
	if e := tl.Ending(); e == nil || len(e.InFlight) != 1 || e.InFlight[0] != "c1/0 reconciles pods default/a since step 20" {
		t.Errorf("the ending is %+v", e)
	}
}

// A Go test tells of reconciles, and not of the queue, nor of what the cache had: there is a lane for each reconciler, and no other.
func TestReconcilesOfAGoTest(t *testing.T) {
	begin := sim.TraceRecord{Kind: "reconcile", Actor: "web/0", Key: "pods default/a", RV: -1}
	var steps []sim.TraceStep
	for _, records := range [][]sim.TraceRecord{
		{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 1, Detail: "ADDED"}},
		{begin},
		{{Kind: "reconciled", Actor: "web/0", Key: "pods default/a", N: -1, Detail: "a conflict"}},
		{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 2, Detail: "MODIFIED"}},
		{begin, {Kind: "reconciled", Actor: "web/0", Key: "pods default/a", N: int64(time.Minute), Detail: "ok"}},
		{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 3, Detail: "MODIFIED"}},
	} {
		n := len(steps) + 1
		steps = append(steps, sim.TraceStep{Step: uint64(n), At: int64(time.Duration(n) * time.Second), Actor: "gate", Kind: "x", Records: records})
	}
	explained := func(steps []sim.TraceStep) (*timeline.Timeline, string) {
		tl, err := timeline.Of(sim.Header{Scenario: "TestX"}, steps, nil)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, e := range tl.Explain(tl.Object("pods default/a")) {
			fmt.Fprintln(&text, e.Step, e.Text)
		}
		return tl, text.String()
	}
	for upTo, want := range map[int]string{ // order: each by itself
		4: "4 MODIFIED of pods default/a at rv=2\n4 web never reconciled it\n",
		5: "4 MODIFIED of pods default/a at rv=2\n5 web/0 reconciles pods default/a: ok, again in 1m0s\n",
		6: "6 MODIFIED of pods default/a at rv=3\n6 web never reconciled it\n",
	} {
		if _, got := explained(steps[:upTo]); got != want {
			t.Errorf("after %d steps, it is explained by\n%swant\n%s", upTo, got, want)
		}
	}
	tl, _ := explained(steps)
	var lanes []string
	for _, l := range tl.Lanes {
		lanes = append(lanes, string(l.Role)+" "+l.Name)
	}
	if got := strings.Join(lanes, ", "); got != "store cluster, other gate, worker web/0" {
		t.Errorf("the lanes are %s", got)
	}
	var story strings.Builder
	for _, l := range tl.Story(tl.Object("pods default/a"), 0) {
		fmt.Fprintln(&story, l.Step, l.Actor, l.Text)
	}
	for _, want := range []string{"3 web/0 reconciles pods default/a: a conflict\n", "5 web/0 reconciles pods default/a: ok, again in 1m0s\n"} {
		if !strings.Contains(story.String(), want) {
			t.Errorf("the story is\n%swant %q", story.String(), want)
		}
	}
}
