package simtest_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// The trace has the code, the reason and the message of every answer: a refused write is not "ok".
func TestAnswersAreInTheTrace(t *testing.T) {
	f := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
		env.Go("asker", func(ctx context.Context) error {
			maps := kubernetes.NewForConfigOrDie(env.RESTConfig("asker")).CoreV1().ConfigMaps("default")
			for range 3 { // a fault hits the first
				_, _ = maps.Create(ctx, configMap("a", "0"), metav1.CreateOptions{})
			}
			stale := configMap("a", "1")
			stale.ResourceVersion = "1"
			_, _ = maps.Update(ctx, stale, metav1.UpdateOptions{})
			_, _ = maps.Get(ctx, "nowhere", metav1.GetOptions{})
			_, _ = maps.Get(ctx, "a", metav1.GetOptions{})
			_, _ = maps.Watch(ctx, metav1.ListOptions{})
			return nil
		})
		env.Faults(fault.Fault{Kind: fault.Write500, Target: "asker"})
		env.Settle()
		env.Advance(time.Minute)
		env.Always("fails", func() error { return context.Canceled })
		env.Advance(time.Minute)
	})
	if f == nil {
		t.Fatal("the run passes")
	}
	wantIn(t, string(f.Trace), `"x":"201 Created"`, `"x":"409 AlreadyExists: configmaps \"a\" already exists"`, `"x":"409 Conflict: Operation cannot be fulfilled`,
		`404 NotFound: configmaps \"nowhere\" not found"`, `"x":"500 InternalError: `, `"x":"200 OK"`)
}
