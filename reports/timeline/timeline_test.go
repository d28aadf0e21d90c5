package timeline_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports/internal/traces"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

// The golden file has all that is extracted from a trace: read it when it changes.
func TestTimeline(t *testing.T) {
	traces.Golden(t, "testdata/gap.golden", dump(traces.Read(t, traces.Gap)))
}

// dump renders a timeline, line by line.
func dump(tl *timeline.Timeline) string {
	var b strings.Builder
	lane := func(n int) string {
		if n < 0 {
			return "clock"
		}
		return tl.Lanes[n].Name
	}
	for _, l := range tl.Lanes {
		fmt.Fprintf(&b, "lane %s: %s of %q\n", l.Name, l.Role, l.Owner)
	}
	for i, s := range tl.Steps {
		fmt.Fprintf(&b, "step %d at %v, %s: %s\n", i+1, s.At, lane(s.Lane), s.Choice)
		for _, m := range s.Marks {
			fmt.Fprintf(&b, "  %s on %s\n", m.Shape, lane(m.Lane))
		}
		for _, a := range s.Arrows {
			fmt.Fprintf(&b, "  arrow from %s at step %d to %s, lost %v\n", lane(a.FromLane), a.From+1, lane(a.ToLane), a.Lost)
		}
		for _, f := range s.Effects {
			p := tl.Parts[f.Part]
			fmt.Fprintf(&b, "  %s of %s: %s rv=%d %s gone %v\n", p.Kind, lane(p.Lane), f.Key, f.RV, f.Note, f.Gone)
		}
	}
	for _, x := range tl.Bands {
		fmt.Fprintf(&b, "band on %s, steps %d to %d: %s\n", lane(x.Lane), x.From+1, x.To+1, x.Text)
	}
	for _, o := range tl.Objects {
		for _, v := range o.Versions {
			fmt.Fprintf(&b, "%s rv=%d %s at step %d by %s\n", o.Key, v.RV, v.What, v.Step, v.By)
			for _, s := range v.Stages {
				fmt.Fprintf(&b, "  %s of %s at step %d %s\n", s.Kind, lane(s.Lane), s.Step, s.How)
			}
		}
	}
	for _, q := range tl.Requests {
		fmt.Fprintf(&b, "%s: request %d, %s of %s: %q at step %d, ended %q at step %d, %d events\n", q.Client, q.N, q.What, q.Resource, q.Answer, q.AnswerStep, q.Ended, q.EndedStep, q.Frames)
	}
	for _, e := range tl.Because() {
		fmt.Fprintf(&b, "because step %d (%v): %s\n", e.Step, e.At, e.Text)
	}
	for _, e := range tl.Explain(tl.Involved()[0]) {
		fmt.Fprintf(&b, "explained by step %d (%v): %s\n", e.Step, e.At, e.Text)
	}
	for _, l := range tl.Story(tl.Involved()[0], 0) {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// The state after a step is what the effects up to it leave, in the order of their arrival.
func TestState(t *testing.T) {
	tl := traces.Read(t, traces.Gap)
	find := func(name string, kind timeline.PartKind, step uint64) string {
		var all []string
		for n, items := range tl.State(step) {
			if p := tl.Parts[n]; tl.Lanes[p.Lane].Name == name && p.Kind == kind {
				for _, i := range items {
					all = append(all, fmt.Sprintf("%s@%d", i.Key, i.RV))
				}
			}
		}
		return strings.Join(all, " ")
	}
	for _, test := range []struct {
		name string
		kind timeline.PartKind
		step uint64
		want string
	}{
		{"cluster", timeline.PartStore, 0, ""},
		{"cluster", timeline.PartStore, 13, "pods default/a@1 pods default/b@2"},
		{"cluster", timeline.PartStore, 25, "pods default/a@1"},
		{"i1 queue", timeline.PartQueue, 16, "pods default/b@2"},
		{"i1 queue", timeline.PartQueue, 25, "pods default/b@2 pods default/a@1"},
		{"i1 Indexer", timeline.PartIndexer, 25, "pods default/a@1"},
		{"i1/h1", timeline.PartTold, 25, "pods default/a@1"},
		{"i1/h1", timeline.PartRing, 25, ""},
	} {
		if got := find(test.name, test.kind, test.step); got != test.want {
			t.Errorf("%s of %s after step %d: %q, want %q", test.kind, test.name, test.step, got, test.want)
		}
	}
}

// A watch that is refused again and again is one line of a story, which says that no list has answered it.
func TestStoryFolds(t *testing.T) {
	steps := []sim.TraceStep{
		{Records: []sim.TraceRecord{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 1, Detail: "ADDED"}}},
		{Records: []sim.TraceRecord{{Kind: "request", Actor: "conn/x", Key: "pods", N: 1, Detail: `list rv="0"`}}},
		{Records: []sim.TraceRecord{{Kind: "page", Actor: "conn/x", RV: 1, N: 1, Detail: "request=1"}}},
	}
	const refused = 12
	for n := range int64(refused) {
		steps = append(steps,
			sim.TraceStep{Records: []sim.TraceRecord{{Kind: "request", Actor: "conn/x", Key: "pods", N: n + 2, Detail: `watch rv="1"`}}},
			sim.TraceStep{Records: []sim.TraceRecord{{Kind: "response", Actor: "conn/x", N: n + 2, Detail: "410 Expired: too old"}}})
	}
	steps = append(steps, sim.TraceStep{Records: []sim.TraceRecord{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 2, Detail: "MODIFIED"}}})
	for i := range steps {
		steps[i].Step, steps[i].At, steps[i].Actor, steps[i].Kind = uint64(i+1), int64(time.Duration(i)*time.Second), "conn/x", "deliver"
	}
	tl, err := timeline.Of(sim.Header{Scenario: "s"}, steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	var story strings.Builder
	for _, l := range tl.Story(tl.Objects[0], 0) {
		fmt.Fprintln(&story, l.Text)
	}
	if want := "12 × watch 2 from rv=1 is refused: 410 Expired: too old (the first; until step 27), never answered by a list"; strings.Count(story.String(), "refused") != 1 || !strings.Contains(story.String(), want) {
		t.Errorf("the story is\n%swant one line %q", story.String(), want)
	}
	var chain strings.Builder
	for _, e := range tl.Explain(tl.Objects[0]) {
		fmt.Fprintln(&chain, e.Text)
	}
	for _, want := range []string{"MODIFIED of pods default/a at rv=2", "conn/x was never sent it, as an event or in a list"} {
		if !strings.Contains(chain.String(), want) {
			t.Errorf("the explanation is\n%swant %q", chain.String(), want)
		}
	}
}

// A replica that was restarted has what the Store has, although it has applied no event of it; a write that no watch can bring is drawn
// as lost, and what a client is told by a list is no event.
func TestRestartsAndLosses(t *testing.T) {
	steps := []sim.TraceStep{
		{Records: []sim.TraceRecord{{Kind: "request", Actor: "conn/x", Key: "pods", N: 1, Detail: `watch rv="0"`}, {Kind: "response", Actor: "conn/x", N: 1, Detail: "ok"}}},
		{Records: []sim.TraceRecord{{Kind: "watch-closed", Actor: "conn/x", N: 1, Detail: "fault watch-reset"}}},
		{Records: []sim.TraceRecord{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 1, Detail: "ADDED"}}},
		{Records: []sim.TraceRecord{{Kind: "apply", Actor: "replica/0", RV: 1, Detail: "INIT"}}},
		{Records: []sim.TraceRecord{{Kind: "request", Actor: "conn/x", Key: "pods", N: 2, Detail: `list rv="0"`}, {Kind: "page", Actor: "conn/x", RV: 1, N: 1, Detail: "request=2"}}},
	}
	for i := range steps {
		steps[i].Step, steps[i].Actor, steps[i].Kind = uint64(i+1), "replica/0", "apply"
	}
	tl, err := timeline.Of(sim.Header{}, steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := dump(tl)
	for _, want := range []string{
		"applied of replica/0 at step 4 restart\n", "delivered of conn/x at step 5 list\n", "arrow from cluster at step 3 to conn/x, lost true\n",
		"band on conn/x, steps 2 to 5: no watch of pods is open\n",
		"explained by step 2 (0s): conn/x: watch 1, opened from rv=0, ends: fault watch-reset\n", "explained by step 5 (0s): conn/x learns of it by a list\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the timeline lacks %q:\n%s", want, got)
		}
	}
}
