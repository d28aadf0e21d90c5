//go:build unix

package simtest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// interruptGroup sends a signal to this process and all others of its group, as a terminal does.
func interruptGroup(s syscall.Signal) { _ = syscall.Kill(0, s) }

// untilKilled keeps the run from going on while the signal is on its way to some thread of this process.
func untilKilled() {
	if r, _, err := os.Pipe(); err == nil {
		_, _ = r.Read(make([]byte, 1))
	}
}

// interrupted is died, with the child in a process group of its own.
func interrupted(t *testing.T, dir string) string {
	t.Helper()
	return died(t, dir, func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} })
}

// A test that somebody ends, by Ctrl-C or as timeout(1) does, says where it was, and leaves nothing with which the next run would begin, unless traces
// of all kinds are wanted.
func TestInterruptedTestHasFoundNothing(t *testing.T) {
	if isChild() {
		doomed(t, func() {
			interruptGroup(syscall.SIGTERM)
			untilKilled()
		})
		return
	}
	dir := t.TempDir()
	out := interrupted(t, dir)
	wantIn(t, out, "the test was interrupted (signal: terminated) during a run: TestInterruptedTestHasFoundNothing, seed 1\n  it had taken ", " of virtual time)\n",
		"had begun: time passes", "see it again\n    "+goTest(), "-simtest.seed=1")
	if names := namesIn(t, dir); len(names) > 0 {
		t.Errorf("%v are left:\n%s", names, out)
	}
	t.Setenv("SIMTEST_TRACES", "out")
	wantIn(t, interrupted(t, dir), "/out/TestInterruptedTestHasFoundNothing-1.trace.jsonl\n")
	if names := namesIn(t, filepath.Join(dir, "out")); len(names) != 2 {
		t.Errorf("the files are %v, want the trace and its page", names)
	}
	t.Setenv("SIMTEST_REPLAY", "out/TestInterruptedTestHasFoundNothing-1.trace.jsonl")
	wantIn(t, interrupted(t, dir), "the test was interrupted (signal: terminated) as it replayed out/TestInterruptedTestHasFoundNothing-1.trace.jsonl: ")
}

// A test that handles the signal itself, as Ginkgo does, is told once, and ends as it likes.
func TestInterruptIsForOtherHandlers(t *testing.T) {
	if isChild() {
		heard := make(chan os.Signal, 10)
		signal.Notify(heard, os.Interrupt)
		doomed(t, func() {
			interruptGroup(syscall.SIGINT)
			<-heard
			fmt.Printf("heard it %d times more\n", len(heard))
			os.Exit(4)
		})
		return
	}
	wantIn(t, interrupted(t, t.TempDir()), "heard it 0 times more\n", "the test was interrupted (signal: interrupt) during a run: ")
}

// A failure that was being shrunk when somebody ends the test is told, and its trace is kept: the next run begins with it.
func TestInterruptedSearchKeepsTheFailure(t *testing.T) {
	if isChild() {
		runs := 0
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "storm"}, func(env *simtest.Env) {
			fmt.Printf("engine %d\n", simtest.EngineProcess())
			workload(env)
			if runs++; runs == 2 {
				interruptGroup(syscall.SIGINT)
				untilKilled()
			}
			env.StopFaults()
			env.Eventually("nothing is created", time.Minute, func() error { return errors.New("something is") })
		})
		return
	}
	dir := t.TempDir()
	wantIn(t, interrupted(t, dir), "the test was interrupted (signal: interrupt) while a failure was being shrunk: TestInterruptedSearchKeepsTheFailure, seed 1\n", "The failure was:\n",
		"FAIL  nothing is created at step", "something is\n", "-simtest.replay=testdata/simtest/TestInterruptedSearchKeepsTheFailure-1.trace.jsonl")
	if _, err := os.Stat(filepath.Join(dir, "testdata/simtest/TestInterruptedSearchKeepsTheFailure-1.trace.jsonl")); err != nil {
		t.Error(err)
	}
}
