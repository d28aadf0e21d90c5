package main

import (
	"os"
	"strings"
	"testing"
)

// A trace that was cut is told from one whose run died: a file that ends within a line was cut, and says nothing of the process; one that
// lacks its end line only may be either.
func TestCutTrace(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	good := traced(t)
	lines := strings.SplitAfter(good, "\n")
	for _, tt := range []struct {
		name, text string
		want       []string
		not        string
	}{
		{"within a line", good[:strings.Index(good, `{"s":4,`)+9], []string{
			"CUT OFF  The trace ends after step 3, at ", "the file was cut within line", "how its run went on is not known", "Get the whole file", "informersim replay x.jsonl\n",
		}, "killed"},
		{"without its end line", strings.Join(lines[:len(lines)-2], ""), []string{"CUT OFF  The trace ends after step ", "its run was killed, or the file was cut", "informersim replay x.jsonl\n"}, "damaged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile("x.jsonl", []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			got := command(t, "explain", "x.jsonl")
			text := strings.Join(strings.Fields(got.stdout), " ")
			for _, want := range tt.want {
				if got.code != exitOK || !strings.Contains(text+"\n"+got.stdout, strings.Join(strings.Fields(want), " ")) {
					t.Errorf("exit code %d: it does not say %q:\n%s%s", got.code, want, got.stdout, got.stderr)
				}
			}
			if strings.Contains(got.stdout, tt.not) {
				t.Errorf("it says %q:\n%s", tt.not, got.stdout)
			}
			if got := command(t, "shrink", "x.jsonl"); got.code != exitBadInput || strings.Count(got.stderr, "x.jsonl") != 1 {
				t.Errorf("shrink: exit code %d: %s", got.code, got.stderr)
			}
		})
	}
}

// A trace without steps says nothing of any program, and no command may take it for a run that holds.
func TestTraceWithoutSteps(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	header, _, _ := strings.Cut(traced(t), "\n")
	if err := os.WriteFile("x.jsonl", []byte(header+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"replay x.jsonl":                 {exitBadInput, "error: x.jsonl: the trace ends before its first step, so there is nothing to replay: its end line is missing"},
		"replay x.jsonl --step 1":        {exitBadInput, "there are no steps in the trace"},
		"bisect x.jsonl --from v0.37":    {exitUndecided, "x.jsonl ends after step 0, and what would come after it is not known"},
		"explain x.jsonl":                {exitOK, "CUT OFF  The trace ends before its first step"},
		"shrink x.jsonl":                 {exitBadInput, "the trace is cut off after step 0"},
		"report x.jsonl -o x.html":       {exitOK, "x.html"},
		"replay x.jsonl x.jsonl --json":  {exitBadInput, "there is nothing to replay"},
		"bisect x.jsonl --json --from=v": {exitBadInput, "--from"},
	} {
		if got := command(t, strings.Fields(args)...); got.code != want.code || !strings.Contains(got.stdout+got.stderr, want.text) || strings.Contains(got.stdout, "PASS") {
			t.Errorf("%s: exit code %d: %s%s; want %d and %q", args, got.code, got.stdout, got.stderr, want.code, want.text)
		}
	}
}

// A release that does what a trace says as far as that goes is not right for it.
func TestBisectOfACutTrace(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	got := command(t, "run", "small.sim", "--subject", "client-go", "--seed", "1", "--trace", "a.jsonl")
	if got.code != exitOK {
		t.Fatal(got.stdout, got.stderr)
	}
	good := readFile(t, "a.jsonl")
	if err := os.WriteFile("x.jsonl", []byte(good[:strings.Index(good, `{"s":4,`)]), 0o666); err != nil {
		t.Fatal(err)
	}
	got = command(t, "bisect", "x.jsonl", "--from", "v0.37")
	if got.code != exitUndecided || !strings.Contains(got.stdout, "x.jsonl ends after step 3, and what would come after it is not known: its end line is missing") ||
		!strings.Contains(got.stdout, "no release has a verdict") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "bisect", "a.jsonl", "--from", "v0.37"); got.code != exitOK {
		t.Errorf("of the whole trace: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}
