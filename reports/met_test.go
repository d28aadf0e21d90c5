package reports_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// Of a client of the body's, the last request that failed by a fault is told, unless a later one succeeded.
func TestAftermathTellsWhatOwnClientsMet(t *testing.T) {
	const x = "conn/x"
	get := func(n int64) sim.Record { return record("request", "pods", 0, n, "get default/a") }
	lost, slow := record("fault", x, 0, 0, "list-lost"), record("fault", x, 0, 0, "list-slow")
	failed, missing := record("response", "", 0, 1, "unexpected EOF"), record("response", "", 0, 1, "404 NotFound: no")
	for name, test := range map[string]struct {
		records []sim.Record
		own     []string
		want    bool
	}{
		"a fault":                {[]sim.Record{get(1), lost, failed}, []string{x}, true},
		"held back before":       {[]sim.Record{get(1), lost, slow, failed}, []string{x}, true},
		"a process's client":     {[]sim.Record{get(1), lost, failed}, nil, false},
		"only held back":         {[]sim.Record{get(1), slow, missing}, []string{x}, false},
		"an error of its own":    {[]sim.Record{get(1), missing}, []string{x}, false},
		"an error after a fault": {[]sim.Record{get(1), lost, failed, get(1), missing}, []string{x}, true},
		"retried":                {[]sim.Record{get(1), lost, failed, get(1), record("response", "", 0, 1, "200 OK")}, []string{x}, false},
		"a list later":           {[]sim.Record{get(1), lost, failed, get(2), record("page", "", 7, 0, "request=2")}, []string{x}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sections, err := reports.Aftermath(traced(t, test.records), reports.Involved{Own: test.own}, nil)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(sections, func(s reports.Section) bool { return s.Title == "a client of the test's own has met a fault" })
			if (i == 0) != test.want || i > 0 {
				t.Fatalf("it is section %d of %v", i, sections)
			}
			if test.want && (!strings.HasSuffix(sections[0].Lines[0], "pods get default/a: unexpected EOF: by the fault list-lost") || len(sections[0].Lines) != 2) {
				t.Errorf("it says %q", sections[0].Lines)
			}
		})
	}
}
