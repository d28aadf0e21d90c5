package frameworks

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/informersim/informersim/simtest"
)

// failingEnv is set in a child, which has specs that fail.
const failingEnv = "SIMTEST_TEST_FAILING_SPECS"

var _ = ginkgo.Describe("wrong", func() {
	if os.Getenv(failingEnv) == "" {
		return
	}
	run := func(body func(env *simtest.Env)) func() {
		return func() {
			simtest.Run(ginkgo.GinkgoT(), simtest.Options{Mix: "none", Seeds: 3}, func(env *simtest.Env) { env.Create(configMap("a", "1")); body(env) })
		}
	}
	never := func() { gomega.Expect("one").To(gomega.Equal("two")) }
	ginkgo.It("in the body", run(func(env *simtest.Env) {
		if env.Seed() == 2 {
			never()
		}
	}))
	ginkgo.It("in a process", run(func(env *simtest.Env) {
		env.Go("p", func(context.Context) error { never(); return nil })
		env.Advance(time.Minute)
	}))
	ginkgo.It("in an invariant", run(func(env *simtest.Env) {
		env.Always("one is two", func() error { never(); return nil })
		env.Advance(time.Minute)
	}))
	ginkgo.It("where nobody sees it", run(func(env *simtest.Env) {
		done := make(chan bool)
		go func() { defer close(done); defer ginkgo.GinkgoRecover(); never() }()
		<-done
		env.Eventually("never", time.Minute, func() error { return os.ErrNotExist })
	}))
	ginkgo.It("behind GinkgoRecover", run(func(env *simtest.Env) {
		env.Go("p", func(context.Context) error {
			done := make(chan bool)
			go func() { defer close(done); defer ginkgo.GinkgoRecover(); never() }()
			<-done
			return nil
		})
		env.Advance(time.Minute)
	}))
	ginkgo.It("by no means", run(func(*simtest.Env) { ginkgo.Skip("not today") }))
	ginkgo.It("on a goroutine of its own", func() {
		o := simtest.Options{Seeds: 1, Mix: "storm", CrashProbability: 0.02}
		simtest.Run(ginkgo.GinkgoT(), o, func(env *simtest.Env) {
			starts := 0
			env.Go("p", func(ctx context.Context) error {
				if starts++; starts > 1 {
					go func() { panic("started again") }()
				}
				<-ctx.Done()
				return nil
			})
			for n := range 20 {
				env.Create(configMap("m"+strconv.Itoa(n), "1"))
			}
			env.Advance(time.Hour)
		})
	})
	ginkgo.It("by a property", run(func(env *simtest.Env) {
		env.Eventually("never", time.Minute, func() error { return os.ErrNotExist })
	}))
})

var built struct {
	once sync.Once
	path string
	err  error
}

// engine builds the engine once for all processes of specs: each would ask the go command whether its own is still the same, which takes as long as its runs.
func engine(t *testing.T) string {
	if path := os.Getenv("INFORMERSIM"); path != "" {
		return path
	}
	built.once.Do(func() {
		var dir string
		if dir, built.err = os.MkdirTemp("", "informersim-"); built.err != nil {
			return
		}
		built.path = filepath.Join(dir, "informersim-apiserver")
		if out, err := exec.Command("go", "build", "-C", "../..", "-ldflags=-w", "-o", built.path, "./cmd/informersim-apiserver").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// specs runs specs of those in a process of their own, as go test does in a user's module, and returns its output. The caller knows whether one fails.
func specs(t *testing.T, dir string, fail bool, args ...string) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"-test.run", "^TestSpecs$", "-ginkgo.no-color"}, args...)...)
	cmd.Env, cmd.Dir = append(os.Environ(), failingEnv+"=1", "INFORMERSIM="+engine(t)), dir
	out, err := cmd.CombinedOutput()
	if failed := err != nil; failed != fail {
		t.Fatalf("do the specs fail: %v, want %v\n%s", failed, fail, out)
	}
	return string(out)
}

// An assertion that no Run can see fails the spec. What to do is told.
func TestSpecThatRecovers(t *testing.T) {
	const name = "wrong behind GinkgoRecover"
	out := specs(t, t.TempDir(), true, "-ginkgo.focus", name+"$")
	for _, want := range []string{"to equal\n", "simtest: Run had found nothing when it returned", "run the seeds one by one", "-ginkgo.focus='" + name + "$' -simtest.seed=1 (then 2, and so on)"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// A spec that is skipped in a run is no finding: it is told where to skip, and there is no trace.
func TestSpecThatSkips(t *testing.T) {
	dir := t.TempDir()
	out := specs(t, dir, false, "-ginkgo.v", "-ginkgo.focus", "wrong by no means$")
	for _, want := range []string{"not today", "0 Failed", "the body has skipped the test, in the middle of a run: skip it before simtest.Run"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "testdata")); err == nil {
		t.Error("a trace is kept")
	}
}

// Ginkgo keeps the first failure of a spec only. What broke the run, its seed, and what repeats it are told whatever failed before.
func TestSpecsThatFail(t *testing.T) {
	for name, test := range map[string]struct {
		want []string
		once bool // nothing has failed before, so the message has what broke, too
	}{
		"in the body":          {[]string{"to equal\n", "seed 2 ·", "FAIL  the body failed the test", "commits ADDED of configmaps default/a"}, false},
		"in a process":         {[]string{"to equal\n", "FAIL  the body failed the test"}, false},
		"in an invariant":      {[]string{"to equal\n", "FAIL  one is two at step", "it called t.FailNow"}, false},
		"where nobody sees it": {[]string{"to equal\n", "FAIL  never at step"}, false},
		"by a property":        {[]string{"FAIL  never at step", "still not true after 1m0s", "The whole report is in the output of the spec."}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := specs(t, dir, true, "-ginkgo.focus", "wrong "+name+"$")
			stored, err := filepath.Glob(filepath.Join(dir, "testdata", "simtest", "*.trace.jsonl"))
			if err != nil || len(stored) != 1 {
				t.Fatalf("the traces are %v, %v; want one\n%s", stored, err, out)
			}
			focus := " -ginkgo.focus='wrong " + name + "$' -simtest."
			for _, want := range append(test.want, "what happened", focus+"replay=testdata/simtest/"+filepath.Base(stored[0]), focus+"seed=") {
				if !strings.Contains(out, want) {
					t.Errorf("the output lacks %q:\n%s", want, out)
				}
			}
			if n := strings.Count(out, "what happened\n"); n != 1 {
				t.Errorf("the report is there %d times:\n%s", n, out)
			}
			if strings.Contains(out, "Your Test Panicked") {
				t.Errorf("a failed assertion is taken for a panic:\n%s", out)
			}
			// The command that is printed makes the run again.
			again := specs(t, dir, true, "-ginkgo.focus", "wrong "+name+"$", "-simtest.replay", stored[0])
			if !strings.Contains(again, test.want[len(test.want)-1]) {
				t.Errorf("the replay says:\n%s", again)
			}
		})
	}
}

// A spec that ends its process is made simpler in others, which run only that.
func TestSpecThatDies(t *testing.T) {
	out := specs(t, t.TempDir(), true, "-ginkgo.focus", "wrong on a goroutine of its own$")
	for _, want := range []string{"panic: started again", "the process died during a run: wrong on a goroutine of its own, seed 1", "FAIL  the process died: panic: started again", "shrunk from ", "The run passes if the fault crash on process/p does not happen at step "} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}
