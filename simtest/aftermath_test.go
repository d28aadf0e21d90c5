package simtest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// An Eventually that fails after an hour shows what was left to see: the faults and whether they last, what was done last to the object
// that it names, and what was refused. The hour itself is a line.
func TestAftermathOfEventually(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none", Shrink: -1, Replicas: 2}, func(env *simtest.Env) {
		env.Go("controller", func(ctx context.Context) error {
			c := kubernetes.NewForConfigOrDie(env.RESTConfig("controller"))
			f := informers.NewSharedInformerFactory(c, 0)
			_, err := f.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
				for range 3 {
					_, _ = c.CoreV1().ConfigMaps("default").Create(ctx, configMap(o.(*corev1.ConfigMap).Name, ""), metav1.CreateOptions{})
				}
			}})
			f.Start(ctx.Done())
			<-ctx.Done()
			f.Shutdown()
			return err
		})
		env.Go("brief", func(context.Context) error { return nil })
		env.Create(configMap("a", "0"), configMap("b", "0"), configMap("bb", "0"))
		env.Advance(time.Second)
		env.Update(configMap("b", "1"))
		env.Faults(fault.Fault{Kind: fault.ReplicaSkew, Target: "replica/1"})
		env.Eventually("every ConfigMap is done", time.Hour, func() error { return errors.New("default/b is not done") })
	})
	wantIn(t, message, "FAIL  every ConfigMap is done at step", "default/b is not done",
		"processes that do not run", "brief has ended",
		"faults\n", "replica-skew hits replica/1", "still in force: replica-skew of replica/1",
		"the last of each object", "configmaps default/b: MODIFIED by conn/workload at step", "conn/controller was sent MODIFIED at step",
		"requests that failed", `configmaps create default/b: 409 AlreadyExists: configmaps "b" already exists (×3, since step `,
		"× watch of configmaps renewed")
	for _, not := range []string{"configmaps default/bb:", "configmaps default/a:", "ends: timeout"} {
		if strings.Contains(message, not) {
			t.Errorf("the report has %q:\n%s", not, message)
		}
	}
}

// What keeps a goroutine from ending after the failure does not replace it.
func TestFailureBeforeAHotLoop(t *testing.T) {
	if !isChild() {
		out := runChild(t)
		wantIn(t, out, "FAIL  NoLivelock at step 300 ", "and after the failure, when the context was canceled", "a hot loop: ", "> github.com/informersim/informersim/simtest_test.TestFailureBeforeAHotLoop")
		return
	}
	t.Chdir(t.TempDir())
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", MaxSteps: 300, Shrink: -1, RealQuiescenceTimeout: 2 * time.Second}, func(env *simtest.Env) {
		env.Go("deaf", func(ctx context.Context) error {
			maps := kubernetes.NewForConfigOrDie(env.RESTConfig("deaf")).CoreV1().ConfigMaps("default")
			for {
				_, _ = maps.Create(ctx, configMap("a", ""), metav1.CreateOptions{})
			}
		})
		env.Settle()
	})
}

// A body that panics leaves a trace like any other failure.
func TestPanickingBodyLeavesATrace(t *testing.T) {
	t.Chdir(t.TempDir())
	r := &keeper{recorder{name: t.Name()}}
	try(r, simtest.Options{Seeds: 1}, func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		panic("at the disco")
	})
	wantIn(t, strings.Join(r.errors, "\n"), "the body panicked: at the disco", "-simtest.replay=testdata/simtest/TestPanickingBodyLeavesATrace-1.trace.jsonl",
		"step by step in a browser: testdata/simtest/TestPanickingBodyLeavesATrace-1.html")
	page, err := os.ReadFile("testdata/simtest/TestPanickingBodyLeavesATrace-1.html")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(page), "the body panicked: at the disco</h1>", "in github.com/informersim/informersim/simtest_test.TestPanickingBodyLeavesATrace", "(aftermath_test.go:", "commits ADDED of configmaps default/a", "-simtest.seed=1</code>")
}
