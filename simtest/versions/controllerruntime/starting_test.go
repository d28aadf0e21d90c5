package controllerruntime

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// runIndexed runs a manager that waits until its cache of ConfigMaps is filled before it starts anything, since they are indexed.
func runIndexed(ctx context.Context, config *rest.Config, reconciled func()) error {
	options := ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}
	nameAgain(&options)
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	err = m.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, "value", func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["v"]} })
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(m).Named("indexed").For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		reconciled()
		return reconcile.Result{}, nil
	}))
	if err != nil {
		return err
	}
	return m.Start(ctx)
}

// A manager that is killed while its caches are being filled is gone, as after kill -9, and comes back; one whose caches are being filled when the run ends keeps no other run from being made.
func TestManagerIsKilledWhileItStarts(t *testing.T) {
	simtest.Run(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		reconciled := 0
		run := func(name string) func(context.Context) error {
			return func(ctx context.Context) error {
				config := env.RESTConfig(name)
				time.Sleep(time.Second) // until the faults are there
				return runIndexed(ctx, config, func() { reconciled++ })
			}
		}
		env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		env.Go("manager", run("manager"))
		env.Settle()
		withdraw := env.Inject(
			fault.Fault{Kind: fault.WatchOpen503, Target: "manager", Count: fault.Lasting},
			fault.Fault{Kind: fault.List503, Target: "manager", Count: fault.Lasting},
		)
		env.Advance(time.Duration(2+env.Rand().IntN(30)) * time.Second)
		env.Crash("manager")
		withdraw()
		env.Advance(time.Minute)
		if reconciled > 0 {
			t.Fatalf("a manager that was killed before it had a list has reconciled %d times", reconciled)
		}
		if env.Rand().IntN(2) == 0 {
			env.Go("other", run("other"))
			env.Advance(time.Second)
			return // as another one starts
		}
		env.Restart("manager")
		env.Eventually("it works", 10*time.Minute, func() error {
			if reconciled == 0 {
				return errors.New("it has not reconciled")
			}
			return nil
		})
	})
}

// Crashes at any time are borne, too.
func TestManagerWithIndexCrashes(t *testing.T) {
	simtest.Run(t, simtest.Options{CrashProbability: 1.0 / 16}, func(env *simtest.Env) {
		reconciled := 0
		env.Go("manager", func(ctx context.Context) error {
			return runIndexed(ctx, env.RESTConfig("manager"), func() { reconciled++ })
		})
		for n := range 5 {
			env.Create(configMap(n, n))
			env.Advance(time.Duration(env.Rand().IntN(5000)) * time.Millisecond)
		}
		env.StopFaults()
		env.Eventually("it works", 10*time.Minute, func() error {
			if reconciled < 5 {
				return errors.New("it has not reconciled each ConfigMap")
			}
			return nil
		})
	})
}
