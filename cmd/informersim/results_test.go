package main

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// junitIn reads a JUnit file as a CI system does.
func junitIn(t *testing.T, path string) (tests, failures, errors int, problems string) {
	t.Helper()
	var f struct {
		Suite struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Cases    []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
				Error   *string `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(readFile(t, path)), &f); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Suite.Cases {
		if c.Failure != nil {
			problems += c.Name + ": " + *c.Failure + "\n"
		}
		if c.Error != nil {
			problems += c.Name + ": " + *c.Error + "\n"
		}
	}
	if len(f.Suite.Cases) != f.Suite.Tests || !strings.HasPrefix(f.Suite.Name, "informersim ") {
		t.Errorf("%s: the suite %q has %d cases and says %d", path, f.Suite.Name, len(f.Suite.Cases), f.Suite.Tests)
	}
	return f.Suite.Tests, f.Suite.Failures, f.Suite.Errors, problems
}

// Each command that gives a verdict writes it for machines: a file, and a part of the summary of a GitHub job.
func TestResultsForMachines(t *testing.T) {
	inTemp(t, nil)
	withFlawed(t)
	wrong := "resource pods\nshow pods\n----\nnothing of the kind\n"
	if err := os.WriteFile("wrong.sim", []byte(wrong), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "results.xml")
	for _, test := range []struct {
		args             []string
		code             int
		failures, errors int
		problems         []string
		summary          string
	}{
		{[]string{"run"}, exitOK, 0, 0, nil, "**PASS** "},
		{[]string{"run", "--seed", "1..20"}, exitOK, 0, 0, nil, "### informersim run builtin stack\n\n**PASS** "},
		{[]string{"run", "--seed", "1..200", "--subject", "flawed", "--fault-mix", "storm"}, exitBroken, 1, 0,
			[]string{"ReplaceDeletesMissing: ReplaceDeletesMissing is broken at step ", "informersim run --seed "}, "| ReplaceDeletesMissing | informer i"},
		{[]string{"run", "wrong.sim"}, exitBroken, 1, 0, []string{"nothing of the kind", "informersim run wrong.sim"}, "| the transcript | the transcript is not as expected |"},
		{[]string{"run", "--seed", "1..3", "--timeout", "1ns"}, exitUndecided, 0, 1, []string{"a verdict: "}, "**OPEN** "},
		{[]string{"verify", "--seeds", "2", "--repeat", "2"}, exitOK, 0, 0, nil, "### informersim verify builtin stack\n\n**PASS** 1 of 1 check passed"},
		{[]string{"verify", "--seeds", "3", "--repeat", "2", "--subject", "flawed", "--fault-mix", "storm"}, exitBroken, -1, 0, []string{"ReplaceDeletesMissing: "}, "**FAIL** "},
		{[]string{"diff", "--seeds", "2"}, exitOK, 0, 0, nil, "### informersim diff stack client\\-go\n\n**PASS** 1 of 1 check passed"},
	} {
		summary := filepath.Join(t.TempDir(), "summary.md")
		t.Setenv("GITHUB_STEP_SUMMARY", summary)
		got := command(t, append(test.args, "--junit", file)...)
		if got.code != test.code {
			t.Fatalf("%q: exit code %d, want %d\n%s%s", test.args, got.code, test.code, got.stdout, got.stderr)
		}
		tests, failures, errors, problems := junitIn(t, file)
		if test.failures < 0 {
			test.failures = max(failures, 1)
		}
		if tests == 0 || failures != test.failures || errors != test.errors {
			t.Errorf("%q: %d checks, %d failures, %d errors", test.args, tests, failures, errors)
		}
		for _, want := range test.problems {
			if !strings.Contains(problems, want) {
				t.Errorf("%q: the problems lack %q:\n%s", test.args, want, problems)
			}
		}
		if text := readFile(t, summary); !strings.Contains(text, test.summary) {
			t.Errorf("%q: the summary lacks %q:\n%s", test.args, test.summary, text)
		}
	}
	if err := os.WriteFile("notes.txt", []byte("notes"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run", "verify", "diff"} {
		if got := command(t, name, "--junit", "notes.txt"); got.code != exitBadInput || got.stdout != "" || readFile(t, "notes.txt") != "notes" {
			t.Errorf("%s writes over what is no such file: exit code %d, %s", name, got.code, got.stderr)
		}
	}
}
