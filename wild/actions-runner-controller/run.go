package actionsrunnercontroller

import (
	"context"
	"errors"
	"time"

	"github.com/actions/actions-runner-controller/apis/actions.github.com/v1alpha1"
	actionsgithubcom "github.com/actions/actions-runner-controller/controllers/actions.github.com"
	"github.com/actions/actions-runner-controller/github/actions"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NewScheme returns a scheme with the types that the manager uses.
func NewScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		panic(err) // they are made to fit
	}
	return s
}

// Run runs the controllers of EphemeralRunnerSets and EphemeralRunners until ctx ends, as the manager does with --auto-scaling-runner-set-only, without leader election and servers for metrics and webhooks. Instead of looking at everything once a minute
// (--sync-period), it does so each resync.
func Run(ctx context.Context, cfg *rest.Config, github actions.MultiClient, resync time.Duration) error {
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: NewScheme(), MetricsBindAddress: "0", SyncPeriod: &resync, ClientDisableCacheFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}},
	})
	if err != nil {
		return err
	}
	err = errors.Join(
		(&actionsgithubcom.EphemeralRunnerReconciler{Client: mgr.GetClient(), Log: ctrl.Log.WithName("EphemeralRunner"), Scheme: mgr.GetScheme(), ActionsClient: github}).SetupWithManager(mgr),
		(&actionsgithubcom.EphemeralRunnerSetReconciler{Client: mgr.GetClient(), Log: ctrl.Log.WithName("EphemeralRunnerSet"), Scheme: mgr.GetScheme(), ActionsClient: github}).SetupWithManager(mgr),
	)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
