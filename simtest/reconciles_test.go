package simtest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest"
)

// controllerRuntime logs what controller-runtime v0.15 and later does about a reconcile.
func controllerRuntime(log klog.Logger, id string, reconcile func() (time.Duration, error)) {
	log = log.WithValues("controller", "web", "controllerGroup", "", "controllerKind", "ConfigMap").
		WithValues("ConfigMap", klog.KRef("default", "a"), "namespace", "default", "name", "a").WithValues("reconcileID", id)
	log.V(5).Info("Reconciling")
	after, err := reconcile()
	switch {
	case err != nil:
		log.Error(err, "Reconciler error")
	case after > 0:
		log.V(5).Info("Reconcile done, requeueing after " + after.String())
	default:
		log.V(5).Info("Reconcile successful")
	}
}

// A failure's story, its page and its counts have the reconciles that a test tells of, by a line of its own or by the logger that it sets.
func TestReconcilesAreReported(t *testing.T) {
	if isChild() {
		logger := simtest.Logger()
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
			env.Create(configMap("a", "0"))
			env.Go("p", func(ctx context.Context) error {
				client, err := kubernetes.NewForConfig(env.RESTConfig("p"))
				if err != nil {
					return err
				}
				end := env.Reconciling("mine", "configmaps default/a")
				time.Sleep(time.Second)
				if _, err := client.CoreV1().ConfigMaps("default").Update(ctx, configMap("a", "1"), metav1.UpdateOptions{}); err != nil {
					return err
				}
				end(errors.New("a conflict"))
				controllerRuntime(logger, "1", func() (time.Duration, error) { time.Sleep(time.Second); return 0, errors.New("no luck") })
				controllerRuntime(logger, "2", func() (time.Duration, error) { return time.Hour, nil })
				controllerRuntime(logger, "3", func() (time.Duration, error) { <-ctx.Done(); return 0, nil })
				return nil
			})
			env.Advance(time.Minute)
			env.Eventually("configmaps default/a is well", time.Minute, func() error { return errors.New("default/a is not") })
		})
		return
	}
	dir := t.TempDir()
	out, err := childIn(t, dir)
	if err == nil {
		t.Fatalf("the child passes:\n%s", out)
	}
	wantIn(t, out, "mine/0       has reconciled configmaps default/a: a conflict", "web/0        has reconciled configmaps default/a: no luck",
		"web/0        has reconciled configmaps default/a: ok, retry in 1h0m0s", "web/0        begins to reconcile configmaps default/a\n", "watch frames, 3 reconciles",
		"configmaps default/a: MODIFIED by conn/p, sent by mine/0 for configmaps default/a at step",
		"conn/p       request 1 of configmaps: update default/a, by mine/0 for configmaps default/a", `E reconciles_test.go`, `"Reconciler error" err="no luck"`)
	if strings.Contains(out, "Reconcile done") {
		t.Errorf("the log has lines of V(5):\n%s", out)
	}
	page, err := os.ReadFile(filepath.Join(dir, "testdata", "simtest", t.Name()+"-1.html"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(page), "reconciles configmaps default/a: no luck", "reconciles configmaps default/a, and has not returned", "3 reconciles",
		`<span class="actor">mine/0</span> <span class="text">updates configmaps default/a at rv=`, `<span class="dim">by mine/0, for configmaps default/a</span></td><td class="ok">`, `by mine/0, for configmaps default/a</span>`)
}

// A program whose loggers name what they reconcile in another way than controller-runtime's (LogConstructor) is understood by the id that each reconcile has all
// the same: the controller is what the logger is called, the object the last value before the id that names one, and its kind that value's key.
func TestReconcilesOfOtherLoggersAreReported(t *testing.T) {
	type request struct{ types.NamespacedName } // controller-runtime's
	of := types.NamespacedName{Namespace: "default", Name: "a"}
	for name, value := range map[string]any{"a name": of, "a reference": klog.KRef("default", "a"), "a request": request{of}, "a request's address": &request{of}} {
		t.Run(name, func(t *testing.T) {
			logger := simtest.Logger().WithName("controllers").WithName("Web")
			found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
				env.Create(configMap("a", "0"))
				env.Go("p", func(ctx context.Context) error {
					logger := logger.WithValues("shard", klog.KRef("", "b"), "configMap", value).WithValues("reconcileID", "1", "other", klog.KRef("default", "b"))
					logger.V(5).Info("Reconciling")
					logger.Error(errors.New("no luck"), "Reconciler error")
					<-ctx.Done()
					return nil
				})
				env.Advance(time.Minute)
				env.Eventually("configmaps default/a is well", time.Minute, func() error { return errors.New("default/a is not") })
			})
			if found == nil {
				t.Fatal("nothing is found")
			}
			wantIn(t, found.Text, "controllers.Web/0 has reconciled configmaps default/a: no luck")
		})
	}
}

// Where such a logger says only how the object is called, as Kueue's do, there is no kind to tell, and the reconcile is known all the same.
func TestReconcilesOfLoggersWithoutKindAreKnown(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1, Properties: simtest.WellBehaved(), Mix: "none", Shrink: -1}, func(env *simtest.Env) {
		env.Go("p", func(ctx context.Context) error {
			for n := 0; ctx.Err() == nil; n++ {
				logger := simtest.Logger().WithName("web-reconciler").WithValues("namespace", "default", "name", "a").WithValues("reconcileID", strconv.Itoa(n))
				logger.V(5).Info("Reconciling")
				logger.V(5).Error(errors.New("no luck"), "Reconciler error")
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
				}
			}
			return nil
		})
		env.Advance(time.Minute)
	})
	if found == nil || found.Property != simtest.NoEndlessError || !strings.HasPrefix(found.Message, "web-reconciler still fails to reconcile object default/a: no luck.") {
		t.Errorf("found %v", found)
	}
}

// A reconcile of nobody or of nothing is refused.
func TestReconcilingNothing(t *testing.T) {
	for _, args := range [][2]string{{"", "pods default/a"}, {"web", ""}, {"web/0", "pods default/a"}} {
		var got any
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
			defer func() { got = recover() }()
			env.Reconciling(args[0], args[1])
		})
		if text, _ := got.(string); !strings.Contains(text, "needs a controller's name, without a slash, and an object") {
			t.Errorf("%q: it panics with %v", args, got)
		}
	}
}
