package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/museum"
	"github.com/informersim/informersim/subjects/clientgo/releases"
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

// Releases need no mutants, and have no traces. The built-in one needs no guest either.
func TestMuseumOfReleases(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--real --trace " + t.TempDir(), "leave out --trace, --jobs and --work"},
		{"--real --jobs 2", "leave out --trace, --jobs and --work"},
		{"--real nosuchbug", `none is meant by "nosuchbug"`},
	} {
		got := command(t, append([]string{"museum"}, strings.Fields(c.args)...)...)
		if got.code != exitBadInput || !strings.Contains(got.stderr, c.want) {
			t.Errorf("museum %s: exit code %d and %q, want %q", c.args, got.code, got.stderr, c.want)
		}
	}
	h := &releaseHall{ctx: t.Context(), root: "../.."}
	all, err := museum.Collection(h.root)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := museum.RealRows(all)
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]string{"k115658": "✓", "k107457": "✕", "k140890": "✕"}
	for n := range rows {
		want, asked := marks[rows[n].Bug]
		if !asked {
			continue
		}
		delete(marks, rows[n].Bug)
		if got, err := h.mark(&rows[n], releases.BuiltIn); err != nil || got != want {
			t.Errorf("%s on %s: %s, want %s: %v", rows[n].Bug, releases.BuiltIn, got, want, err)
		}
	}
	if len(marks) > 0 {
		t.Errorf("%v have no rows", marks)
	}
}
