package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/museum"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// Bad input is refused before anything is built.
func TestMuseumRefuses(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine.md")
	if err := os.WriteFile(mine, []byte("# Mine\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--write " + dir, "--write: " + mine + " is no page of the museum"},
		{"--write " + mine, "--write: " + mine + " is a file"},
		{"--real --write " + mine, "--write: " + mine + " is no page of the museum"},
		{"--report " + mine, "--report: "},
		{"--trace " + mine, "--trace: "},
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
	if text, err := os.ReadFile(mine); err != nil || string(text) != "# Mine\n" {
		t.Errorf("the file that was there: %q, %v", text, err)
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
		{"--real --trace " + t.TempDir(), "leave out --trace, --report, --jobs and --work"},
		{"--real --jobs 2", "leave out --trace, --report, --jobs and --work"},
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

// The reports of both runs are made from their traces, and the index leads to those that there are.
func TestMuseumReports(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "x.trace.jsonl")
	if got := command(t, "run", "../../scenarios/testdata/k115658.sim", "--trace", trace); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	all, err := museum.Collection("../..")
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := museum.Select(all, []string{"k115658"})
	if err != nil {
		t.Fatal(err)
	}
	f := &museumFlags{report: filepath.Join(dir, "pages"), forget: true}
	if err := os.Mkdir(f.report, 0o777); err != nil {
		t.Fatal(err)
	}
	v := &museum.Verdict{
		Bug: "k115658", IDs: []string{"k115658"}, Text: "<b>*lost*</b>", Property: "P", Piece: pieces[0],
		Broken: &museum.Side{Trace: filepath.Join(dir, "none"), Violation: &reports.Violation{Property: "P", Step: 7, Message: "it <i>dies</i>"}},
		Right:  &museum.Side{Trace: trace, Steps: 40},
	}
	for range 2 { // the second time, what is there is written over
		v.Right.Trace = trace
		if err := f.writeReports(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		if err := f.writeIndex(t.Context(), []*museum.Verdict{v, {Bug: "g", IDs: []string{"g"}, Why: "of that", Piece: pieces[0]}}); err != nil {
			t.Fatal(err)
		}
	}
	if v.Broken.Report != "" || v.Right.Report != filepath.Join(f.report, "k115658-right.html") || v.Right.Trace != "" {
		t.Errorf("the sides are %+v and %+v", v.Broken, v.Right)
	}
	if page, err := os.ReadFile(v.Right.Report); err != nil || !strings.Contains(string(page), html.Generator) || !strings.Contains(string(page), "PASS") {
		t.Errorf("%v: %.300s", err, page)
	}
	index, err := os.ReadFile(filepath.Join(f.report, museumIndex))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<a href="k115658-right.html">passes, in 40 steps</a>`, "P breaks at step 7: it &lt;i&gt;dies&lt;/i&gt;</td>", "&lt;b&gt;lost&lt;/b&gt;", "of that", "2 bugs: 1 exhibit", html.Generator,
	} {
		if !strings.Contains(string(index), want) {
			t.Errorf("the index lacks %q:\n%s", want, index)
		}
	}
	if err := os.WriteFile(filepath.Join(f.report, museumIndex), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.writeIndex(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "is no report") && !strings.Contains(err.Error(), "a report") {
		t.Errorf("what is no report is written over: %v", err)
	}
}
