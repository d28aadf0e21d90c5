package website

import (
	"context"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Run runs the manager until ctx ends.
func Run(ctx context.Context, cfg *rest.Config, mistakes Mistakes) error {
	again := true // a process may run several managers of that name, one after another
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     NewScheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &again},
	})
	if err != nil {
		return err
	}
	if err := (&Reconciler{Client: m.GetClient(), Mistakes: mistakes}).SetupWithManager(m); err != nil {
		return err
	}
	return m.Start(ctx)
}
