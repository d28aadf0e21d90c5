package simtest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// A report tells the time after StopFaults from the rest; a second call changes nothing.
func TestReportTellsConvergingTime(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Advance(2 * time.Minute)
		env.StopFaults()
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually("never", 10*time.Minute, func() error { return errors.New("not yet") })
	})
	wantIn(t, message, " · 13m0s of virtual time, 11m0s of it to converge · ")
	message = failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Eventually("never", 10*time.Minute, func() error { return errors.New("not yet") })
	})
	wantIn(t, message, " · 10m0s of virtual time · ")
}

// A body that reports an error and goes on has failed: the first seed that does is reported, with its trace, and no other one is run.
func TestBodyReportsAnError(t *testing.T) {
	t.Chdir(t.TempDir())
	k := &keeper{recorder{name: "TestReports"}}
	runs := 0
	try(k, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		runs++
		if env.Create(configMap("a", "")); env.Seed() == 3 {
			k.Errorf("a is wrong")
		}
		env.Advance(time.Second)
	})
	if runs != 3 {
		t.Errorf("%d seeds were run, want 3: the third reports an error", runs)
	}
	wantIn(t, strings.Join(k.errors, "\n"), "a is wrong", "seed 3 ", "FAIL  the body failed the test", "commits ADDED of configmaps default/a",
		"-simtest.replay=testdata/simtest/TestReports-3.trace.jsonl")
	wantIn(t, strings.Join(k.logs, "\n"), "before this failure: 2 seeds")
}

// What had failed before a run is not the run's fault.
func TestBodyOfATestThatHasFailed(t *testing.T) {
	r := &recorder{name: t.Name()}
	r.Errorf("earlier")
	runs := 0
	try(r, simtest.Options{Seeds: 3, Mix: "none"}, func(*simtest.Env) { runs++ })
	if runs != 3 || len(r.errors) != 1 {
		t.Errorf("%d seeds were run, want 3; errors: %q", runs, r.errors)
	}
}

// skipper is a recorder whose test is skipped.
type skipper struct {
	recorder
	t *testing.T
}

func (*skipper) Skipped() bool { return true }

// TempDir has failures leave traces.
func (s *skipper) TempDir() string { return s.t.TempDir() }

// A skip is no finding: no trace of it is kept.
func TestBodySkips(t *testing.T) {
	t.Chdir(t.TempDir())
	s := &skipper{recorder{name: t.Name()}, t}
	try(s, simtest.Options{Seeds: 1, Mix: "none"}, func(*simtest.Env) { s.FailNow() })
	wantIn(t, strings.Join(s.errors, "\n"), "FAIL  the body has skipped the test, in the middle of a run", "-simtest.seed=1")
	if _, err := os.Stat("testdata"); err == nil {
		t.Error("a trace is kept")
	}
}

// A report names what a request asks for: the object of a get, and the path where there is no resource.
func TestReportNamesWhatIsAskedFor(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		config := env.RESTConfig("c")
		env.Go("c", func(ctx context.Context) error {
			_, _ = dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).List(ctx, metav1.ListOptions{})
			maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
			_, _ = maps.Get(ctx, "a", metav1.GetOptions{})
			_, _ = maps.Get(ctx, "b", metav1.GetOptions{ResourceVersion: "0"})
			return nil
		})
		env.Eventually("never", time.Minute, func() error { return errors.New("not yet") })
	})
	wantIn(t, message, "get /apis/example.com/v1/widgets: 404", "of configmaps: get default/a\n", `of configmaps: get rv="0" default/b`)
	for _, not := range []string{"bindings", "metadata.name"} {
		if strings.Contains(message, not) {
			t.Errorf("the report has %q, which nobody has asked for:\n%s", not, message)
		}
	}
}

// A system that has not converged, perhaps because of faults, is told from one that cannot.
func TestEventuallyWithFaults(t *testing.T) {
	never := func(mix string, stop bool, more ...fault.Fault) string {
		return failure(t, simtest.Options{Mix: mix, Shrink: -1}, func(env *simtest.Env) {
			env.Inject(append(more, fault.Fault{Kind: fault.Write503, Target: "workload"})...)
			env.Create(configMap("a", ""))
			if stop {
				env.StopFaults()
			}
			env.Eventually("never", time.Minute, func() error { return errors.New("not yet") })
		})
	}
	const goOn = "still not true after 1m0s, with faults that go on (env.StopFaults ends them): not yet"
	wantIn(t, never("default", false), goOn)
	wantIn(t, never("none", false, fault.Fault{Kind: fault.List503, Target: "workload", Count: fault.Lasting}), goOn)
	for _, over := range []string{never("none", false), never("default", true)} { // no other one can come
		wantIn(t, over, "still not true after 1m0s: not yet")
	}
}

// What is wrong with a call of Run is reported at the line of the call.
func TestOptionsThatAreWrongAreTheCallers(t *testing.T) {
	if isChild() {
		simtest.Run(t, simtest.Options{CRDs: []string{"no/such/folder"}}, func(*simtest.Env) {})
	}
	wantIn(t, runChild(t), "outcome_test.go:", "Options.CRDs: stat no/such/folder")
}

// While a fuzz target is fuzzed, its inputs vary under one name. A trace would hold none of them, and be tried with each.
func TestFuzzingKeepsNoTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	setFlag(t, "test.fuzzworker", "true")
	k := &keeper{recorder{name: "FuzzIt"}}
	_ = try(k, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		k.Errorf("the input is wrong")
	})
	message := strings.Join(k.errors, "\n")
	wantIn(t, message, "FAIL  the body failed the test", "-simtest.seed=1")
	if left := namesIn(t, "."); len(left) != 0 || strings.Contains(message, "-simtest.replay") {
		t.Errorf("the folder has %v, and it says\n%s", left, message)
	}
}
