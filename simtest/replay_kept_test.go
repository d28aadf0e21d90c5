package simtest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// TestKeptFinding is the test whose traces TestReplayKept replays: this one, in another process.
func TestKeptFinding(t *testing.T) {
	t.Run("of a process", func(t *testing.T) {
		found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
			env.Go("p", func(ctx context.Context) error { <-ctx.Done(); return nil })
			env.Advance(time.Second)
			env.Eventually("the end", 0, func() error { return errors.New("it is never reached") })
		})
		if found == nil {
			t.Fatal("nothing is found")
		}
		if folder := os.Getenv("SIMTEST_TEST_KEEP"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, "one.trace.jsonl"), found.Trace, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// ReplayKept is silent about traces that are still runs of their tests, and names those that are not, with the command that makes them anew.
func TestReplayKept(t *testing.T) {
	folder := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe, "-test.run=^TestKeptFinding$")
	child.Env = asChild(t, "SIMTEST_TEST_KEEP="+folder)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file := filepath.Join(folder, "one.trace.jsonl")
	trace, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const test = "TestKeptFinding/of_a_process"
	write := func(scenario string, cut int) {
		t.Helper()
		data := bytes.Replace(trace, []byte(test), []byte(scenario), 1)
		if err := os.WriteFile(file, data[:len(data)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	replay := func(folder string) []string {
		t.Helper()
		k := &recorder{name: "TestX"}
		done := make(chan struct{})
		go func() {
			defer close(done) // FailNow ends the goroutine
			simtest.ReplayKept(k, folder)
		}()
		<-done
		return k.errors
	}

	t.Setenv("SIMTEST_SEED", "7") // is for the runs of this process
	write(test, 0)
	if said := replay(folder); len(said) != 0 {
		t.Errorf("it replays, and it says %q", said)
	}
	for _, broken := range []struct {
		scenario, says string
		cut            int
	}{
		{"TestKeptFinding/of_another", "does not replay: remove it, and make it anew with go test . -run '^TestKeptFinding$/^of_another$' -simtest.traces=", 0},
		{test, "does not replay", 20},
		{"", "is no trace of a Go test: its first line names none", 0},
		{test, "is no trace of a Go test: ", len(trace) - 5},
	} {
		write(broken.scenario, broken.cut)
		if said := strings.Join(replay(folder), "\n"); !strings.Contains(said, broken.says) || !strings.Contains(said, file) {
			t.Errorf("it says %q, want %q", said, broken.says)
		}
	}
	if said := strings.Join(replay(t.TempDir()), "\n"); !strings.Contains(said, "has no traces (*.trace.jsonl): go test . -simtest.traces=") {
		t.Errorf("of an empty folder it says %q", said)
	}
}
