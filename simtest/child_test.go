package simtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

type everything struct{ fields.Selector }

func (everything) String() string { return "" }

var badFault = fault.Fault{Kind: "watch-eoff"}

const childEnv = "SIMTEST_TEST_CHILD"

func isChild() bool { return os.Getenv(childEnv) != "" }

// aside has a test that only waits for processes of its own wait beside others of its kind, when those that make runs in this process are done.
func aside(t *testing.T) {
	if !isChild() {
		t.Parallel()
	}
}

// seeds is how many seeds a test takes that must find nothing in any of them: all n, or with -short, as in a clone's `go test ./...`, a quarter.
func seeds(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

// asChild is the environment of a child, which uses the same engine as this process. Building it would take the child moments.
func asChild(t *testing.T, env ...string) []string {
	t.Helper()
	all := append(os.Environ(), childEnv+"=1", "TMPDIR="+t.TempDir()) // what it leaves there goes with the test
	if os.Getenv("INFORMERSIM") == "" {
		path, err := simtest.EnginePath()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, "INFORMERSIM="+path)
	}
	return append(all, env...)
}

// runChild runs this test in a process of its own, which must fail, and returns its output.
func runChild(t *testing.T) string {
	t.Helper()
	return runChildWith(t, asChild(t))
}

// runChildWith is runChild with an environment.
func runChildWith(t *testing.T, env []string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-test.timeout", "60s")
	cmd.Env, cmd.Dir = env, t.TempDir() // where traces of failures are kept
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the child passes:\n%s", out)
	}
	return string(out)
}

// simtestOfChild makes a run that waits for something outside its bubble, and then tries another one.
func simtestOfChild(t *testing.T, wait func()) {
	o := simtest.Options{Seeds: 1, RealQuiescenceTimeout: 200 * time.Millisecond}
	r := &recorder{name: t.Name()}
	_ = try(r, o, func(env *simtest.Env) {
		go wait()
		env.Settle()
	})
	for _, e := range r.errors {
		t.Error(e)
	}
	simtest.Run(t, o, func(env *simtest.Env) { env.Settle() })
}

// Runs in one process are serialized, even under t.Parallel, and do not affect one another; -count repeats them.
func TestParallelAndCount(t *testing.T) {
	if !isChild() {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-test.count=3", "-test.parallel=4", "-test.v")
		cmd.Env = asChild(t)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "--- PASS: TestParallelAndCount (") != 3 {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	var mu sync.Mutex
	took := map[string]int{}
	t.Run("group", func(t *testing.T) {
		for _, name := range []string{"a", "b", "c"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				simtest.Run(t, simtest.Options{Seeds: 3, Mix: "light"}, func(env *simtest.Env) {
					var indexer cache.Indexer
					env.Go("mirror", mirror(env, "mirror", &indexer))
					workload(env)
					env.StopFaults()
					env.Eventually("synced", 25*time.Minute, func() error { return converged(env, indexer) })
					mu.Lock()
					defer mu.Unlock()
					took[fmt.Sprintf("%d at %v", env.Seed(), env.Now())]++
				})
			})
		}
	})
	if len(took) != 3 {
		t.Errorf("three seeds in three tests ended at these times: %v", took)
	}
}
