package scenarios_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/kinds"
	"github.com/informersim/informersim/subjects/stack"
)

// regressions are what `informersim fuzz` has left of findings, by file, with the mutant in which the defect is back.
var regressions = map[string]string{
	"deleted_while_queued":          "delete-asks-the-store-alone",
	"deselected_while_queued":       "inorder-delete-asks-the-store",
	"recreated_before_the_relist":   "inorder-delete-asks-the-store",
	"relist_without_queued_pod":     "replace-forgets-queue-only-keys",
	"relist_without_deselected_pod": "inorder-replace-forgets-queue-only-keys",
	"relist_of_recreated_pod":       "replace-skips-pending-deletions",
	"relist_from_a_slow_replica":    "relist-any-version",
}

// Every finding that was kept stays mended, on every subject and under other schedules, and its scenario still shows the defect when
// that is put back.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob("testdata/regressions/*.sim")
	if err != nil || len(files) != len(regressions) {
		t.Fatalf("%d files, want those of the %d mutants that are named above: %v", len(files), len(regressions), err)
	}
	mix, err := fault.MixNamed("default")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".sim")
		t.Run(name, func(t *testing.T) {
			s, err := scenarios.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			run := func(o scenarios.Options) *scenarios.Result {
				t.Helper()
				res, err := scenarios.Run(context.Background(), s, o)
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			for _, kind := range kinds.All() {
				o := withProperties(1)
				o.Subject = kind
				if res := run(o); !res.Passed() {
					t.Errorf("it is back: informersim run scenarios/%s --subject %s\n%v", path, kind.Name, res.Violation)
				}
			}
			for seed := uint64(1); seed <= *seeds; seed++ {
				o := withProperties(seed)
				o.Mix = &mix
				if res := run(o); !res.Passed() {
					t.Fatalf("it is back: informersim run scenarios/%s --seed %d --fault-mix default --subject %s\n%v", path, seed, stack.Kind.Name, res.Violation)
				}
			}
			m := slices.IndexFunc(mutants.All(), func(m mutants.Mutant) bool { return m.Name == regressions[name] })
			if m < 0 {
				t.Fatalf("there is no mutant %q", regressions[name])
			}
			mutant := mutants.All()[m]
			o := withProperties(1)
			o.Subject = mutant.Kind
			if res := run(o); res.Violation == nil || res.Violation.Property != mutant.Property && res.Violation.Property != mutant.Or {
				t.Errorf("the mutant %s breaks %v, want %s", mutant.Name, res.Violation, mutant.Property)
			}
		})
	}
}
