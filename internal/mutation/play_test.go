package mutation

import (
	"strings"
	"testing"
)

func TestPlay(t *testing.T) {
	tree := &Tree{root: t.TempDir()}
	for _, c := range []struct{ what, script, property, problem string }{
		{"a run that passes", `echo '{"passed":true,"steps":3}'`, "", ""},
		{"a run that breaks", `echo '{"passed":false,"steps":3,"violation":{"property":"WorkDrains"}}'`, "WorkDrains", ""},
		{"a panic", `echo 'panic: oh no' >&2; exit 2`, "NoPanic", ""},
		{"an end without a panic", `exit 255`, "NoPanic", ""},
		{"bad input", `echo 'driver: no such file' >&2; exit 2`, "", "no such file"},
		{"no answer", `echo well`, "", `it said "well`},
		{"the flags", `echo "$*" >&2; exit 2`, "", "-subject stack -scenario a.sim -property WorkDrains -exempt=false"},
		{"the active mutant", `echo "mutant $INFORMERSIM_MUTANT" >&2; exit 2`, "", "mutant 17"},
	} {
		s, err := tree.Play(t.Context(), program(t, c.script), Transcript{Subject: "stack", Scenario: "a.sim", Property: "WorkDrains", Strict: true})
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v, want an error with %q", c.what, err, c.problem)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		broke := ""
		if s.Violation != nil {
			broke = s.Violation.Property
		}
		if broke != c.property {
			t.Errorf("%s breaks %q, want %q", c.what, broke, c.property)
		}
	}
}
