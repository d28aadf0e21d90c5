package minimal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

func mutant(t *testing.T, name string) subjects.Kind {
	t.Helper()
	for _, m := range mutants.All() {
		if m.Name == name {
			return m.Kind
		}
	}
	t.Fatalf("there is no mutant %s", name)
	return subjects.Kind{}
}

// found returns the first run of the built-in scenario that breaks a property of a stack.
func found(t *testing.T, kind subjects.Kind) minimal.Found {
	t.Helper()
	mix, err := fault.MixNamed("default")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 3000; seed++ {
		var trace bytes.Buffer
		o := scenarios.Options{Subject: kind, Seed: seed, Strategy: "random", Mix: &mix, Properties: properties.All(), Trace: &trace}
		sc, err := scenarios.BuiltIn().Configured(seed, kind)
		if err != nil {
			t.Fatal(err)
		}
		res, err := scenarios.Run(context.Background(), sc, o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Violation == nil {
			continue
		}
		tr, err := sim.NewTraceReader("the run", &trace)
		if err != nil {
			t.Fatal(err)
		}
		picks, err := sim.ReadPicks(tr)
		if err != nil {
			t.Fatal(err)
		}
		return minimal.Found{Scenario: sc, Options: o, Picks: picks, Violation: res.Violation}
	}
	t.Fatal("no seed breaks a property")
	return minimal.Found{}
}

// What is left breaks the same property, is much shorter, and no command of it can be spared.
func TestSearch(t *testing.T) {
	for name, shape := range map[string]string{
		"replace-without-tombstones": "delete, fault between lists", "synced-at-enqueue": "",
		"relist-any-version": "delete, fault between lists, fault of a list", "notify-before-store": "",
	} {
		t.Run(name, func(t *testing.T) {
			f := found(t, mutant(t, name))
			got, err := minimal.Search(context.Background(), f, minimal.Budget{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v to %+v in %d tries, complete %v, strategy %s\n%s%v", got.Before, got.After, got.Tries, got.Complete, got.Options.Strategy, got.Scenario.Text(), got.Violation)
			if !got.Complete {
				t.Error("the search is not complete")
			}
			if got.Shape() != shape {
				t.Errorf("its shape is %q, want %q", got.Shape(), shape)
			}
			if got.After.Commands >= got.Before.Commands || got.After.Commands > 12 {
				t.Errorf("%d of %d commands are left", got.After.Commands, got.Before.Commands)
			}
			fails := func(s *scenarios.Scenario, o scenarios.Options) bool {
				res, err := scenarios.Run(context.Background(), s, o)
				return err == nil && res.Violation != nil && res.Violation.Property == f.Violation.Property
			}
			if !fails(got.Scenario, got.Options) {
				t.Fatal("the result does not break the property")
			}
			if !got.Transcript() {
				return
			}
			cmds := got.Scenario.File().Commands()
			for n := range cmds {
				shorter := &script.File{Name: "shorter.sim"}
				for _, c := range slices.Delete(slices.Clone(cmds), n, n+1) {
					shorter.Nodes = append(shorter.Nodes, c)
				}
				s, err := scenarios.Parse(shorter.Name, script.Print(shorter))
				if err == nil && fails(s, got.Options) {
					t.Errorf("it fails without %q, too", cmds[n].Name)
				}
			}
		})
	}
}

// A run that breaks the property only now and then is shrunk, too, and what is left is not said to be the smallest.
func TestSearchOfFlakyRuns(t *testing.T) {
	kind := mutant(t, "replace-without-tombstones")
	f := found(t, kind)
	runs, broken := 0, kind.New
	f.Options.Subject.New = func(deps subjects.Dependencies) subjects.Subject {
		if runs++; runs%3 != 0 {
			return stack.Kind.New(deps)
		}
		return broken(deps)
	}
	got, err := minimal.Search(context.Background(), f, minimal.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Flaky || got.Complete || got.After.Commands > 12 {
		t.Errorf("flaky %v, complete %v, %d of %d commands are left", got.Flaky, got.Complete, got.After.Commands, got.Before.Commands)
	}
	runs = 0
	if _, err := minimal.Search(context.Background(), f, minimal.Budget{Tries: 1}); !errors.Is(err, minimal.ErrNotRepeated) {
		t.Errorf("the error of a search that may not try again is %v", err)
	}
}

// The same run and budget give the same result, and a budget is kept.
func TestSearchRepeats(t *testing.T) {
	f := found(t, mutant(t, "replace-without-tombstones"))
	say := func(tries int) string {
		got, err := minimal.Search(context.Background(), f, minimal.Budget{Tries: tries})
		if err != nil {
			t.Fatal(err)
		}
		if tries > 0 && got.Tries > tries+1 {
			t.Errorf("%d tries, want at most %d", got.Tries, tries)
		}
		return fmt.Sprintf("%s %v %d %v", got.Scenario.Text(), got.Options.Picks, got.Tries, got.Complete)
	}
	if a, b := say(0), say(0); a != b {
		t.Errorf("first\n%s\nand then\n%s", a, b)
	}
	if got := say(5); !strings.HasSuffix(got, "false") {
		t.Errorf("after 5 tries it claims that nothing can be removed: %s", got)
	}
}

// A transcript is simplified as a transcript: under a schedule with its picks, time would pass at other points, and some would not
// fail. Generated ones have everything that makes a difference.
func TestSearchOfTranscripts(t *testing.T) {
	kind := mutant(t, "notify-before-store")
	failing := 0
	for seed := uint64(1); failing < 20; seed++ {
		src := sim.NewStream(seed, "transcripts")
		sc, err := generate.Scenario(src, "generated", 50)
		if err == nil {
			sc, err = scenarios.Parse("generated.sim", []byte(mutants.WithQueue(sc.Text(), subjects.QueueDelta)))
		}
		if err != nil {
			t.Fatal(err)
		}
		var trace bytes.Buffer
		o := scenarios.Options{Subject: kind, Seed: seed, Properties: properties.All(), Trace: &trace}
		res, err := scenarios.Run(context.Background(), sc, o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Violation == nil {
			continue
		}
		failing++
		tr, err := sim.NewTraceReader("the run", &trace)
		if err != nil {
			t.Fatal(err)
		}
		picks, err := sim.ReadPicks(tr)
		if err != nil {
			t.Fatal(err)
		}
		got, err := minimal.Search(context.Background(), minimal.Found{Scenario: sc, Options: o, Picks: picks, Violation: res.Violation}, minimal.Budget{Tries: 1}) // which is enough to see whether it can begin
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		} else if !got.Transcript() {
			t.Errorf("seed %d: the strategy is %s", seed, got.Options.Strategy)
		}
	}
}

// A violation that the run does not repeat is no reason to search.
// What an interleaved run breaks is shown without interleaving, if that shows it.
func TestSearchOfInterleaved(t *testing.T) {
	for name, racy := range map[string]bool{"a race": true, "no race": false} {
		t.Run(name, func(t *testing.T) {
			kind, defective, interleaved := stack.Kind, mutant(t, "replace-without-tombstones"), false
			kind.New = func(d subjects.Dependencies) subjects.Subject {
				if racy && !interleaved {
					return stack.Kind.New(d)
				}
				return defective.New(d)
			}
			kind.Interleaved = func(_ uint64, run func()) error {
				interleaved = true
				defer func() { interleaved = false }()
				run()
				return nil
			}
			f := found(t, defective)
			f.Options.Subject, f.Options.Interleave = kind, scenarios.InterleaveOn
			got, err := minimal.Search(context.Background(), f, minimal.Budget{Tries: 300})
			if err != nil {
				t.Fatal(err)
			}
			if on := got.Options.Interleave == scenarios.InterleaveOn; on != racy || racy && got.Transcript() {
				t.Errorf("what is left is interleaved: %t, a transcript: %t", on, got.Transcript())
			}
		})
	}
}

// misanswering is a stack of which a call of the library gives a wrong answer.
type misanswering struct {
	subjects.Subject
	call string
}

func (m misanswering) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	inf, err := m.Subject.AddInformer(spec)
	return answers{inf, m.call}, err
}

type answers struct {
	subjects.Informer
	call string
}

func (a answers) Library(turn uint64) []subjects.Outcome {
	if turn%32 != 4 { // the first turn of every eighth seed
		return nil
	}
	return []subjects.Outcome{{Call: a.call, Want: "0", Got: fmt.Sprint(turn)}}
}

// What a library answers does not depend on the run, so nearly nothing is left of that. What is left tells two defects apart all the same.
func TestSearchOfLibrary(t *testing.T) {
	shapes := map[string]bool{}
	for _, call := range []string{"a pager: List", "a heap: Pop"} {
		kind := stack.Kind
		kind.New = func(d subjects.Dependencies) subjects.Subject { return misanswering{stack.Kind.New(d), call} }
		f := found(t, kind)
		got, err := minimal.Search(context.Background(), f, minimal.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		if got.After.Commands > 2 || !got.Transcript() {
			t.Errorf("%s: %v is left:\n%s", call, got.After, got.Scenario.Text())
		}
		shapes[got.Shape()] = true
	}
	if len(shapes) != 2 {
		t.Errorf("two defects have the shapes %v", shapes)
	}
}

func TestSearchNeedsAFailure(t *testing.T) {
	f := found(t, mutant(t, "replace-without-tombstones"))
	f.Options.Subject = mutants.Flawless(subjects.QueueDelta)
	if _, err := minimal.Search(context.Background(), f, minimal.Budget{}); !errors.Is(err, minimal.ErrNotRepeated) {
		t.Errorf("a stack without a defect: %v", err)
	}
}

// Runs that break for one reason differ in revisions, times, keys, uids and addresses.
func TestReason(t *testing.T) {
	a := reports.Violation{Property: "P", Key: "default/a", Message: "handler h1 has default/a rv=3 at 1.052s (289a7c4c-4e77-4f20-ab6a-c37adc0358ff)\nmain.f(0xc0001f)"}
	b := reports.Violation{Property: "P", Key: "other/b", Message: "handler h2 has other/b rv=12 at 3m0s (9daed50e-d178-4188-bd1e-fd07e83a48a6)\nmain.f(0xdeadbeef12)"}
	if minimal.Reason(&a) != minimal.Reason(&b) {
		t.Errorf("%q and %q differ", minimal.Reason(&a), minimal.Reason(&b))
	}
	b.Message = strings.Replace(b.Message, "has", "lacks", 1)
	if minimal.Reason(&a) == minimal.Reason(&b) {
		t.Errorf("%q is the reason for both", minimal.Reason(&a))
	}
}
