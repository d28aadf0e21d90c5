package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// The built-in release needs no guest.
func TestBisectOfOneRelease(t *testing.T) {
	got := command(t, "bisect", "../../scenarios/testdata/k115658.sim", "--from", "v0.37")
	for _, want := range []string{"v0.37.2    PASS", "all are right from v0.37.2 on", "docs/spec/bugs.md, k115658 (2023) queue-only object survives a relist.", "k115620"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is not in\n%s", want, got.stdout)
		}
	}
	if got.code != exitOK {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	file := filepath.Join(t.TempDir(), "wrong.sim")
	if err := os.WriteFile(file, []byte("# wrong\nresource pods\ncreate pods default/a\ninformer i1 pods handlers=h1\nsettle\nlog h1\n----\nnothing\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	got = command(t, "bisect", file, "--from", "v0.37", "--json")
	var row tried
	if err := json.Unmarshal([]byte(got.stdout), &row); err != nil || row.Right || row.Verdict != "mismatch" || got.code != exitBroken {
		t.Errorf("exit code %d, %+v: %v, %s", got.code, row, err, got.stderr)
	}
}

// A release to come is played if it is asked for.
func TestBisectUpToAReleaseToCome(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"v0.36", "", "v0.36.6 v0.37.2"},
		{"v0.36", releases.FirstOfNext, "v0.36.6 v0.37.2 " + releases.FirstOfNext},
		{releases.FirstOfNext, "", releases.FirstOfNext},
		{releases.FirstOfNext, "v0.38.0", "v0.38.0"},
	} {
		all, err := (&bisectFlags{from: test.from, to: test.to}).between()
		var names []string
		for _, r := range all {
			names = append(names, r.Version)
		}
		if got := strings.Join(names, " "); err != nil || got != test.want {
			t.Errorf("from %s to %s: %s, %v, want %s", test.from, test.to, got, err, test.want)
		}
	}
	if all, err := (&bisectFlags{from: releases.FirstOfNext, to: "v0.37"}).between(); err == nil || !strings.Contains(err.Error(), "there is no release") {
		t.Errorf("backwards: %v, %v", all, err)
	}
}

// A changed copy of client-go is not taken for the release that it is a copy of: that is played in a guest, and the copy beside it.
func TestBisectOfAChangedCopy(t *testing.T) {
	clientIsChanged = true
	defer func() { clientIsChanged = false }()
	f := bisectFlags{from: "v0.37"}
	all, err := f.between()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range all {
		kind, err := subjectOf(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, r.Version+" is "+kind.Name)
	}
	if got, want := strings.Join(names, ", "), "v0.37.2 is client-go@v0.37.2, built-in is client-go"; got != want {
		t.Errorf("played are %s, want %s", got, want)
	}
	f.to = "v0.37.1"
	if all, err := f.between(); err != nil || len(all) != 1 {
		t.Errorf("up to an earlier release: %v, %v", all, err)
	}
}

// A trace's schedule is followed by each release.
func TestBisectOfATrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "a.trace.jsonl")
	run := command(t, "run", "--subject", "client-go", "--seed", "3", "--fault-mix", "default", "--trace", trace, "--json")
	if run.code != exitOK {
		t.Fatal(run.stdout, run.stderr)
	}
	got := command(t, "bisect", trace, "--from", "v0.37", "--json")
	var row, ran struct{ Hash string }
	if err := json.Unmarshal([]byte(got.stdout), &row); err != nil {
		t.Fatal(err, got.stderr)
	}
	if err := json.Unmarshal([]byte(run.stdout), &ran); err != nil || row.Hash == "" || row.Hash != ran.Hash {
		t.Errorf("the run of hash %q is followed as %q: %v", ran.Hash, row.Hash, err)
	}
}

func TestBisectRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"did you mean client-go@v0.31?":             {"--from", "v1.31"},
		"is not one of those that a guest":          {"--to", "v0.5"},
		"there is no release from v0.37 to v0.36":   {"--from", "v0.37", "--to", "v0.36"},
		"--seed 1..3: give one seed":                {"--seed", "1..3"},
		"there is no fault mix":                     {"--fault-mix", "nothing"},
		"there is no strategy \"no\"; use one of f": {"--strategy", "no", "--from", "v0.37"},
	} {
		got := command(t, append([]string{"bisect", "../../scenarios/testdata/k115658.sim"}, args...)...)
		if got.code != exitBadInput || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: exit code %d, %q does not say %q", args, got.code, got.stderr, want)
		}
	}
}

func TestBisectSays(t *testing.T) {
	right, wrong, none := tried{Release: "r", Right: true, judged: true}, tried{Release: "w", judged: true}, tried{Release: "n", Verdict: lacksVerdict}
	for want, rows := range map[string][]tried{
		"r is right, w is not\n":                       {wrong, none, right, right},
		"w is wrong, r is not\n":                       {right, none, wrong},
		"r is right, w is not\nw is wrong, r is not\n": {wrong, right, wrong},
		"all are right from r on\n":                    {none, right, right},
		"all are wrong from w on\n":                    {wrong, none},
		"no release has a verdict\n":                   {none},
	} {
		var out bytes.Buffer
		if summarize(&out, rows); out.String() != want {
			t.Errorf("%v: %q, want %q", rows, out.String(), want)
		}
	}
}

// What releases cannot be held to is said once, with the releases that it is said of.
func TestBisectSaysWhatIsNotJudged(t *testing.T) {
	flag, sync := reports.Unjudged{Property: "InitialListFlag", Why: "since v3"}, reports.Unjudged{Property: "HandlersSync", Part: "of handlers", Why: "since v2"}
	var b strings.Builder
	unjudged(&b, []tried{{Release: "v1", Unjudged: []reports.Unjudged{flag, sync}}, {Release: "v2", Unjudged: []reports.Unjudged{flag}}, {Release: "v3"}})
	if want := "v1 to v2: not judged: InitialListFlag: since v3\nv1: not judged: HandlersSync, of handlers: since v2\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
