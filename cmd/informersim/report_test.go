package main

import (
	"os"
	"strings"
	"testing"

	"github.com/informersim/informersim/properties/mutants"
)

// A report comes from the trace alone: that of run, of fuzz and of report are the same, and each says what broke.
func TestReport(t *testing.T) {
	m := mutants.All()[0]
	inTemp(t, nil)
	withSubject(t, named(m.Name, m.Kind))
	got := command(t, "run", "--subject", m.Name, "--seed", "1..200", "--fault-mix", "default", "--report", "run.html")
	if got.code != exitBroken || !strings.Contains(got.stdout, "step by step in a browser: run.html\n") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	trace := globbed(t, "*.trace.jsonl")
	got = command(t, "report", trace)
	own := strings.TrimSuffix(trace, traceSuffix) + ".html"
	if got.code != exitOK || got.stdout != own+"\n" || got.stderr != "" {
		t.Fatalf("exit code %d: %q, %s", got.code, got.stdout, got.stderr)
	}
	one, two := readFile(t, "run.html"), readFile(t, own)
	if one != two {
		t.Error("run and report made two different reports of a run")
	}
	if !strings.Contains(readFile(t, trace), `"twin":{"version":1,`) {
		t.Error("run --report has looked for no twin")
	}
	for _, want := range []string{"breaks ReplaceDeletesMissing at step ", "The nearest run that passes", "The run passes if ", "<code>informersim replay " + trace + "</code>"} {
		if !strings.Contains(one, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"an input is not overwritten", []string{"report", trace, "-o", trace}, trace},
		{"what is no report is not overwritten", []string{"report", trace, "-o", "notes.txt"}, "a report"},
		{"an empty name", []string{"report", trace, "-o", ""}, "--output"},
		{"no trace", []string{"report", "notes.txt"}, "notes.txt:1: "},
		{"another format", []string{"report", trace, "--format", "pdf"}, `--format "pdf": use html or perfetto`},
		{"no file", []string{"report", "none.trace.jsonl"}, "none.trace.jsonl"},
		{"run --report refuses before it runs", []string{"run", "--report", "notes.txt"}, "a report"},
	} {
		if err := os.WriteFile("notes.txt", []byte("notes"), 0o666); err != nil {
			t.Fatal(err)
		}
		got := command(t, test.args...)
		if got.code != exitBadInput || !strings.Contains(got.stderr, test.want) || got.stdout != "" {
			t.Errorf("%s: exit code %d, %q, %q; want %q", test.name, got.code, got.stdout, got.stderr, test.want)
		}
		if readFile(t, "notes.txt") != "notes" {
			t.Errorf("%s: the file was overwritten", test.name)
		}
	}
	for range 2 { // the second time over the first
		got := command(t, "report", trace, "--format", "perfetto")
		if file := strings.TrimSuffix(trace, traceSuffix) + ".perfetto.json"; got.code != exitOK || got.stdout != file+"\n" || !strings.Contains(readFile(t, file), `"VIOLATION ReplaceDeletesMissing"`) {
			t.Errorf("--format perfetto: exit code %d: %s%s", got.code, got.stdout, got.stderr)
		}
	}
	if got := command(t, "report", trace, "-o", "notes.txt", "--force"); got.code != exitOK || readFile(t, "notes.txt") != one {
		t.Errorf("--force: exit code %d: %s", got.code, got.stderr)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A run that passes has a report, too, and what is left of a run that was shrunk has its own.
func TestReportOfOtherRuns(t *testing.T) {
	oneGoroutine(t)
	inTemp(t, nil)
	got := command(t, "run", "--seed", "7", "--report", "pass.html")
	if got.code != exitOK || !strings.Contains(got.stdout, "step by step in a browser: pass.html\n") || !strings.Contains(readFile(t, "pass.html"), "properties held after every step.</h1>") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "run", "--seed", "1..3", "--report", "none.html"); got.code != exitOK || !strings.Contains(got.stderr, "no report is written: no seed fails") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	m := mutants.All()[0]
	withSubject(t, named(m.Name, m.Kind))
	got = command(t, "run", "--subject", m.Name, "--seed", "1..200", "--fault-mix", "default", "--shrink", "30s", "--report", "min.html")
	if page := readFile(t, "min.html"); got.code != exitBroken || !strings.Contains(page, "This run is what is left of a larger one: it was shrunk from ") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}
