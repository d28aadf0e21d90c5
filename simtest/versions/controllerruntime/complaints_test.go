package controllerruntime

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informersim/informersim/simtest"
)

// A reconcile that logs an error, and succeeds, does not go on failing, though it comes late, when it is tried again, and then once more, when its informer lists anew.
func TestNoEndlessErrorSparesComplaints(t *testing.T) {
	complaints := 0
	o := simtest.Options{Mix: "none", Seeds: 3, CrashProbability: -1, AllowLeaks: true, Properties: simtest.WellBehaved()}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("manager", func(ctx context.Context) error {
			options := ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}
			nameAgain(&options)
			m, err := ctrl.NewManager(env.RESTConfig("manager"), options)
			if err != nil {
				return err
			}
			begun := time.Now()
			err = ctrl.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Complete(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				if time.Since(begun) < 30*time.Second {
					return reconcile.Result{}, errors.New("not yet")
				}
				complaints++
				ctrl.LoggerFrom(ctx).Error(errors.New("it has no owner"), "What is this?")
				return reconcile.Result{}, nil
			}))
			if err != nil {
				return err
			}
			return m.Start(ctx)
		})
		env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		env.Advance(25 * time.Second)
	})
	if complaints < 2*o.Seeds {
		t.Errorf("there were %d complaints", complaints)
	}
}
