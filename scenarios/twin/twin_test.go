package twin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/scenarios/twin"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// flawed is a stack whose Replace forgets what only the queue knew.
func flawed(t *testing.T) subjects.Kind {
	t.Helper()
	for _, m := range mutants.All() {
		if m.Name == "replace-without-tombstones" {
			return m.Kind
		}
	}
	t.Fatal("there is no such mutant")
	return subjects.Kind{}
}

// found makes a run that breaks a property, and returns it with its trace.
func found(t *testing.T, s *scenarios.Scenario, o scenarios.Options) (minimal.Found, []byte) {
	t.Helper()
	var trace bytes.Buffer
	o.Trace, o.Properties = &trace, properties.All()
	res, err := scenarios.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Violation == nil {
		t.Fatal("the run breaks nothing")
	}
	tr, err := sim.NewTraceReader("the run", bytes.NewReader(trace.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	sc, o, err := scenarios.OfTrace(tr.Header(), o)
	if err != nil {
		t.Fatal(err)
	}
	picks, err := sim.ReadPicks(tr)
	if err != nil {
		t.Fatal(err)
	}
	return minimal.Found{Scenario: sc, Options: o, Picks: picks, Violation: res.Violation}, trace.Bytes()
}

func search(t *testing.T, f minimal.Found, tries int) *reports.Twin {
	t.Helper()
	w, err := twin.Search(context.Background(), f, tries)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// An exploration that fails has a twin that passes: with one pick fewer, made again it does pass, and the two are the same up to there. The
// search gives the same each time.
func TestTwinOfASchedule(t *testing.T) {
	mix, err := fault.MixNamed("default")
	if err != nil {
		t.Fatal(err)
	}
	f, trace := found(t, scenarios.BuiltIn(), scenarios.Options{Subject: flawed(t), Seed: 1, Strategy: "random", Mix: &mix})
	w := search(t, f, 0)
	first := w.First()
	if !w.Found() || first < 2 || first > uint64(len(f.Picks)) || w.Tried < 1 || w.Tried > twin.DefaultTries || w.Steps <= first {
		t.Fatalf("the twin is %+v", w)
	}
	o := f.Options
	o.Strategy, o.Trace = scenarios.Guided, nil
	o.Picks = append(append([]sim.Pick{}, f.Picks[:first-1]...), f.Picks[first:]...)
	res, err := scenarios.Run(context.Background(), f.Scenario, o)
	if err != nil || !res.Passed() || res.Steps != w.Steps {
		t.Errorf("the run without step %d: %v, %+v", first, err, res)
	}
	if here := w.Partings[0].Here[0]; here.Step != first || here.Text == "" {
		t.Errorf("the first difference is %+v", here)
	}
	one, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(search(t, f, 0))
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("two searches: %s and %s, %v", one, two, err)
	}
	if none := search(t, f, 2); none.Found() || none.Tried != 2 || none.First() != 0 {
		t.Errorf("with too few tries: %+v", none)
	}

	// A trace that has it is the trace of the same run, also for a program that knows another version of the record.
	with, err := reports.WithTwin(trace, w)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{ // order: each by itself
		string(with): true,
		strings.Replace(string(with), `"twin":{"version":1`, `"twin":{"version":2`, 1): false,
	} {
		tr, err := sim.NewTraceReader("the run", strings.NewReader(text))
		if err == nil {
			err = tr.Skip()
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := reports.ConclusionOf(tr.End())
		if err != nil || (c.Twin != nil) != want || c.Violation == nil {
			t.Errorf("the conclusion is %+v, %v", c, err)
		}
	}
}

// A transcript has no schedule: its twin lacks a command, the last one that makes trouble first.
func TestTwinOfATranscript(t *testing.T) {
	const text = `resource pods
create pods default/a
informer i1 pods handlers=h1 queue=delta
settle
hold i1
create pods default/b
settle
fault i1 watch=410
delete pods default/b
advance 5s
release i1
settle
`
	s, err := scenarios.Parse("gap.sim", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := found(t, s, scenarios.Options{Subject: flawed(t), Seed: 1})
	w := search(t, f, 0)
	if !w.Found() || w.Tried != 1 || w.Sentence() != `The run passes if the script lacks "fault i1 watch=410"` || len(w.Partings) == 0 {
		t.Fatalf("the twin is %+v", w)
	}
	if p := w.Partings[0]; len(p.Here) == 0 || !strings.Contains(p.Here[0].Text, "watch-410") {
		t.Errorf("the first difference is %+v", p)
	}
	f.Violation = &reports.Violation{Property: "Another"}
	if w, err := twin.Search(context.Background(), f, 0); err != twin.ErrNotRepeated {
		t.Errorf("of a run that does not repeat: %+v, %v", w, err)
	}
}
