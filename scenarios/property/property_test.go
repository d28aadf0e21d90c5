package property_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

func TestValidate(t *testing.T) {
	silent := func() property.Checker { return property.Checker{} }
	record := property.OnRecord(func(property.World, *sim.Record) *reports.Violation { return nil })
	for _, test := range []struct {
		all  []property.Property
		want string // "" for nothing wrong
	}{
		{nil, ""},
		{[]property.Property{{Name: "A", New: silent}, {Name: "B", Kinds: []sim.Kind{1}, New: record}}, ""},
		{[]property.Property{{Name: "A", New: silent}, {New: silent}}, "property 2 has no name"},
		{[]property.Property{{Name: "A", New: silent}, {Name: "A", New: silent}}, `there are two properties "A"`},
		{[]property.Property{{Name: "A"}}, `property "A" has no New`},
		{[]property.Property{{Name: "A", New: record}}, `property "A" has a Record function and no Kinds`},
	} {
		err := property.Validate(test.all)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.all, err, test.want)
		}
	}
}
