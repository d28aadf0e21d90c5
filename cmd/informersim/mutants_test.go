package main

import (
	"bytes"
	"strings"
	"testing"
)

// Bad input is refused before anything is built.
func TestMutantsRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		want string
	}{
		{"--jobs 0", "--jobs 0"},
		{"--ranges 0", "--ranges 0"},
		{"--runs 0", "--runs 0"},
		{"--runs 1000001", "must not overlap"},
		{"--shrink -1", "--shrink -1"},
		{"--timeout -1s", "--timeout -1s"},
		{"--subject stak", `did you mean "stack"?`},
		{"--work " + dir + " k115658 no-such-mutant", `none is meant by "no-such-mutant"`},
		{"--work " + dir + " --dir " + dir, "has no mutants: each is a file NAME.txtar"},
		{"--work " + dir + " --dir " + dir + "/nowhere", "--dir: stat "},
		{"--work " + dir + " --runs 7 --update k115658", "search as far as the table did"},
		{"--work " + dir + " --controllers --shrink 7", "--shrink is not for --controllers"},
		{"--work " + dir + " --controllers --subject stack", "--subject is not for --controllers"},
		{"--work " + dir + " --controllers --ranges 2", "--ranges is not for --controllers"},
		{"--work " + dir + " --controllers --json", "--json is not for --controllers"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"mutants"}, strings.Fields(c.args)...), &out, &errs)
		if code != exitBadInput || !strings.Contains(errs.String(), c.want) {
			t.Errorf("mutants %s: exit code %d and %q, want %d and %q", c.args, code, errs.String(), exitBadInput, c.want)
		}
	}
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"mutants", "--work", dir}, &out, &errs); code != exitBadInput || !strings.Contains(errs.String(), "not in a clone") {
		t.Errorf("outside a clone: exit code %d and %q", code, errs.String())
	}
}
