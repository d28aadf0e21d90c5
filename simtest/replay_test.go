package simtest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// brokenBody has an invariant that a crash or a lost watch breaks sooner or later: the cache is never empty once it was not.
func brokenBody(broken *bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		var indexer cache.Indexer
		env.Go("mirror", mirror(env, "mirror", &indexer))
		env.Always("the cache has fewer than four", func() error {
			if *broken && indexer != nil && len(indexer.ListKeys()) >= 4 {
				return errors.New("it has four")
			}
			return nil
		})
		workload(env)
		env.Advance(time.Minute)
	}
}

// Traces of tests with names of other scripts lie beside each other: none replaces another's.
func TestTracesOfOtherScripts(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := true
	for _, name := range []string{"ü", "ö"} {
		try(&keeper{recorder{name: "TestX/" + name}}, simtest.Options{Seeds: 3, Mix: "light", Shrink: -1}, brokenBody(&broken))
	}
	for _, name := range []string{"ü", "ö"} {
		if files, err := filepath.Glob("testdata/simtest/TestX_" + name + "-*.trace.jsonl"); err != nil || len(files) != 1 {
			t.Errorf("the traces of %s are %v, %v", name, files, err)
		}
	}
}

// A failure leaves a trace, which the next run replays first; if it no longer fails, the run continues.
func TestFailuresAreReplayedFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	broken := true
	o := simtest.Options{Seeds: 3, Mix: "light"}
	first := &keeper{recorder{name: "TestX/a b"}}
	try(first, o, brokenBody(&broken))
	message := strings.Join(first.errors, "\n")
	wantIn(t, message, "FAIL  the cache has fewer than four at step", "it has four", "what happened",
		"github.com/informersim/informersim/simtest -run '^TestX$/^a b$' -simtest.replay=testdata/simtest/TestX_a_b-1.trace.jsonl", "-simtest.seed=1")
	files, err := filepath.Glob("testdata/simtest/*.jsonl")
	if err != nil || len(files) != 1 {
		t.Fatalf("the traces are %v, %v", files, err)
	}

	second := &keeper{recorder{name: "TestX/a b"}}
	try(second, o, brokenBody(&broken))
	again := strings.Join(second.errors, "\n")
	if again != message {
		t.Errorf("the replay's report:\n%s\nthe run's:\n%s", again, message)
	}

	broken = false
	third := &keeper{recorder{name: "TestX/a b"}}
	try(third, o, brokenBody(&broken))
	if third.failed {
		t.Errorf("a fixed test fails: %v", third.errors)
	}
	wantIn(t, strings.Join(third.logs, "\n"), "TestX_a_b-1.trace.jsonl")

	if err := os.WriteFile(files[0], []byte("no trace\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fourth := &keeper{recorder{name: "TestX/a b"}}
	try(fourth, o, brokenBody(&broken))
	if fourth.failed {
		t.Errorf("a damaged trace fails the test: %v", fourth.errors)
	}
	wantIn(t, strings.Join(fourth.logs, "\n"), "cannot be replayed")
}

// A crashed process is restarted, and nothing that its old life still does reaches a server.
func TestCrashes(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none"}, func(env *simtest.Env) {
		starts, old := 0, 0
		env.Go("p", func(ctx context.Context) error {
			starts++
			c := kubernetes.NewForConfigOrDie(env.RESTConfig("p")).CoreV1().ConfigMaps("default")
			<-ctx.Done()
			if _, err := c.Create(context.Background(), configMap("from-the-dead", ""), metav1.CreateOptions{}); err != nil {
				old++
			}
			return nil
		})
		env.Settle()
		env.Crash("p")
		env.Advance(time.Hour)
		if starts != 1 || old != 1 {
			t.Errorf("it was started %d times, and refused %d times", starts, old)
		}
		env.Restart("p")
		env.Settle()
		if starts != 2 {
			t.Errorf("after Restart it was started %d times", starts)
		}
		env.Restart("p")
		env.Settle()
		if starts != 3 || old != 2 {
			t.Errorf("after another it was started %d times, and refused %d times", starts, old)
		}
		if env.Get(configMap("from-the-dead", "")) == nil {
			t.Error("a crashed process has written")
		}
	})
}

// A process that returns an error is restarted after a growing backoff; one that returns nil is not.
func TestProcessesThatEnd(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 2}, func(env *simtest.Env) {
		var at []time.Duration
		began := env.Now()
		env.Go("fails", func(context.Context) error {
			if at = append(at, env.Now().Sub(began)); len(at) < 4 {
				return errors.New("not yet")
			}
			return nil
		})
		env.StopFaults()
		env.Advance(time.Hour)
		want := []time.Duration{0, 10 * time.Second, 30 * time.Second, 70 * time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("it was started at %v, want %v", at, want)
		}
	})
	wantIn(t, failure(t, simtest.Options{}, func(env *simtest.Env) {
		env.Go("p", func(context.Context) error { panic("at the disco") })
		env.Advance(time.Second)
	}), "NoPanic", "the process p panicked: at the disco", "replay_test.go")
}

func TestSometimes(t *testing.T) {
	seen := func(env *simtest.Env) {
		env.Sometimes("late", func() bool { return env.Now().Year() > 2000 })
		env.Sometimes("early", func() bool { return true })
		env.Advance(time.Second)
	}
	message := failure(t, simtest.Options{Seeds: 2}, seen)
	wantIn(t, message, `"late" (env.Sometimes) never held in 2 seeds`)
	if strings.Contains(message, "early") {
		t.Errorf("a condition that held is reported:\n%s", message)
	}
}

// The body may use clients, sleep and wait by itself; the world runs on meanwhile.
func TestBodyOfItsOwn(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none"}, func(env *simtest.Env) {
		c := kubernetes.NewForConfigOrDie(env.RESTConfig("me")).CoreV1().ConfigMaps("default")
		if _, err := c.Create(env.Context(), configMap("a", "1"), metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		before := env.Now()
		time.Sleep(90 * time.Second)
		if d := env.Now().Sub(before); d != 90*time.Second {
			t.Errorf("90 s took %v", d)
		}
		got, err := c.Get(env.Context(), "a", metav1.GetOptions{})
		if err != nil || got.Data["v"] != "1" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestApply(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 3}, func(env *simtest.Env) {
		env.Apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: '1'}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: node}\n")
		env.Apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {w: '2'}\n")
		got := configMap("a", "")
		if err := env.Get(got); err != nil || got.Data["v"] != "1" || got.Data["w"] != "2" || got.UID == "" {
			t.Errorf("got %+v, %v", got, err)
		}
		env.Delete(got)
		if env.Get(got) == nil {
			t.Error("it exists although it was deleted")
		}
	})
}

// What the body and the processes log stands in the trace, at its step.
func TestLogsAreInTheTrace(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		env.Go("p", func(ctx context.Context) error {
			time.Sleep(time.Second)
			env.Logf("process %d", 1)
			<-ctx.Done()
			return nil
		})
		env.Logf("body %d", 1)
		env.Advance(time.Minute)
		env.Eventually("never", 0, func() error { return errors.New("as expected") })
	})
	if found == nil {
		t.Fatal("the run passes")
	}
	wantIn(t, string(found.Trace), `"body 1"`, `"process 1"`)
}
