package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/subjects"
)

// A finding, given as a trace or as a seed, becomes a few commands that break the same property, and the printed commands show it.
func TestShrink(t *testing.T) {
	m := mutants.All()[0]
	inTemp(t, nil)
	withSubject(t, named(m.Name, m.Kind))
	found := command(t, "run", "--subject", m.Name, "--seed", "1..200", "--fault-mix", "default")
	seed := regexp.MustCompile(`· seed (\d+) ·`).FindStringSubmatch(found.stdout)
	if found.code != exitBroken || seed == nil {
		t.Fatalf("exit code %d\n%s%s", found.code, found.stdout, found.stderr)
	}
	for _, args := range [][]string{
		{"shrink", globbed(t, "builtin-"+m.Name+"-default-seed*.trace.jsonl")},
		{"shrink", "--subject", m.Name, "--seed", seed[1], "--fault-mix", "default", "-o", "small.sim", "--trace", "small.jsonl"},
	} {
		got := command(t, args...)
		if got.code != exitOK || got.stderr != "" {
			t.Fatalf("%v: exit code %d: %s\n%s", args, got.code, got.stderr, got.stdout)
		}
		for _, want := range []string{"\nno single command, argument or pick can be removed", "\nFAIL  " + m.Property + " at step ", "\n      shrunk from 37 commands, "} {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%v: there is no %q in\n%s", args, want, got.stdout)
			}
		}
		lines := replayLines(t, got.stdout)
		if len(lines) != 2 {
			t.Fatalf("%v: there should be two commands in\n%s", args, got.stdout)
		}
		if run := strings.Join(lines[1], " "); !strings.Contains(run, " --seed "+seed[1]+" ") { // what a transcript draws depends on it
			t.Errorf("the command lacks the seed: %s", run)
		}
		for _, line := range lines {
			if again := command(t, line[1:]...); again.code != exitBroken || !strings.Contains(again.stdout, m.Property) {
				t.Errorf("%v: exit code %d\n%s%s", line, again.code, again.stdout, again.stderr)
			}
		}
	}
}

// What cannot be shrunk is refused, and nothing is written.
func TestShrinkRefuses(t *testing.T) {
	inTemp(t, map[string]string{"good.sim": small, "good-min.sim": small, "notes.txt": "mine"})
	if got := command(t, "run", "good.sim", "--trace", "good.jsonl"); got.code != exitOK {
		t.Fatal(got)
	}
	for _, tt := range []struct{ args, want string }{
		{"shrink good.sim", "error: good.sim breaks no property with --seed 1: there is nothing to shrink; give the --seed, --fault-mix and --subject of a run that fails"},
		{"shrink --seed 3", "error: the built-in scenario breaks no property with --seed 3"},
		{"shrink good.jsonl", "error: good.jsonl: the run breaks no property: there is nothing to shrink"},
		{"shrink good.jsonl --seed 7", "error: --seed: good.jsonl is a trace, which says that by itself"},
		{"shrink good.sim --seed 1..7", "error: --seed 1..7: shrink takes the seed of one run"},
		{"shrink good.sim --tries 0", "error: --tries 0: at least 1 run has to be tried"},
		{"shrink absent.sim", "error: absent.sim: there is no such file; check the path"},
	} {
		if got := command(t, strings.Fields(tt.args)...); got.code != exitBadInput || !strings.HasPrefix(got.stderr, tt.want) {
			t.Errorf("%s: exit code %d, %q, want %q", tt.args, got.code, got.stderr, tt.want)
		}
	}
	files, err := os.ReadDir(".")
	if err != nil || len(files) != 4 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

// A trace of which this program makes another run cannot be shrunk here. That is no nondeterminism, unless this program wrote it.
func TestShrinkOfAnotherProgramsTrace(t *testing.T) {
	oneGoroutine(t)
	inTemp(t, nil)
	if found(t, "mutant.jsonl", mutant(t, "replace-without-tombstones")) == nil {
		t.Fatal("the mutant is not found")
	}
	becomes(t, build("f1f1"))
	got := command(t, "shrink", "mutant.jsonl")
	for _, want := range []string{"error: mutant.jsonl: this program makes another run of it, from step ", "written by informersim devel, commit b0b0", "this is informersim devel, commit f1f1", "informersim replay mutant.jsonl shows what differs"} {
		if got.code != exitBadInput || !strings.Contains(got.stderr, want) {
			t.Errorf("exit code %d, want %q in %s", got.code, want, got.stderr)
		}
	}
	becomes(t, build("b0b0"))
	if got := command(t, "shrink", "mutant.jsonl"); got.code != exitNotDeterministic || !strings.HasPrefix(got.stderr, "not deterministic: mutant.jsonl: step ") {
		t.Errorf("the same build: exit code %d: %s", got.code, got.stderr)
	}
}

// A search that Ctrl-C ends says so, and keeps what it has got to.
func TestShrinkInterrupted(t *testing.T) {
	inTemp(t, nil)
	withSubject(t, flawed())
	if got := command(t, "run", "--subject", "flawed", "--fault-mix", "default", "--seed", "1..3000"); got.code != exitBroken {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	trace := globbed(t, "builtin-flawed-default-seed*.trace.jsonl")
	for wait := 5 * time.Millisecond; ; wait += 5 * time.Millisecond {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(wait, cancel)
		got := commandIn(ctx, "shrink", trace)
		cancel()
		if got.code != exitInterrupted {
			t.Fatalf("no search is interrupted before its end: exit code %d: %s%s", got.code, got.stdout, got.stderr)
		}
		if strings.Contains(got.stdout, "more might be removed: ") {
			if !strings.Contains(got.stdout, "; it was interrupted\n") || !strings.Contains(got.stdout, "informersim replay builtin-min.trace.jsonl") {
				t.Errorf("it prints %s", got.stdout)
			}
			return
		}
	}
}

// The trace of a schedule that was made simpler is replayed like any other: on a program without the defect, the same schedule goes on
// after the difference, and the replay says that the property holds now.
func TestReplayOfAShrunkSchedule(t *testing.T) {
	var m mutants.Mutant
	for _, m = range mutants.All() {
		if m.Name == "relist-any-version" {
			break
		}
	}
	inTemp(t, nil)
	func() {
		before := subjectKinds
		defer func() { subjectKinds = before }()
		subjectKinds = []subjects.Kind{m.Kind}
		found := command(t, "run", "--seed", "1..500", "--fault-mix", "default")
		traces, err := filepath.Glob("*.trace.jsonl")
		if found.code != exitBroken || err != nil || len(traces) != 1 {
			t.Fatalf("exit code %d, traces %v\n%s%s", found.code, traces, found.stdout, found.stderr)
		}
		if got := command(t, "shrink", traces[0], "--trace", "small.jsonl"); got.code != exitOK {
			t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
		}
		if got := command(t, "replay", "small.jsonl"); got.code != exitBroken || !strings.Contains(got.stdout, "strategy guided") {
			t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
		}
	}()
	if got := command(t, "replay", "small.jsonl"); got.code != exitOK || !strings.Contains(got.stdout, "differs from the trace at step ") {
		t.Errorf("without the defect: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// With --shrink, run prints what is left of a finding, and the commands it names show it again.
func TestRunShrinks(t *testing.T) {
	inTemp(t, nil)
	withSubject(t, flawed())
	for _, seeds := range []string{"1..3000", ""} {
		args := []string{"run", "--subject", "flawed", "--fault-mix", "default", "--shrink", "1m", "--seed", seeds}
		if seeds == "" {
			args[len(args)-1] = strings.TrimSuffix(strings.TrimPrefix(globbed(t, "builtin-flawed-default-seed*-min.trace.jsonl"), "builtin-flawed-default-seed"), "-min.trace.jsonl")
		}
		got := command(t, args...)
		if got.code != exitBroken || !strings.Contains(got.stdout, "no single command, argument or pick can be removed") || !strings.Contains(got.stdout, "shrunk from 37 commands") {
			t.Fatalf("%v: exit code %d: %s%s", args, got.code, got.stdout, got.stderr)
		}
		_, again, _ := strings.Cut(got.stdout, "  see it again\n")
		lines := strings.Split(again, "\n")
		for n, line := range lines[:3] {
			shown := command(t, strings.Fields(line)[1:]...)
			if shown.code != exitBroken || !strings.Contains(shown.stdout, "FAIL  ReplaceDeletesMissing") {
				t.Errorf("%v: command %d, %s, has exit code %d: %s%s", args, n, line, shown.code, shown.stdout, shown.stderr)
			}
		}
	}
	json := command(t, "run", "--subject", "flawed", "--fault-mix", "default", "--shrink", "1m", "--seed", "1..3000", "--json")
	lines := strings.Split(strings.TrimSpace(json.stdout), "\n")
	if last := lines[len(lines)-1]; json.code != exitBroken || !strings.HasPrefix(last, `{"version":1,"scenario":"builtin-min"`) || !strings.Contains(last, `"property":"ReplaceDeletesMissing"`) {
		t.Errorf("exit code %d, the last object is %s", json.code, last)
	}
	if got := command(t, "run", "--subject", "flawed", "--fault-mix", "default", "--shrink", "1ns", "--seed", "1..3000"); got.code != exitBroken ||
		!strings.Contains(got.stderr, "warning: the run is not shrunk: 1ns is too short to repeat the run once; raise --shrink") || !strings.Contains(got.stdout, "FAIL  ReplaceDeletesMissing") {
		t.Errorf("without time: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "run", "--shrink", "-1s"); got.code != exitBadInput || !strings.Contains(got.stderr, "--shrink -1s is negative") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

// globbed returns the one file that matches.
func globbed(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: there are %v: %v", pattern, files, err)
	}
	return files[0]
}
