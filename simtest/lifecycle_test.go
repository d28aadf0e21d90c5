//go:build unix

package simtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/klog/v2"

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

// died returns the output of a child, which must fail, and waits until its engine has ended. Neither leaves a temporary file. What a test needs of the
// child's process otherwise, it sets.
func died(t *testing.T, dir string, also ...func(*exec.Cmd)) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-test.timeout", "60s")
	cmd.Env, cmd.Dir = asChild(t, "TMPDIR="+temp), dir
	for _, set := range also {
		set(cmd)
	}
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
	waitForEnd(pid)
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	return string(out)
}

// waitForEnd returns when a process has ended. An engine closes its files some moments before it is gone. One that stays makes the test run into
// its time limit.
func waitForEnd(pid int) {
	for syscall.Kill(pid, 0) == nil && !isZombie(pid) {
		time.Sleep(time.Millisecond)
	}
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
	aside(t)
	if isChild() {
		doomed(t, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		return
	}
	dir := t.TempDir()
	left(t, dir, died(t, dir))
}

// busy makes runs until something ends them.
func busy(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 1_000_000, Mix: "storm"}, func(env *simtest.Env) {
		if env.Seed() == 1 {
			fmt.Printf("engine %d\n", simtest.EngineProcess())
		}
		workload(env)
		env.Advance(time.Hour)
	})
}

// stricken is a child that was busy until something was done to it or to its engine.
type stricken struct {
	engine int    // its process
	out    string // what both said
	dir    string
	traces []string
}

// strike starts a busy child in a process group of its own, and does something to it or to its engine at any moment. It returns when both have
// ended, which leave no temporary file.
func strike(t *testing.T, how func(test, engine int) error) (s stricken) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	s.dir = t.TempDir()
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-test.timeout", "60s")
	cmd.Env, cmd.Dir = asChild(t, "TMPDIR="+temp), s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = theirs, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	var out strings.Builder
	for lines := bufio.NewReader(ours); ; { // until nobody has the pipe any more
		line, err := lines.ReadString('\n')
		out.WriteString(line)
		if m := engineLine.FindStringSubmatch(line); m != nil {
			if s.engine, err = strconv.Atoi(m[1]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(rand.N(100 * time.Millisecond))
			if err := how(cmd.Process.Pid, s.engine); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break
		}
	}
	ours.Close()
	s.out = out.String()
	if err := cmd.Wait(); err == nil || s.engine == 0 {
		t.Fatalf("the child passes:\n%s", s.out)
	}
	waitForEnd(s.engine)
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	if s.traces, err = filepath.Glob(filepath.Join(s.dir, "testdata/simtest/*.trace.jsonl")); err != nil {
		t.Fatal(err)
	}
	if said := strings.Contains(s.out, "the trace so far is in "); said != (len(s.traces) == 1) {
		t.Errorf("the traces are %v:\n%s", s.traces, s.out)
	}
	return s
}

// Whenever a test or its engine is killed, nothing hangs and nothing is left but the trace of a run that was in progress.
func TestKilledAtAnyMoment(t *testing.T) {
	aside(t)
	if isChild() {
		busy(t)
		return
	}
	traced, times := 0, 3
	if testing.Short() {
		times = 1
	}
	for range times {
		s := strike(t, func(test, _ int) error { return syscall.Kill(test, syscall.SIGKILL) })
		traced += len(s.traces)
		s = strike(t, func(_, engine int) error { return syscall.Kill(engine, syscall.SIGKILL) })
		traced += len(s.traces)
		wantIn(t, s.out, fmt.Sprintf("the engine (process %d) has ended: signal: killed\n", s.engine), "that was during "+t.Name()+", seed ", "-simtest.seed=")
	}
	t.Logf("%d of %d were killed in the middle of a run", traced, 2*times)
}

// Signals are for the test: those that a terminal sends to its process group do not reach the engine, which outlives it to say what it knows, and
// those that are sent to every process do not end it. A test that somebody interrupts leaves no trace, with which its next run would begin. Go's dump of
// stacks remains what it is, for both.
func TestSignals(t *testing.T) {
	aside(t)
	if isChild() {
		busy(t)
		return
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			continue // as under nohup, and the child would inherit it
		}
		s := strike(t, func(test, engine int) error {
			if sig != syscall.SIGQUIT {
				if err := syscall.Kill(engine, sig); err != nil {
					return err
				}
			}
			return syscall.Kill(-test, sig)
		})
		switch {
		case sig == syscall.SIGQUIT:
			wantIn(t, s.out, "SIGQUIT: quit", "goroutine ")
			if len(s.traces) > 0 {
				wantIn(t, s.out, "the process died during a run: TestSignals, seed ")
			}
		case len(s.traces) > 0 || strings.Contains(s.out, "died"):
			t.Errorf("%v is taken for a death, traces %v:\n%s", sig, s.traces, s.out)
		}
	}
	s := strike(t, func(_, engine int) error { return syscall.Kill(engine, syscall.SIGQUIT) })
	wantIn(t, s.out, "SIGQUIT: quit", "goroutine ", fmt.Sprintf("the engine (process %d) has ended: exit status 2", s.engine))
}

// A goroutine that panics ends the whole test process; the engine still says which run it was.
func TestPanickingTestLeavesATrace(t *testing.T) {
	aside(t)
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

// An engine that is killed is a sentence, the trace of what happened until then is there, and the next run has another engine.
func TestKilledEngineIsASentence(t *testing.T) {
	t.Chdir(t.TempDir())
	times := 3
	if testing.Short() {
		times = 1
	}
	for range times {
		var pid int
		r := &keeper{recorder{name: t.Name()}}
		_ = try(r, simtest.Options{Seeds: 1}, func(env *simtest.Env) {
			env.Create(configMap("a", "1"))
			env.Advance(time.Second)
			klog.Info("soon")
			pid = simtest.EngineProcess()
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			env.Advance(time.Second)
			t.Error("the body continues without an engine")
		})
		file := "testdata/simtest/TestKilledEngineIsASentence-1"
		wantIn(t, strings.Join(r.errors, "\n"), fmt.Sprintf("simtest: the engine (process %d) has ended: signal: killed\n  that was during %s, seed 1\n", pid, t.Name()),
			"the trace so far is in "+file+".trace.jsonl\n", "what it logged is in "+file+".log\n", "see it again\n    "+goTest(), "-simtest.seed=1")
		for suffix, want := range map[string]string{".trace.jsonl": `"key":"configmaps default/a"`, ".log": "] soon\n"} { // order: two files
			data, err := os.ReadFile(file + suffix)
			if err != nil || !strings.Contains(string(data), want) {
				t.Errorf("%s: %v\n%s", suffix, err, data)
			}
			if err := os.Remove(file + suffix); err != nil {
				t.Error(err)
			}
		}
		if syscall.Kill(pid, 0) == nil && !isZombie(pid) {
			t.Errorf("the engine %d is still there", pid)
		}
	}
	simtest.Run(t, simtest.Options{Seeds: 2}, func(env *simtest.Env) { env.Advance(time.Second) })
}

// With -simtest.traces the trace of an engine that is killed, and that of a test which dies, are there, and replace nothing.
func TestTracesOfWhatDies(t *testing.T) {
	if isChild() {
		simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
			env.Create(configMap("a", "1"))
			os.Exit(3)
		})
		return
	}
	dir := t.TempDir()
	for range 2 {
		if out, err := childIn(t, dir, "SIMTEST_TRACES=out"); err == nil {
			t.Errorf("the child passes:\n%s", out)
		}
	}
	t.Chdir(dir)
	setFlag(t, "simtest.traces", "out")
	r := &keeper{recorder{name: t.Name()}}
	tryFind(r, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		env.Create(configMap("a", "1"))
		klog.Info("soon")
		if err := syscall.Kill(simtest.EngineProcess(), syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		env.Advance(time.Second)
	})
	const third = "TestTracesOfWhatDies-1-3"
	wantIn(t, strings.Join(r.errors, "\n"), "the trace so far is in out/"+third+".trace.jsonl\n", "what it logged is in out/"+third+".log\n")
	want := []string{"TestTracesOfWhatDies-1-2.html", "TestTracesOfWhatDies-1-2.trace.jsonl", third + ".log", third + ".trace.jsonl", "TestTracesOfWhatDies-1.html", "TestTracesOfWhatDies-1.trace.jsonl"}
	if names := namesIn(t, "out"); !slices.Equal(names, want) || len(namesIn(t, ".")) != 1 {
		t.Errorf("the files are %v and %v, want %v", names, namesIn(t, "."), want)
	}
}

// An engine that is killed while it shrinks a failure does not take the failure with it.
func TestKilledEngineWhileShrinking(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir()) // where the trace of a shrunk run is kept
	r := &keeper{recorder{name: t.Name()}}
	runs := 0
	_ = try(r, simtest.Options{Seeds: 1, Mix: "storm"}, func(env *simtest.Env) {
		if runs++; runs == 2 {
			if err := syscall.Kill(simtest.EngineProcess(), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		env.Create(configMap("a", "1"))
		env.Eventually("it works", time.Minute, func() error { return errors.New("it does not") })
	})
	wantIn(t, strings.Join(r.errors, "\n"), "has ended: signal: killed\n  that was during TestKilledEngineWhileShrinking, seed 1, while a failure was being shrunk",
		"\n\nThe failure was:\n\n", "FAIL  it works at step ", "-simtest.replay=testdata/simtest/TestKilledEngineWhileShrinking-1.trace.jsonl")
	if _, err := os.Stat("testdata/simtest/TestKilledEngineWhileShrinking-1.trace.jsonl"); err != nil {
		t.Error(err)
	}
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
	for _, relative := range []string{"./nowhere", "nowhere-on-the-path"} {
		t.Setenv("INFORMERSIM", relative)
		wantIn(t, runChild(t), "INFORMERSIM: ", "it is looked for from the test's folder, so name an absolute path")
	}
}
