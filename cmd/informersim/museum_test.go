package main

import (
	"bytes"
	"strings"
	"testing"
)

// Bad input is refused before anything is built.
func TestMuseumRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"--jobs 0", "--jobs 0"},
		{"--work " + dir + " k115658 k1156589", `none is meant by "k1156589"`},
		{"--write " + dir + " k115658", "the pages of all bugs"},
		{"--trace", "flag needs an argument"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"museum"}, strings.Fields(c.args)...), &out, &errs)
		if code != exitBadInput || !strings.Contains(errs.String(), c.want) {
			t.Errorf("museum %s: exit code %d and %q, want %d and %q", c.args, code, errs.String(), exitBadInput, c.want)
		}
	}
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"museum", "--work", dir}, &out, &errs); code != exitBadInput || !strings.Contains(errs.String(), "not in a clone") {
		t.Errorf("outside a clone: exit code %d and %q", code, errs.String())
	}
}
