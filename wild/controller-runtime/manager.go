package controllerruntime

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Run runs a manager with an index and one controller, which reconciles ConfigMaps, until ctx ends. The index makes the manager begin with an
// informer.
func Run(ctx context.Context, cfg *rest.Config, reconciler reconcile.Func) error {
	ctrl.SetLogger(klog.Background())
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
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
