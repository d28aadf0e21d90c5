package property_test

import (
	"slices"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/subjects"
)

// A property that needs what a subject lacks is left out, or judged in part, and either is said.
func TestJudged(t *testing.T) {
	checker := func(name string) func() property.Checker {
		return func() property.Checker {
			return property.Checker{End: func(property.World) *reports.Violation { return &reports.Violation{Message: name} }}
		}
	}
	all := []property.Property{
		{Name: "A", New: checker("A")},
		{Name: "B", New: checker("B"), Needs: []property.Need{{Feature: subjects.InitialFlags}}},
		{Name: "C", New: checker("C"), Needs: []property.Need{{Feature: subjects.HandlerSync, Part: "of handlers", Rest: checker("the rest of C")}}},
	}
	names := func(all []property.Property) (names []string) {
		for _, p := range all {
			names = append(names, p.Name+": "+p.New().End(nil).Message)
		}
		return names
	}
	if can, not := property.Judged(all, nil); !slices.Equal(names(can), []string{"A: A", "B: B", "C: C"}) || len(not) > 0 {
		t.Errorf("of a subject that lacks nothing, %v are judged, and %v are not", names(can), not)
	}
	can, not := property.Judged(all, map[subjects.Feature]string{subjects.InitialFlags: "since v2", subjects.HandlerSync: "since v3"})
	if want := []string{"A: A", "C: the rest of C"}; !slices.Equal(names(can), want) {
		t.Errorf("%v are judged, want %v", names(can), want)
	}
	if want := []reports.Unjudged{{Property: "B", Why: "since v2"}, {Property: "C", Part: "of handlers", Why: "since v3"}}; !slices.Equal(not, want) {
		t.Errorf("%v are not judged, want %v", not, want)
	}
	if text, want := not[1].String(), "not judged: C, of handlers: since v3"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}
