package simtest_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// A Run that passes logs one line; the time after the faults had stopped is told apart.
func TestRunSaysWhatItDid(t *testing.T) {
	r := &recorder{name: t.Name()}
	try(r, simtest.Options{Seeds: 3, Mix: "none"}, func(env *simtest.Env) {
		env.Sometimes("the first", func() bool { return env.Seed() == 1 })
		env.Create(configMap("a", ""))
		env.Faults(fault.Fault{Kind: fault.Compact})
		env.Advance(10 * time.Minute)
		env.StopFaults()
		env.Advance(time.Hour)
	})
	want := `simtest: 3 seeds, 3 faults (compact 3), 30m of virtual time and 3h after the faults had stopped, "the first" in 1, nothing found (no client of env.RESTConfig has made a request); more: -simtest.seeds=500`
	if len(r.logs) != 1 || r.logs[0] != want || r.failed {
		t.Errorf("failed: %v; the log is\n%s\nwant\n%s", r.failed, strings.Join(r.logs, "\n"), want)
	}
}

// The faults that the ready-made properties inject after the body are none of the mix: who asks for no faults reads of none.
func TestRunCountsNoFaultsOfProperties(t *testing.T) {
	r := &recorder{name: t.Name()}
	try(r, simtest.Options{Seeds: 2, Mix: "none", Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		env.Go("keeps", func(ctx context.Context) error {
			return secretMaker{children: true}.run(ctx, env.RESTConfig("keeps"))
		})
		env.Create(configMap("a", ""))
		env.Advance(time.Minute)
	})
	if len(r.logs) == 0 || !strings.HasPrefix(r.logs[0], "simtest: 2 seeds, no faults, 2m of virtual time and ") || r.failed {
		t.Errorf("failed: %v; the log is\n%s", r.failed, strings.Join(r.logs, "\n"))
	}
}

// A failure is preceded by what was done before it, and a condition that never held by what was done.
func TestFailuresSayWhatPassed(t *testing.T) {
	r := &recorder{name: t.Name()}
	try(r, simtest.Options{Seeds: 9}, func(env *simtest.Env) {
		env.Always("the seed is small", func() error {
			if env.Seed() == 4 {
				return errors.New("it is 4")
			}
			return nil
		})
		env.Settle()
	})
	if len(r.logs) != 1 || !regexp.MustCompile(`^simtest: before this failure: 3 seeds, .* of virtual time, nothing found$`).MatchString(r.logs[0]) {
		t.Errorf("the log is\n%s", strings.Join(r.logs, "\n"))
	}
	wantIn(t, strings.Join(r.errors, "\n"), "FAIL  the seed is small", "seed 4 · fault mix storm · ")

	r = &recorder{name: t.Name()}
	try(r, simtest.Options{Seeds: 2}, func(env *simtest.Env) { env.Sometimes("pigs fly", func() bool { return false }); env.Settle() })
	if log := strings.Join(r.logs, "\n"); !r.failed || !strings.Contains(log, `"pigs fly" in 0; more`) || strings.Contains(log, "nothing found") {
		t.Errorf("failed: %v; the log is\n%s", r.failed, log)
	}
}

// One seed alone, as a failure's line runs it, need not show what some seed must.
func TestOneSeedNeedNotShowEverything(t *testing.T) {
	setFlag(t, "simtest.seed", "2")
	r := &recorder{name: t.Name()}
	try(r, simtest.Options{}, func(env *simtest.Env) {
		env.Sometimes("the first", func() bool { return env.Seed() == 1 })
		env.Settle()
	})
	if log := strings.Join(r.logs, "\n"); r.failed || !strings.Contains(log, `simtest: 1 seed, `) || !strings.Contains(log, `"the first" in 0, nothing found`) || strings.Contains(log, "; more") {
		t.Errorf("failed: %v %v; the log is\n%s", r.failed, r.errors, log)
	}
}

// A failure that is as simple as can be is not said to be shrunk.
func TestWhatIsNotSimplerIsNotCalledSo(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Always("nothing ever", func() error { return errors.New("it is") })
		env.Settle()
	})
	wantIn(t, message, "FAIL  nothing ever at step 1")
	if strings.Contains(message, "shrunk") {
		t.Errorf("it is called shrunk:\n%s", message)
	}
}

// A process that returns an error before it has made a request has not been tested, whatever else holds. Faults are no reason, so Run fails.
func TestRunOfAProcessThatDoesNotWork(t *testing.T) {
	never := func(env *simtest.Env) error { return errors.New("the flag --x is missing") }
	for name, test := range map[string]struct {
		seeds int
		run   func(env *simtest.Env) error
		want  string
	}{
		"in all seeds": {3, never, `simtest: nothing is tested in 3 of 3 seeds: no client of env.RESTConfig makes a request there, and the process "p" returns an error each time: the flag --x is missing`},
		"but the first": {4, func(env *simtest.Env) error {
			if env.Seed() == 1 {
				_, err := kubernetes.NewForConfigOrDie(env.RESTConfig("p")).CoreV1().Pods("").List(env.Context(), metav1.ListOptions{})
				return err
			}
			return never(env)
		}, "nothing is tested in 3 of 4 seeds"},
		"in few": {9, func(env *simtest.Env) error {
			if env.Seed() < 5 {
				return never(env)
			}
			return nil
		}, ""},
		"no error": {2, func(*simtest.Env) error { return nil }, ""},
	} {
		r := &recorder{name: t.Name()}
		try(r, simtest.Options{Seeds: test.seeds}, func(env *simtest.Env) {
			env.Go("p", func(context.Context) error { return test.run(env) })
			env.Advance(time.Minute)
		})
		if r.failed != (test.want != "") || !strings.Contains(strings.Join(r.errors, "\n"), test.want) {
			t.Errorf("%s: failed: %v; want %q in\n%s", name, r.failed, test.want, strings.Join(r.errors, "\n"))
		}
	}
	setFlag(t, "simtest.seed", "2")
	r := &recorder{name: t.Name()}
	if try(r, simtest.Options{}, func(env *simtest.Env) {
		env.Go("p", func(context.Context) error { return never(env) })
		env.Advance(time.Minute)
	}); r.failed {
		t.Errorf("one seed alone need not show anything:\n%s", strings.Join(r.errors, "\n"))
	}
}
