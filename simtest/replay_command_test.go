package simtest_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// asTest makes TestReplayCommand the test that produced a trace: "same" unchanged, "other" after a change, "fixed" without the bug.
const asTest = "SIMTEST_TEST_AS_TEST"

func breaks(after time.Duration) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Advance(after)
		env.Always("time stands still", func() error { return errors.New("it has passed") })
		env.Settle()
		env.Advance(time.Second)
	}
}

// The trace of a test is replayed by `informersim replay`, which has that test do it; if the test is not found, the command that
// replays the trace is printed.
func TestReplayCommand(t *testing.T) {
	o := simtest.Options{Seeds: 1, Mix: "none"}
	switch os.Getenv(asTest) {
	case "same":
		simtest.Run(t, o, breaks(time.Second))
		return
	case "other":
		simtest.Run(t, o, breaks(2*time.Second))
		return
	case "fixed":
		simtest.Run(t, o, func(env *simtest.Env) { env.Settle() })
		return
	}
	if testing.Short() {
		t.Skip("it builds this test again, and the command")
	}
	bin := filepath.Join(t.TempDir(), "informersim")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", bin, "./cmd/informersim").CombinedOutput(); err != nil {
		t.Fatalf("building the command: %v\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "x.trace.jsonl")
	// replay returns the exit code and what is printed.
	replay := func() (code int, stdout, stderr string) {
		t.Helper()
		var o, e bytes.Buffer
		cmd := exec.Command(bin, "replay", file)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // what a run that differs leaves there goes with the test
		cmd.Stdout, cmd.Stderr = &o, &e
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), o.String(), e.String()
	}
	found := simtest.Find(t, o, breaks(time.Second))
	if found == nil {
		t.Fatal("the test did not fail")
	}
	write := func(trace []byte) {
		t.Helper()
		if err := os.WriteFile(file, trace, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(found.Trace)
	left, err := filepath.Abs("testdata/simtest") // where a test that fails keeps its trace
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		as   string
		code int
		says []string
	}{
		{"same", 1, []string{"is a trace of the Go test TestReplayCommand of github.com/informersim/informersim/simtest, seed 1", "FAIL  time stands still at step"}},
		{"other", 1, []string{"differs from this program at step ", "Its seed 1 is run again.", "FAIL  time stands still at step"}},
		{"fixed", 0, []string{"passes now: it differs at step ", "-simtest.verify -simtest.seed=1"}},
	} {
		t.Setenv(asTest, test.as)
		code, stdout, stderr := replay()
		if code != test.code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", test.as, code, test.code, stdout, stderr)
		}
		for _, text := range test.says {
			if !strings.Contains(stdout, text) {
				t.Errorf("%s: it does not say %q:\n%s%s", test.as, text, stdout, stderr)
			}
		}
		for _, kept := range glob(t, filepath.Join(left, "TestReplayCommand-*")) {
			os.Remove(kept)
		}
	}
	write(bytes.Replace(found.Trace, []byte(`"package":"github`), []byte(`"package":"-exec=x github`), 1))
	if code, stdout, stderr := replay(); code != 2 || strings.Contains(stderr, "panic") {
		t.Errorf("of a strange package, exit code %d\n%s%s", code, stdout, stderr)
	}
	write(found.Trace)
	t.Chdir(t.TempDir())
	if code, stdout, stderr := replay(); code != 2 || !strings.Contains(stderr, "was not found from here") ||
		!strings.Contains(stderr, "go test") || !strings.Contains(stderr, "-simtest.replay="+file) {
		t.Errorf("elsewhere, exit code %d\n%s%s", code, stdout, stderr)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
