package rapidgen_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate/rapidgen"
	"github.com/informersim/informersim/subjects/kinds"
	"github.com/informersim/informersim/subjects/stack"
)

// Every property holds of what is drawn, on every subject.
func TestScenario(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapidgen.Scenario().Draw(t, "scenario")
		for _, kind := range kinds.All() {
			res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: kind, Seed: 1, Properties: properties.All()})
			if err != nil {
				t.Fatalf("%s: %v", kind.Name, err)
			}
			if !res.Passed() {
				t.Fatalf("%s: %v", kind.Name, res.Violation)
			}
		}
	})
}

// recorder is a TB that records what rapid says.
type recorder struct {
	*testing.T
	said   strings.Builder
	failed bool
}

func (r *recorder) Logf(format string, args ...any) { fmt.Fprintf(&r.said, format+"\n", args...) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.Logf(format, args...)
}
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }
func (r *recorder) Fail()                             { r.failed = true }
func (r *recorder) FailNow()                          { r.failed = true; runtime.Goexit() }
func (r *recorder) Failed() bool                      { return r.failed }

// rapid makes the draws of a scenario that fails smaller, and so the scenario. Now and then it ends with an action of many commands of which the deletion is
// one: the smallest of three searches is judged, and they are the same each time.
func TestScenarioIsShrunk(t *testing.T) {
	for _, name := range []string{"rapid.nofailfile", "rapid.seed"} {
		was := flag.Lookup(name).Value.String()
		defer func() { _ = flag.Set(name, was) }()
	}
	if err := flag.Set("rapid.nofailfile", "true"); err != nil { // it fails on purpose
		t.Fatal(err)
	}
	least, smallest := 1000, ""
	for _, seed := range []string{"3", "4", "5"} {
		if err := flag.Set("rapid.seed", seed); err != nil {
			t.Fatal(err)
		}
		script := shrunk(t)
		if n := strings.Count(script, "\n"); n < least {
			least, smallest = n, script
		}
	}
	if least > 12 {
		t.Errorf("the smallest scenario has %d lines:\n%s", least, smallest)
	}
}

// shrunk returns the smallest scenario with a deletion that rapid finds.
func shrunk(t *testing.T) string {
	t.Helper()
	r := &recorder{T: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		rapid.Check(r, func(t *rapid.T) {
			s := rapidgen.Scenario("worker").Draw(t, "scenario")
			if strings.Contains(s.Text(), "\ndelete ") {
				t.Fatalf("a deletion:\n%s", s.Text())
			}
		})
	}()
	<-done
	_, last, found := strings.Cut(r.said.String(), "a deletion:\n")
	if !r.failed || !found {
		t.Fatalf("rapid finds no deletion, and says\n%s", r.said.String())
	}
	if strings.Contains(r.said.String(), "scenarios.Scenario{") || !strings.Contains(r.said.String(), "draw scenario: ") {
		t.Errorf("what was drawn is not legible:\n%.2000s", r.said.String())
	}
	script, _, _ := strings.Cut(last, "\n\n")
	return script
}

func Example() {
	rapidTest := func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			s := rapidgen.Scenario().Draw(t, "scenario")
			res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: stack.Kind, Seed: 1, Properties: properties.All()})
			if err != nil {
				t.Fatal(err) // the scenario cannot be played
			}
			if !res.Passed() {
				t.Fatal(res.Violation)
			}
		})
	}
	_ = rapidTest
}
