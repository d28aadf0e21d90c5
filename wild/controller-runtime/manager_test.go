package controllerruntime_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	controllerruntime "github.com/informersim/informersim/wild/controller-runtime"
)

// child is the variable by which a test of this program runs as a process of its own: a goroutine that spins cannot be stopped.
const child = "WILD_CHILD"

// A manager whose caches are filled ends with its context.
func TestManagerEnds(t *testing.T) {
	simtest.Run(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		reconciled := 0
		count := func(context.Context, reconcile.Request) (reconcile.Result, error) {
			reconciled++
			return reconcile.Result{}, nil
		}
		env.Go("manager", func(ctx context.Context) error { return controllerruntime.Run(ctx, env.RESTConfig("manager"), count) })
		for n := range 3 {
			env.Eventually("it works", time.Minute, func() error {
				if reconciled <= n {
					return fmt.Errorf("it has reconciled %d times", reconciled)
				}
				return nil
			})
			if n < 2 {
				env.Restart("manager")
			}
		}
	})
}

// A manager that is told to end while it waits for its caches, which an apiserver does not fill, uses up a processor, and does not end. With -simtest.replay
// this process does the same, to show it.
func TestManagerSpinsWhenItEndsWhileItStarts(t *testing.T) {
	if os.Getenv(child) != "" || flagOf(t, "simtest.replay") != "" {
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1, RealQuiescenceTimeout: 2 * time.Second}, endsWhileItStarts)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$")
	cmd.Dir = t.TempDir() // for the trace that it leaves if none is to be kept
	if traces := flagOf(t, "simtest.traces"); traces != "" {
		if traces, err = filepath.Abs(traces); err != nil {
			t.Fatal(err)
		}
		cmd.Args = append(cmd.Args, "-simtest.traces="+traces)
	}
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("it ended: has controller-runtime been mended?\n%s", out)
	}
	for _, want := range []string{"a manager that is told to end while it starts", "This is controller-runtime's loop, not yours", "manager.(*runnableGroup).Start"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the process does not say %q:\n%s", want, out)
		}
	}
	if flagOf(t, "simtest.traces") != "" {
		m := kept.FindSubmatch(out)
		if m == nil {
			t.Fatalf("no trace is kept:\n%s", out)
		}
		t.Logf("simtest: the finding's trace is in %s", m[1])
	}
	t.Log("found with seed 1: it spins")
}

// kept finds the file in the line that replays a failure.
var kept = regexp.MustCompile(`(?m) -simtest\.replay='?(.+?)'?$`)

// flagOf returns a flag's value.
func flagOf(t *testing.T, name string) string {
	t.Helper()
	f := flag.Lookup(name)
	if f == nil {
		t.Fatalf("there is no flag %s", name)
	}
	return f.Value.String()
}

func endsWhileItStarts(env *simtest.Env) {
	env.Go("manager", func(ctx context.Context) error {
		cfg := env.RESTConfig("manager")
		time.Sleep(time.Second) // until the faults are there
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return controllerruntime.Run(ctx, cfg, func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
	})
	env.Settle()
	env.Inject(
		fault.Fault{Kind: fault.WatchOpen503, Target: "manager", Count: fault.Lasting},
		fault.Fault{Kind: fault.List503, Target: "manager", Count: fault.Lasting},
	)
	env.Advance(2 * time.Minute)
}
