package main

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/properties/mutants"
)

// explain and replay --step tell of a trace without running anything, and say what is wrong with what they are given.
func TestExplain(t *testing.T) {
	m := mutants.All()[0]
	inTemp(t, nil)
	withSubject(t, named(m.Name, m.Kind))
	if got := command(t, "run", "--subject", m.Name, "--seed", "1..200", "--fault-mix", "default"); got.code != exitBroken {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	trace := globbed(t, "*.trace.jsonl")
	for _, test := range []struct {
		args string
		code int
		want []string
	}{
		{"explain TRACE", exitOK, []string{"FAIL  ReplaceDeletesMissing at step ", "\n  because\n    step ", "\n  the way of pods default/", "\n  where its versions got to"}},
		{"explain TRACE --object default/a", exitOK, []string{"the way of pods default/a, "}},
		{"explain TRACE --object default/none", exitBadInput, []string{`there is no object "default/none" in this run; there are "pods default/a"`}},
		{"explain none.jsonl", exitBadInput, []string{"none.jsonl"}},
		{"replay TRACE --step 3", exitOK, []string{"step 3 of ", "\n  i1 queue should have"}},
		{"replay TRACE --step 0", exitBadInput, []string{"there is no step 0: the trace has steps 1 to "}},
		{"replay TRACE --step 1 --json", exitBadInput, []string{"--step prints a step of one trace, as text"}},
		{"replay TRACE TRACE --step 1", exitBadInput, []string{"--step prints a step of one trace, as text"}},
	} {
		got := command(t, strings.Fields(strings.ReplaceAll(test.args, "TRACE", trace))...)
		for _, want := range test.want {
			if got.code != test.code || !strings.Contains(got.stdout+got.stderr, want) {
				t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", test.args, got.code, test.code, want, got.stdout, got.stderr)
			}
		}
	}
}
