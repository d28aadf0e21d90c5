package simtest_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// A trace that a flag names is replayed; where the program has changed since, the difference is told and the seed decides. A trace without an end
// is of a run that died: its seed is run again.
func TestReplayFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := true
	o := simtest.Options{Seeds: 1, Mix: "light", Shrink: -1}
	body := func(env *simtest.Env) {
		if !broken {
			env.Advance(time.Second)
		}
		brokenBody(&broken)(env)
	}
	run := func() (failures, logs string) {
		r := &keeper{recorder{name: "TestX"}}
		try(r, o, body)
		return strings.Join(r.errors, "\n"), strings.Join(r.logs, "\n")
	}
	first, _ := run()
	const file = "testdata/simtest/TestX-1.trace.jsonl"
	wantIn(t, first, "-simtest.replay="+file)
	setFlag(t, "simtest.replay", file)
	again, logs := run()
	if again != first || logs != "" {
		t.Errorf("the replay says\n%s\n%s\nthe run said\n%s", logs, again, first)
	}

	broken = false
	failures, logs := run()
	wantIn(t, logs, file+" differs from this program at step ", "Its seed 1 is run again.", "breaks nothing. If the difference is the fix, good.")
	if failures != "" {
		t.Errorf("a fixed test fails: %s", failures)
	}

	broken = true
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if err := os.WriteFile(file, bytes.Join(lines[:len(lines)/2], nil), 0o644); err != nil {
		t.Fatal(err)
	}
	failures, logs = run()
	wantIn(t, logs, file+" is the trace of a run during which its process died or hung, or its end is missing: running its seed again")
	wantIn(t, failures, "FAIL  the cache has fewer than four at step", "-simtest.replay="+file)
}

// A trace of another test is left to that, and is an error if that is not run: nothing would be replayed.
func TestReplayOfAnotherTest(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := true
	o := simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}
	try(&keeper{recorder{name: "TestX/a"}}, o, brokenBody(&broken))
	setFlag(t, "simtest.replay", "testdata/simtest/TestX_a-1.trace.jsonl")
	broken = false
	for run, wrong := range map[string]bool{"": false, "TestX|^TestY$": false, "^Test[XY]$/b": false, "^TestY$": true, "^TestY$/X": true} {
		setFlag(t, "test.run", run)
		for name, try := range map[string]func(simtest.TB){
			"Run":  func(r simtest.TB) { try(r, o, brokenBody(&broken)) },
			"Find": func(r simtest.TB) { tryFind(r, o, brokenBody(&broken)) },
		} {
			r := &keeper{recorder{name: "TestY"}}
			try(r)
			if want := "TestX_a-1.trace.jsonl is a trace of TestX/a, which -run leaves out, so nothing is replayed: run that test"; wrong != strings.Contains(strings.Join(r.errors, "\n"), want) {
				t.Errorf("%s, with -run %q: errors %q, logs %q", name, run, r.errors, r.logs)
			}
		}
	}
}
