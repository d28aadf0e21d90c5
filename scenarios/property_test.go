package scenarios_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/stack"
)

// A user's property is a literal.
func Example_property() {
	s, err := scenarios.Parse("example.sim", []byte("resource pods\ncreate pods default/a\ndelete pods default/a\n"))
	if err != nil {
		panic(err)
	}
	res, err := scenarios.Run(context.Background(), s, scenarios.Options{
		Subject: stack.Kind,
		Properties: []property.Property{{
			Name:      "NothingIsDeleted",
			Statement: "no object is deleted",
			Kinds:     []sim.Kind{fakeapiserver.KindCommit},
			New: property.OnRecord(func(_ property.World, r *sim.Record) *reports.Violation {
				if r.Detail != "DELETED" {
					return nil
				}
				return &reports.Violation{Key: r.Key, Message: r.Key + " is deleted", Because: []reports.Evidence{reports.Because(r, "the server committed the deletion")}}
			}),
		}},
	})
	if err != nil {
		panic(err)
	}
	if err := reports.WriteText(os.Stdout, reports.Report{Run: &res.Run}); err != nil {
		panic(err)
	}
	// Output:
	// scenario example · subject stack · strategy fifo · seed 0
	// FAIL  NothingIsDeleted at step 3 (0s)
	//
	//   pods default/a is deleted
	//   because step 3 (0s): the server committed the deletion
	//
	//       3 steps · 0s of virtual time · no faults injected
	//       2 writes, 0 requests, 0 watch frames, 0 notifications
	//       hash f34c534940dd2846
}

// A property with state starts afresh in every run, sees only its kinds of records, and is checked after each step and at the end.
func TestPropertyOfOnesOwn(t *testing.T) {
	s, err := scenarios.Parse("own.sim", []byte("resource pods\ncreate pods default/a\ncreate pods default/b\ncreate pods default/c\n"))
	if err != nil {
		t.Fatal(err)
	}
	fewer := func(n int) property.Property {
		return property.Property{Name: fmt.Sprintf("FewerThan%d", n), Kinds: []sim.Kind{fakeapiserver.KindCommit}, New: func() property.Checker {
			commits := 0
			judge := func(w property.World) *reports.Violation {
				if commits < n {
					return nil
				}
				return &reports.Violation{Message: fmt.Sprintf("there are %d at rv=%d", commits, w.Cluster().Store().Revision())}
			}
			c := property.Checker{Record: func(_ property.World, r *sim.Record) *reports.Violation {
				if r.Kind != fakeapiserver.KindCommit {
					t.Errorf("it sees a record of kind %v", r.Kind)
				}
				commits++
				return nil
			}}
			if n%2 == 0 {
				c.StepEnd = judge
			} else {
				c.End = judge
			}
			return c
		}}
	}
	for n, want := range map[int]string{2: "there are 2 at rv=2", 3: "there are 3 at rv=3", 4: "", 5: ""} {
		p := fewer(n)
		for range 2 {
			var trace bytes.Buffer
			o := scenarios.Options{Subject: stack.Kind, Properties: []property.Property{p}, Trace: &trace}
			res, err := scenarios.Run(t.Context(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			switch v := res.Violation; {
			case want == "" && (v != nil || !res.Passed()):
				t.Errorf("%s: %v", p.Name, v)
			case want != "" && (v == nil || v.Property != p.Name || v.Message != want || v.Step == 0 || res.Passed()):
				t.Errorf("%s: %v, want %s", p.Name, v, want)
			case want != "" && !strings.Contains(trace.String(), `{"end":"`+p.Name+`"`):
				t.Errorf("the trace does not end with %s", p.Name)
			}
		}
	}
	_, err = scenarios.Run(t.Context(), s, scenarios.Options{Subject: stack.Kind, Properties: []property.Property{fewer(2), fewer(2)}})
	if err == nil || !strings.Contains(err.Error(), `Options.Properties: there are two properties "FewerThan2"`) {
		t.Errorf("two properties of one name: %v", err)
	}
}
