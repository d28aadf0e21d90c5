package timeline_test

import (
	"fmt"
	"slices"
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

// What a reconcile sends is told as its, from its band to the store; what nobody is known to have sent stays the client's.
func TestWritesOfAReconcile(t *testing.T) {
	var steps []sim.TraceStep
	step := func(actor, kind string, target uint32, records ...sim.TraceRecord) {
		n := len(steps) + 1
		steps = append(steps, sim.TraceStep{Step: uint64(n), At: int64(time.Duration(n) * time.Second), Actor: actor, Kind: kind, Target: target, Records: records})
	}
	asks := func(n int64, what string) sim.TraceRecord {
		return sim.TraceRecord{Kind: "request", Actor: "conn/p", Key: "pods", N: n, Detail: what}
	}
	sends := func(n int64) sim.TraceRecord {
		return sim.TraceRecord{Kind: "sends", Actor: "jobs/1", Key: "jobs default/a", N: n, Detail: "p"}
	}
	commits := func(rv int64, what string) sim.TraceRecord {
		return sim.TraceRecord{Kind: "commit", Actor: "cluster", Key: "pods default/a-0", RV: rv, Detail: what}
	}
	step("body", "body", 1, sim.TraceRecord{Kind: "commit", Actor: "cluster", Key: "jobs default/a", RV: 1, Detail: "ADDED"})
	step("clock", "advance", 0, sim.TraceRecord{Kind: "reconcile", Actor: "jobs/1", Key: "jobs default/a", RV: -1}, asks(1, "create default/"), sends(1))
	step("conn/p", "admit", 1, commits(2, "ADDED"))
	step("conn/p", "respond", 1, sim.TraceRecord{Kind: "response", Actor: "conn/p", N: 1, Detail: "201 Created"}, asks(2, "update default/a-0"), asks(3, "patch default/a-0"), sends(3))
	step("conn/p", "admit", 2, commits(3, "MODIFIED")) // by a goroutine that nobody knows
	step("conn/p", "admit", 3, commits(4, "MODIFIED"))
	step("conn/p", "respond", 3, sim.TraceRecord{Kind: "response", Actor: "conn/p", N: 3, Detail: "200 OK"}, asks(4, "delete default/a-0"), sends(4))
	step("conn/p", "admit", 4, commits(5, "MODIFIED"))
	step("conn/p", "respond", 4, sim.TraceRecord{Kind: "response", Actor: "conn/p", N: 4, Detail: "200 OK"}, sim.TraceRecord{Kind: "reconciled", Actor: "jobs/1", Key: "jobs default/a", N: -1, Detail: "ok"})
	tl, err := timeline.Of(sim.Header{Scenario: "TestX"}, steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	var story, chain, job strings.Builder
	for _, l := range tl.Story(tl.Object("pods default/a-0"), 0) {
		fmt.Fprintln(&story, l.Step, l.Actor, l.Text)
	}
	for _, e := range tl.Explain(tl.Object("pods default/a-0")) {
		fmt.Fprintln(&chain, e.Step, e.Text)
	}
	for _, l := range tl.Story(tl.Object("jobs default/a"), 0) {
		fmt.Fprintln(&job, l.Step, l.Actor, l.Text)
	}
	for _, text := range []struct{ what, got, want string }{
		{"story", story.String(), "3 jobs/1 creates pods default/a-0 at rv=2 for jobs default/a\n5 cluster commits MODIFIED of pods default/a-0 at rv=3\n" +
			"6 jobs/1 patches pods default/a-0 at rv=4 for jobs default/a\n8 jobs/1 marks for deletion pods default/a-0 at rv=5 for jobs default/a\n"},
		{"explanation", chain.String(), "2 jobs/1 begins to reconcile jobs default/a\n7 it sends request 4 of p: delete default/a-0 of pods\n8 MODIFIED of pods default/a-0 at rv=5\n"},
		{"story of what is reconciled", job.String(), "1 cluster commits ADDED of jobs default/a at rv=1\n9 jobs/1 reconciles jobs default/a: ok; writes ADDED of pods default/a-0 at rv=2, " +
			"MODIFIED of pods default/a-0 at rv=4, MODIFIED of pods default/a-0 at rv=5\n"},
	} {
		if text.got != text.want {
			t.Errorf("the %s is\n%swant\n%s", text.what, text.got, text.want)
		}
	}
	lane := map[string]int{}
	for n, l := range tl.Lanes {
		lane[l.Name] = n
	}
	for n, want := range map[int][]timeline.Arrow{ // order: each by itself
		2: {{From: 1, FromLane: lane["jobs/1"], ToLane: lane["conn/p"]}},
		3: {{From: 1, FromLane: lane["conn/p"], ToLane: lane["cluster"]}},
		5: nil,
		6: {{From: 3, FromLane: lane["conn/p"], ToLane: lane["cluster"]}},
	} {
		if got := tl.Steps[n-1].Arrows; !slices.Equal(got, want) {
			t.Errorf("step %d has the arrows %v, want %v", n, got, want)
		}
	}
	if !slices.Contains(tl.Bands, timeline.Band{Lane: lane["jobs/1"], From: 1, To: 8, Text: "reconciles jobs default/a"}) {
		t.Errorf("the bands are %v", tl.Bands)
	}
}
