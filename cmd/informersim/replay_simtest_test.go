package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// asTest makes TestReplayOfATest the test that produced a trace: "same" unchanged, "other" after a change.
const asTest = "INFORMERSIM_TEST_AS_TEST"

func breaks(after time.Duration) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Advance(after)
		env.Always("time stands still", func() error { return errors.New("it has passed") })
		env.Settle()
		env.Advance(time.Second)
	}
}

// The trace of a test is replayed by that test; if the test is not found, the command that replays the trace is printed.
func TestReplayOfATest(t *testing.T) {
	o := simtest.Options{Seeds: 1, Mix: "none"}
	switch os.Getenv(asTest) {
	case "same":
		simtest.Run(t, o, breaks(time.Second))
		return
	case "other":
		simtest.Run(t, o, breaks(2*time.Second))
		return
	}
	if testing.Short() {
		t.Skip("it builds this test again")
	}
	found := simtest.Find(t, o, breaks(time.Second))
	if found == nil {
		t.Fatal("the test did not fail")
	}
	file := t.TempDir() + "/x.trace.jsonl"
	write := func(trace []byte) {
		if err := os.WriteFile(file, trace, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(found.Trace)
	t.Setenv(asTest, "same")
	got := command(t, "replay", file)
	if got.code != exitBroken || !strings.Contains(got.stdout, "is a trace of the Go test TestReplayOfATest of github.com/informersim/informersim/cmd/informersim, seed 1") ||
		!strings.Contains(got.stdout, "FAIL  time stands still at step") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	t.Setenv(asTest, "other")
	if got := command(t, "replay", file); got.code != exitNotDeterministic || !strings.Contains(got.stderr, "does not fit this program") {
		t.Errorf("after a change, exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	t.Chdir(t.TempDir())
	if got := command(t, "replay", file); got.code != exitBadInput || !strings.Contains(got.stderr, "was not found from here") ||
		!strings.Contains(got.stderr, "go test") || !strings.Contains(got.stderr, "-simtest.replay="+file) {
		t.Errorf("elsewhere, exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	write(bytes.Replace(found.Trace, []byte(`"package":"github`), []byte(`"package":"-exec=x github`), 1))
	if got := command(t, "replay", file); got.code != exitBadInput || strings.Contains(got.stderr, "panic") {
		t.Errorf("of a strange package, exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
