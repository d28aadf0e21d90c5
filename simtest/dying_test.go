package simtest_test

import (
	"context"
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest"
)

// fixedEnv is set in a child whose defect is gone.
const fixedEnv = "SIMTEST_TEST_FIXED"

// childIn runs this test in a process of its own, in a folder of its own.
func childIn(t *testing.T, dir string, env ...string) (out string, err error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(t.Name(), "/")
	cmd := exec.Command(exe, "-test.run", "^"+strings.Join(parts, "$/^")+"$", "-test.v", "-test.timeout", "120s")
	cmd.Env = asChild(t, env...)
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// dies makes runs in which a goroutine of the user's ends the process, a minute after the second write.
func dies(t *testing.T, how func()) {
	simtest.Run(t, simtest.Options{Seeds: 2, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
		env.Create(configMap("a", "0"), configMap("b", "0"))
		go func() {
			select {
			case <-time.After(time.Minute):
			case <-env.Context().Done():
				return
			}
			if env.Seed() == 2 && os.Getenv(fixedEnv) == "" {
				how()
			}
		}()
		env.Advance(time.Hour)
	})
}

// Whatever ends the process during a run, the user learns which run it was, where its trace is, and how to see it again. What Go or the
// program says of the end stays.
func TestADyingProcessNamesItsRun(t *testing.T) {
	aside(t)
	for name, test := range map[string]struct {
		how  func()
		says string
		page string // "" if it does not say what the process has died of
	}{
		"panic":     {func() { panic("at the disco") }, "panic: at the disco", "panic: at the disco"},
		"fatal":     {func() { var m sync.Mutex; m.Unlock() }, "fatal error: sync: unlock of unlocked mutex", "fatal error: the process"},
		"exit":      {func() { os.Exit(3) }, "", ""},
		"log-fatal": {func() { log.Fatal("cannot go on") }, "cannot go on", ""},
		"klog":      {func() { klog.Fatal("cannot go on") }, "what it logged last\n    step 9          1m0s  F dying_test.go:", ""},
	} {
		t.Run(name, func(t *testing.T) {
			aside(t)
			if isChild() {
				dies(t, test.how)
				return
			}
			dir := t.TempDir()
			out, err := childIn(t, dir)
			if err == nil {
				t.Fatalf("the child passes:\n%s", out)
			}
			file := filepath.Join("testdata", "simtest", "TestADyingProcessNamesItsRun_"+strings.ReplaceAll(name, "-", "_")+"-2.trace.jsonl")
			wantIn(t, out, test.says, "the process died during a run: "+t.Name()+", seed 2", "(0s of virtual time)", "had begun: time passes",
				"the trace so far is in ", file, "-run '^TestADyingProcessNamesItsRun$/^"+name+"$' -simtest.replay="+file, "-simtest.seed=2")
			if exits := name == "exit" || name == "log-fatal" || name == "klog"; strings.Contains(out, "it has not panicked: it called os.Exit") != exits {
				t.Errorf("want it to be said that it exited: %v\n%s", exits, out)
			}
			trace, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil || !strings.Contains(string(trace), `"key":"configmaps default/b"`) || strings.Contains(string(trace), "pending") {
				t.Errorf("the trace: %v\n%s", err, trace)
			}
			page, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(file, ".trace.jsonl")+".html"))
			if err != nil {
				t.Fatal(err)
			}
			if test.page == "" {
				wantIn(t, string(page), "it panicked, exited, or was killed")
			} else {
				wantIn(t, string(page), test.page, " github.com/informersim/informersim/simtest_test.TestADyingProcessNamesItsRun.func", "(dying_test.go:", "of a panic or a fatal error")
			}
			// The next run begins with that seed.
			again, err := childIn(t, dir)
			if err == nil {
				t.Fatalf("the child passes:\n%s", again)
			}
			wantIn(t, again, "running its seed again", "seed 2, replaying "+file)
			fixed, err := childIn(t, dir, fixedEnv+"=1")
			if err != nil {
				t.Errorf("%v\n%s", err, fixed)
			}
			wantIn(t, fixed, file+" passes now")
		})
	}
}

// A process that t.FailNow ends has exited: it is called again after the backoff, and can be crashed and restarted, as after an error.
func TestProcessThatEndsItsGoroutine(t *testing.T) {
	for _, how := range []func(){runtime.Goexit, (&recorder{}).FailNow} {
		var at []time.Duration
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
			began := env.Now()
			env.Go("p", func(ctx context.Context) error {
				if at = append(at, env.Now().Sub(began)); len(at) < 4 {
					how()
				}
				<-ctx.Done()
				return nil
			})
			env.StopFaults() // nothing is late
			env.Advance(15 * time.Second)
			env.Restart("p")
			env.Advance(time.Hour)
		})
		want := []time.Duration{0, 10 * time.Second, 15 * time.Second, 30 * time.Second} // the second backoff ends at 30 s
		if !slices.Equal(at, want) {
			t.Errorf("it was started at %v, want %v", at, want)
		}
	}
}

// Of a stored trace that cannot be read, such as a pointer of Git LFS, there is still the seed in its name.
func TestStoredTraceThatIsNone(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("testdata/simtest", 0o755); err != nil {
		t.Fatal(err)
	}
	file := "testdata/simtest/TestStoredTraceThatIsNone-7.trace.jsonl"
	if err := os.WriteFile(file, []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, fails := range []bool{false, true} {
		r := &keeper{recorder{name: t.Name()}}
		seeds := map[uint64]int{}
		try(r, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
			seeds[env.Seed()]++
			env.Create(configMap("a", "0"))
			env.Always("it is not seed 7", func() error {
				if fails && env.Seed() == 7 {
					return errors.New("it is")
				}
				return nil
			})
			env.Advance(time.Second)
		})
		if logs := strings.Join(r.logs, "\n"); r.failed != fails || seeds[7] < 1 || !strings.Contains(logs, file+" cannot be replayed, and the seed in its name is run: ") || !strings.Contains(logs, "this is not a trace") {
			t.Errorf("fails: %v: %v; the seeds are %v; the log is:\n%s", fails, r.errors, seeds, logs)
		}
	}
}

// A trace that simtest stored when it had no engine beside it has its seed run again, if it no longer fits.
func TestTraceOfAnOlderRelease(t *testing.T) {
	t.Chdir(t.TempDir())
	trace := `{"trace":"informersim","version":1,"scenario":"TestTraceOfAnOlderRelease","subject":"simtest","engine":"bubble","strategy":"random","seed":"7",` +
		`"mix":{"name":"none","rates":{}},"options":{"crashes":"0","garbageCollection":"false","history":"0","maxCrashes":"3","package":"x","replicas":"1","watchList":"true"}}
{"s":1,"t":0,"a":"body","k":"body","q":1,"h":"c1f071852d6e6447"}
{"r":"request","a":"conn/workload","key":"configmaps","n":1,"x":"create default/"}
{"end":"violation","steps":1,"hash":"c1f071852d6e6447"}
`
	if err := os.MkdirAll("testdata/simtest", 0o755); err != nil {
		t.Fatal(err)
	}
	file := "testdata/simtest/TestTraceOfAnOlderRelease-7.trace.jsonl"
	if err := os.WriteFile(file, []byte(trace), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &keeper{recorder{name: t.Name()}}
	seeds := map[uint64]int{}
	try(r, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		seeds[env.Seed()]++
		env.Create(configMap("a", "0"))
	})
	if logs := strings.Join(r.logs, "\n"); r.failed || seeds[7] < 2 || seeds[1] != 1 || !strings.Contains(logs, file+" no longer fits the program (step ") || !strings.Contains(logs, "running its seed again") || !strings.Contains(logs, " the trace has ") {
		t.Errorf("%v; the seeds are %v; the log is:\n%s", r.errors, seeds, logs)
	}
}

// A goroutine that never waits is a hot loop: the report has its whole stack, how far the run got, and what woke it. The trace so far is
// kept. A test that runs into its time limit instead names its run, too.
func TestHotLoop(t *testing.T) {
	spin := func() {
		for n := 0; ; n++ {
			_ = n
		}
	}
	body := func(env *simtest.Env) {
		env.Create(configMap("a", "0"))
		go func() {
			time.Sleep(time.Minute)
			wakesUp(spin)
		}()
		env.Advance(time.Hour)
	}
	if isChild() {
		o := simtest.Options{Seeds: 1, Mix: "none", Shrink: -1, RealQuiescenceTimeout: 300 * time.Millisecond}
		if os.Getenv(fixedEnv) == "slow" {
			o.RealQuiescenceTimeout = time.Hour
		}
		simtest.Run(t, o, body)
		return
	}
	dir := t.TempDir()
	out, err := childIn(t, dir)
	if err == nil {
		t.Fatalf("the child passes:\n%s", out)
	}
	file := filepath.Join("testdata", "simtest", "TestHotLoop-1.trace.jsonl")
	wantIn(t, out, "seed 1 · fault mix none", "FAIL  a hot loop: ", "within 300ms of real time", "> github.com/informersim/informersim/simtest_test.wakesUp",
		"dying_test.go:", "That was after 4 steps, at 0s; step 5 had begun: time passes", "commits ADDED of configmaps default/a", "1 write, 1 request",
		"-simtest.replay="+file, "-simtest.seed=1")
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		t.Error(err)
	}

	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []string{"3s", "10s", "60s"} { // the time limit counts from the process's start, and the run must have begun before
		cmd := exec.Command(exe, "-test.run", "^TestHotLoop$", "-test.timeout", limit)
		cmd.Env, cmd.Dir = asChild(t, fixedEnv+"=slow"), t.TempDir()
		late, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("the child passes:\n%s", late)
		}
		if out = string(late); strings.Contains(out, "during a run") {
			break
		}
	}
	wantIn(t, out, "test timed out after ", "the process died during a run: TestHotLoop, seed 1", "had begun: time passes", "-simtest.seed=1")
}

//go:noinline
func wakesUp(spin func()) { spin() }

// A context that was made outside of a run, and for which goroutines of the run wait, belongs to its bubble from then on, and who ends it later ends the process. The failure that
// was found before is told, even if the testing library has not come to print it.
func TestContextFromOutside(t *testing.T) {
	aside(t)
	if isChild() {
		ctx, cancel := context.WithCancel(context.Background())
		_ = try(&recorder{name: t.Name()}, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
			env.Go("p", func(context.Context) error { <-ctx.Done(); return nil })
			env.Advance(time.Second)
		})
		cancel()
		return
	}
	out, err := childIn(t, t.TempDir())
	if err == nil {
		t.Fatalf("the child passes:\n%s", out)
	}
	wantIn(t, out, "fatal error: close of synctest channel", "simtest: the process died after a run, of TestContextFromOutside, seed 1: a context that was made outside of simtest.Run has ended",
		"Give processes the context that env.Go passes them", "The run had failed:", "chan receive in github.com/informersim/informersim/simtest_test.TestContextFromOutside.", "(dying_test.go:")
}
