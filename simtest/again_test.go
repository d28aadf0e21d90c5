//go:build unix

package simtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// endings are the ways in which a program ends or hangs its process.
var endings = map[string]struct {
	how  func()
	says string // the verdict
}{
	"panic": {func() { panic("at the disco") }, "panic: at the disco"},
	"fatal": {func() { var m sync.Mutex; m.Unlock() }, "fatal error: sync: unlock of unlocked mutex"},
	"exit":  {func() { os.Exit(3) }, "the process exited with status 3"},
	"klog":  {func() { klog.Fatal("cannot go on") }, "the process exited with status 255"},
	"hang": {func() {
		for n := 0; ; n++ {
			_ = n
		}
	}, "FAIL  a hot loop: "},
}

// endsAfterBrokenWatch runs a program that ends or hangs its process when a watch has ended before its time, on a goroutine of its own.
func endsAfterBrokenWatch(t *testing.T, how func()) {
	o := simtest.Options{Seeds: 3, Mix: "storm", MutationDetector: simtest.Off}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("p", func(ctx context.Context) error {
			maps := kubernetes.NewForConfigOrDie(env.RESTConfig("p")).CoreV1().ConfigMaps("default")
			go func() {
				for ctx.Err() == nil {
					w, err := maps.Watch(ctx, metav1.ListOptions{})
					if err != nil {
						time.Sleep(time.Second)
						continue
					}
					began := time.Now()
					for range w.ResultChan() { // to its end
					}
					if ctx.Err() == nil && time.Since(began) < time.Minute && os.Getenv(fixedEnv) == "" {
						how()
					}
				}
			}()
			<-ctx.Done()
			return nil
		})
		workload(env)
		env.StopFaults()
		env.Advance(time.Hour)
	})
}

// hangsAfterAMinute runs a program that hangs its process.
func hangsAfterAMinute(t *testing.T, how func()) {
	run := simtest.Run
	if os.Getenv(modeEnv) == "find" {
		run = func(t simtest.TB, o simtest.Options, body func(*simtest.Env)) { simtest.Find(t, o, body) }
	}
	run(t, simtest.Options{Seeds: 3, Mix: "storm", RealQuiescenceTimeout: time.Second}, func(env *simtest.Env) {
		env.Go("p", func(ctx context.Context) error {
			select {
			case <-time.After(time.Minute):
				if os.Getenv(fixedEnv) == "" {
					how()
				}
				<-ctx.Done()
			case <-ctx.Done():
			}
			return nil
		})
		workload(env)
		env.Advance(time.Hour)
	})
}

// endsIn runs this test in a process of its own, which must fail, without a time limit, and returns its output. A failure is shrunk for that long at most.
func endsIn(t *testing.T, dir string, limit time.Duration, env ...string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(t.Name(), "/")
	cmd := exec.Command(exe, "-test.run", "^"+strings.Join(parts, "$/^")+"$", "-simtest.shrink", limit.String())
	cmd.Env, cmd.Dir = asChild(t, env...), dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the child passes:\n%s", out)
	}
	return string(out)
}

// A run that ends or hangs its process is made as simple as any other failure. Its trace repeats, and tells when that is mended.
func TestDyingRunsAreMadeSimpler(t *testing.T) {
	aside(t)
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			aside(t)
			if isChild() && name == "hang" { // each try takes long, so it needs no fault
				hangsAfterAMinute(t, end.how)
				return
			} else if isChild() {
				endsAfterBrokenWatch(t, end.how)
				return
			}
			dir := t.TempDir()
			want := []string{end.says, "1 fault injected (watch-", "shrunk from ", "The run passes if the fault watch-", "step by step in a browser: "}
			if name == "hang" {
				want = []string{end.says, "no faults injected", "shrunk from ", "step by step in a browser: "}
			}
			wantIn(t, endsIn(t, dir, time.Minute), want...)
			wantIn(t, endsIn(t, dir, time.Minute), want...) // the trace repeats
			if name == "hang" {
				out := endsIn(t, dir, time.Minute, "SIMTEST_REPLAY=testdata/simtest/TestDyingRunsAreMadeSimpler_hang-1.trace.jsonl", modeEnv+"=find")
				wantIn(t, out, "TestDyingRunsAreMadeSimpler_hang-1.trace.jsonl is the same run again, step by step")
			}
			if name != "panic" && name != "hang" {
				return
			}
			fixed, err := childIn(t, dir, fixedEnv+"=1")
			if err != nil {
				t.Errorf("%v\n%s", err, fixed)
			}
			wantIn(t, fixed, "TestDyingRunsAreMadeSimpler_"+name+"-1.trace.jsonl passes now")
			page, err := os.ReadFile(filepath.Join(dir, "testdata", "simtest", "TestDyingRunsAreMadeSimpler_panic-1.html"))
			if name == "panic" && (err != nil || !strings.Contains(string(page), "The run passes if the fault watch-")) {
				t.Errorf("the page (%v) lacks the nearest run that passes", err)
			}
		})
	}
}

// Where nobody waits for what is said after the end of a test, as where go test writes to a terminal, the next run of the test makes the failure simpler.
func TestNextRunMakesItSimpler(t *testing.T) {
	aside(t)
	if isChild() {
		endsAfterBrokenWatch(t, endings["panic"].how)
		return
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// run has the child write to a file, and returns what is there when its engine has said the last that it has to say.
	run := func(last string) string {
		file := filepath.Join(dir, "said")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$")
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = asChild(t), dir, f, f
		if err := cmd.Run(); err == nil {
			t.Fatal("the child passes")
		}
		var said []byte
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && !strings.Contains(string(said), last); time.Sleep(20 * time.Millisecond) {
			if said, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
		return string(said)
	}
	first := run("the next run of the test makes that run simpler")
	wantIn(t, first, "panic: at the disco", "the process died during a run: ", "the next run of the test makes that run simpler")
	second := run("\n      hash ")
	wantIn(t, second, "panic: at the disco", "1 fault injected (watch-", "shrunk from ", "The run passes if the fault watch-")
	if strings.Contains(first, "shrunk from ") {
		t.Errorf("the first run makes it simpler, too:\n%s", first)
	}
}

// A test may have several calls of Run and Find: the one that dies is made simpler, and the others are left out meanwhile.
func TestSecondRunThatDies(t *testing.T) {
	aside(t)
	if isChild() {
		runs := 0
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) { runs++; env.Settle() })
		if file := os.Getenv(notesEnv); file != "" && runs > 0 {
			if err := os.WriteFile(file, []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		simtest.Find(t, simtest.Options{Seeds: 1, Mix: "storm", CrashProbability: 0.02, Shrink: 10 * time.Second}, func(env *simtest.Env) {
			starts := 0
			env.Go("p", func(ctx context.Context) error {
				if starts++; starts > 1 {
					go func() { panic(fmt.Sprintf("started again in process %d", os.Getpid())) }()
				}
				<-ctx.Done()
				return nil
			})
			workload(env)
			env.Advance(time.Hour)
		})
		return
	}
	dir, notes := t.TempDir(), filepath.Join(t.TempDir(), "notes")
	out := endsIn(t, dir, time.Minute, notesEnv+"="+notes)
	wantIn(t, out, "shrunk from ", "1 fault injected (crash ×1)", "The run passes if the fault crash on process/p does not happen at step ", "TestSecondRunThatDies-run2-1.trace.jsonl")
	pid, err := os.ReadFile(notes)
	if err != nil || !strings.Contains(out, "panic: started again in process "+string(pid)+"\n") {
		t.Errorf("the first call of Run was made in another process, too: %v, %s\n%s", err, pid, out)
	}
}

// An interrupt ends the search, and the trace is what it was.
func TestInterruptWhileItIsMadeSimpler(t *testing.T) {
	aside(t)
	if isChild() {
		endsAfterBrokenWatch(t, endings["panic"].how)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$")
	cmd.Env, cmd.Dir, cmd.SysProcAttr = asChild(t), t.TempDir(), &syscall.SysProcAttr{Setpgid: true}
	said := &interrupting{cmd: cmd}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err == nil {
		t.Fatalf("the child passes:\n%s", said)
	}
	wantIn(t, said.String(), "other processes of the test make that run simpler", "the trace stays as it is: somebody has interrupted that")
	if strings.Contains(said.String(), "shrunk from ") {
		t.Errorf("it goes on:\n%s", said)
	}
}

// interrupting has what a process group says, and interrupts it when that makes a run simpler.
type interrupting struct {
	strings.Builder
	cmd *exec.Cmd
}

// Write implements io.Writer.
func (s *interrupting) Write(b []byte) (int, error) {
	n, err := s.Builder.Write(b)
	if strings.Contains(string(b), "make that run simpler") {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGINT)
	}
	return n, err
}

// A run that is tried while a failure is shrunk may end the process. The search goes on in others.
func TestShrinkingOutlivesItsProcess(t *testing.T) {
	aside(t)
	if isChild() {
		o := simtest.Options{Seeds: 1, Mix: "storm", Replicas: 2, CrashProbability: 0.01}
		simtest.Run(t, o, func(env *simtest.Env) {
			crashBody(env)
			go panic("not a single crash")
			env.Settle()
		})
		return
	}
	out := endsIn(t, t.TempDir(), time.Minute)
	wantIn(t, out, "panic: not a single crash", "the process died while a failure was being shrunk: ", "The failure was:\n", "other processes of the test make that run simpler")
	_, left, _ := strings.Cut(out, "other processes of the test make that run simpler")
	wantIn(t, left, "FAIL  it is started once at step", "1 fault injected (crash ×1)", "shrunk from ")
}

// So it does if such a run hangs.
func TestShrinkingOutlivesAHang(t *testing.T) {
	if testing.Short() {
		t.Skip("it spins for most of half a minute")
	}
	aside(t)
	if isChild() {
		o := simtest.Options{Seeds: 1, Mix: "storm", Replicas: 2, CrashProbability: 0.01, RealQuiescenceTimeout: time.Second}
		simtest.Run(t, o, func(env *simtest.Env) {
			crashBody(env)
			go wakesUp(func() {
				for n := 0; ; n++ {
					_ = n
				}
			})
			env.Settle()
		})
		return
	}
	wantIn(t, endsIn(t, t.TempDir(), time.Minute), "FAIL  it is started once at step", "1 fault injected (crash ×1)", "shrunk from ")
}

// A program that panics when it is told to end does so at the latest when the run is over. That is shrunk, and repeats.
func TestDeathAsTheRunEnds(t *testing.T) {
	aside(t)
	if isChild() {
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "storm", CrashProbability: -1}, func(env *simtest.Env) {
			env.Go("p", func(ctx context.Context) error {
				<-ctx.Done()
				if os.Getenv(fixedEnv) == "" {
					go panic("closed twice")
				}
				return nil
			})
			workload(env)
			env.Advance(time.Hour)
		})
		return
	}
	dir := t.TempDir()
	for range 2 {
		wantIn(t, endsIn(t, dir, time.Minute), "FAIL  the process died: panic: closed twice", "no faults injected", "shrunk from ")
	}
	fixed, err := childIn(t, dir, fixedEnv+"=1")
	if err != nil {
		t.Errorf("%v\n%s", err, fixed)
	}
	wantIn(t, fixed, "TestDeathAsTheRunEnds-1.trace.jsonl passes now")
}
