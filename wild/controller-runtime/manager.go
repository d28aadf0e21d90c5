package controllerruntime

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// newManager returns a manager that is the only one of its process to each run.
func newManager(cfg *rest.Config) (ctrl.Manager, error) {
	ctrl.SetLogger(klog.Background())
	return ctrl.NewManager(cfg, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
}

// Run runs a manager with an index and one controller, which reconciles ConfigMaps, until ctx ends. The index makes the manager begin with an
// informer.
func Run(ctx context.Context, cfg *rest.Config, reconciler reconcile.Func) error {
	m, err := newManager(cfg)
	if err != nil {
		return err
	}
	byName := func(o client.Object) []string { return []string{o.GetName()} }
	if err := m.GetFieldIndexer().IndexField(ctx, &corev1.ConfigMap{}, "name", byName); err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		return err
	}
	return m.Start(ctx)
}

// RunOfGenerations runs a manager with one controller, which reconciles Deployments whose generation has changed, or of which one of the others says so,
// until ctx ends.
func RunOfGenerations(ctx context.Context, cfg *rest.Config, reconciler func(client.Client) reconcile.Func, others ...predicate.Predicate) error {
	m, err := newManager(cfg)
	if err != nil {
		return err
	}
	changed := predicate.Or(append(others, predicate.Predicate(predicate.GenerationChangedPredicate{}))...)
	if err := ctrl.NewControllerManagedBy(m).For(&appsv1.Deployment{}, builder.WithPredicates(changed)).Complete(reconciler(m.GetClient())); err != nil {
		return err
	}
	return m.Start(ctx)
}
