package agentsandbox

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/agent-sandbox/api/v1alpha1"
	"sigs.k8s.io/agent-sandbox/controllers"
	extensionsv1alpha1 "sigs.k8s.io/agent-sandbox/extensions/api/v1alpha1"
	extensions "sigs.k8s.io/agent-sandbox/extensions/controllers"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// NewScheme returns a scheme with the types that the manager uses.
func NewScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), v1alpha1.AddToScheme(s), extensionsv1alpha1.AddToScheme(s)); err != nil {
		panic(err) // they are made to fit
	}
	return s
}

// Run runs the controllers of Sandboxes, SandboxClaims and SandboxWarmPools until ctx ends, as the manager does with --extensions, without leader election and servers for metrics and probes.
func Run(ctx context.Context, cfg *rest.Config) error {
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: NewScheme(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	err = errors.Join(
		(&controllers.SandboxReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr),
		(&extensions.SandboxClaimReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr),
		(&extensions.SandboxWarmPoolReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr),
	)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
