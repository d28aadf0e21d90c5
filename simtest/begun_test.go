package simtest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest"
)

// A request is told as the reconcile's whose goroutine sends it, or whose context it has, and as nobody's where neither is known.
func TestWhoseRequests(t *testing.T) {
	sent, by := map[int64]string{}, map[string]string{} // the name of what a request deletes; by that, who sent it
	who := simtest.Property{Name: "Who", Kinds: []string{"request", "sends"}, New: func() simtest.Checker {
		return simtest.Checker{Record: func(r *simtest.Record) *simtest.Violation {
			name, isDelete := strings.CutPrefix(r.Detail, "delete default/")
			switch {
			case r.Kind == "request" && r.Actor == "conn/p" && isDelete:
				sent[r.N], by[name] = name, ""
			case r.Kind == "sends" && r.Detail != "p":
				return &simtest.Violation{Message: "a reconcile is said to send a request of " + r.Detail}
			case r.Kind == "sends":
				by[sent[r.N]] += strings.TrimSuffix(r.Actor+" "+r.Key, " configmaps default/a")
			}
			return nil
		}}
	}}
	logger := simtest.Logger()
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", Properties: []simtest.Property{who}}, func(env *simtest.Env) {
		env.Go("p", func(ctx context.Context) error {
			client, err := kubernetes.NewForConfig(env.RESTConfig("p"))
			if err != nil {
				return err
			}
			remove := func(ctx context.Context, name string) { // nobody has made it
				if err := client.CoreV1().ConfigMaps("default").Delete(ctx, name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
					env.Logf("%s: %v", name, err)
				}
			}
			elsewhere := func(f func()) {
				var wg sync.WaitGroup
				wg.Go(f)
				wg.Wait()
			}
			remove(ctx, "before")
			end := env.Reconciling("mine", "configmaps default/a")
			remove(ctx, "within")
			elsewhere(func() { remove(ctx, "started-within") })
			inner := env.Reconciling("inner", "configmaps default/b")
			remove(ctx, "nested")
			inner(nil)
			remove(ctx, "after-nested")
			end(nil)
			end(nil)
			remove(ctx, "after")
			var of context.Context
			reconcile := func(log klog.Logger) (time.Duration, error) {
				of = klog.NewContext(ctx, log)
				remove(ctx, "logged")
				elsewhere(func() { remove(of, "by-context") })
				elsewhere(func() { remove(ctx, "no-context") })
				return 0, nil
			}
			named := logger.WithValues("controller", "web", "controllerGroup", "", "controllerKind", "ConfigMap", "namespace", "default", "name", "a", "reconcileID", "1")
			controllerRuntime(logger, "1", func() (time.Duration, error) { return reconcile(named) })
			left := env.Reconciling("other", "configmaps default/c")
			elsewhere(func() { remove(of, "left-behind") })
			elsewhere(func() {
				defer env.Reconciling("other", "configmaps default/d")(nil)
				remove(ctx, "at-a-time")
			})
			left(nil)
			<-ctx.Done()
			return nil
		})
		env.Advance(time.Minute)
	})
	want := map[string]string{
		"before": "", "within": "mine/0", "started-within": "", "nested": "inner/0 configmaps default/b", "after-nested": "", "after": "",
		"logged": "web/0", "by-context": "web/0", "no-context": "", "left-behind": "", "at-a-time": "other/1 configmaps default/d",
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, ok := by[name]; !ok || got != want[name] {
			t.Errorf("%s: sent by %q (%v), want %q", name, got, ok, want[name])
		}
	}
	if len(by) != len(want) {
		t.Error(fmt.Sprint("there are other requests: ", slices.Sorted(maps.Keys(by))))
	}
}
