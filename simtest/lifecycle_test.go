//go:build unix

package simtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// doomed is a run in whose middle something ends.
func doomed(t *testing.T, end func()) {
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "storm"}, func(env *simtest.Env) {
		fmt.Printf("engine %d\n", simtest.EngineProcess())
		env.Go("p", func(ctx context.Context) error {
			time.Sleep(90 * time.Second)
			end()
			<-ctx.Done()
			return nil
		})
		workload(env)
		env.Advance(time.Hour)
	})
}

var engineLine = regexp.MustCompile(`(?m)^engine (\d+)$`)

// died returns the output of a child, which must fail, and waits until its engine has ended.
func died(t *testing.T, dir string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-test.timeout", "60s")
	cmd.Env, cmd.Dir = asChild(t), dir
	out, err := cmd.CombinedOutput() // returns when nobody has its pipe any more: the engine does not either
	if err == nil {
		t.Fatalf("the child passes:\n%s", out)
	}
	m := engineLine.FindStringSubmatch(string(out))
	if m == nil {
		t.Fatalf("the child has no engine:\n%s", out)
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	// It closes its files some moments before it is gone. One that stays makes this test run into its time limit.
	for syscall.Kill(pid, 0) == nil && !isZombie(pid) {
		time.Sleep(time.Millisecond)
	}
	return string(out)
}

// isZombie reports whether a process has ended, and nobody has asked how yet: in a container often nobody ever does.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// left checks that the run's trace is there, and that the output says how to repeat it.
func left(t *testing.T, dir, out string) {
	t.Helper()
	wantIn(t, out, "the process died during a run: "+t.Name()+", seed 1", "had begun: time passes", "-simtest.seed=1", "-simtest.replay=testdata/simtest/")
	files, err := filepath.Glob(filepath.Join(dir, "testdata/simtest/*.trace.jsonl"))
	if err != nil || len(files) != 1 {
		t.Errorf("the traces are %v, %v", files, err)
	}
}

// A test that is killed in the middle of a run leaves the trace of that run, and no process.
func TestKilledTestLeavesATrace(t *testing.T) {
	if isChild() {
		doomed(t, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		return
	}
	dir := t.TempDir()
	left(t, dir, died(t, dir))
}

// A goroutine that panics ends the whole test process; the engine still says which run it was.
func TestPanickingTestLeavesATrace(t *testing.T) {
	if isChild() {
		doomed(t, func() { go panic("nobody recovers this") })
		time.Sleep(time.Second)
		return
	}
	dir := t.TempDir()
	out := died(t, dir)
	wantIn(t, out, "nobody recovers this")
	left(t, dir, out)
}

// An engine that is killed is a sentence, and the next run has another one.
func TestKilledEngineIsASentence(t *testing.T) {
	for range 3 {
		message := failure(t, simtest.Options{}, func(env *simtest.Env) {
			env.Advance(time.Second)
			if err := syscall.Kill(simtest.EngineProcess(), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			env.Advance(time.Second)
			t.Error("the body continues without an engine")
		})
		wantIn(t, message, "the engine (process ", "has ended: signal: killed", "-simtest.seed=1")
	}
	simtest.Run(t, simtest.Options{Seeds: 2}, func(env *simtest.Env) { env.Advance(time.Second) })
}

// What INFORMERSIM names must be an engine of this version.
func TestEngineThatDoesNotFit(t *testing.T) {
	if isChild() {
		simtest.Run(t, simtest.Options{Seeds: 1}, func(env *simtest.Env) {})
		return
	}
	dir := t.TempDir()
	for name, test := range map[string]struct{ script, want string }{
		"other":  {"exec echo hello", "does not work as an engine of tests"},
		"old":    {"echo 'error: there is no command \"world\"' >&2; exit 2", "it does not work as an engine of tests, perhaps because it is older than this simtest: the engine"},
		"silent": {"exit 3", "has ended: exit status 3"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+test.script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("INFORMERSIM", path)
		wantIn(t, runChild(t), "INFORMERSIM: "+path+": ", test.want)
	}
	t.Setenv("INFORMERSIM", filepath.Join(dir, "nowhere"))
	wantIn(t, runChild(t), "INFORMERSIM: ", "no such file or directory")
}
