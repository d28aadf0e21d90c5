package lws

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	leaderworkersetv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"
)

// NewScheme returns a scheme with the types that the manager uses.
func NewScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), leaderworkersetv1.AddToScheme(s)); err != nil {
		panic(err) // they are made to fit
	}
	return s
}

// Run runs the controllers of LeaderWorkerSets and of their Pods, and the webhooks, until ctx ends, as the manager does, without leader election, certificates and servers for metrics and probes. It has
// serve called with the webhooks' handler.
func Run(ctx context.Context, cfg *rest.Config, serve func(http.Handler)) error {
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: NewScheme(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		WebhookServer: inTheRun{http.NewServeMux(), serve}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	if err := controllers.SetupIndexes(mgr.GetFieldIndexer()); err != nil {
		return err
	}
	err = errors.Join(
		controllers.NewLeaderWorkerSetReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("leaderworkerset")).SetupWithManager(mgr),
		controllers.NewPodReconciler(mgr.GetClient(), mgr.GetScheme(), mgr.GetEventRecorder("leaderworkerset"), nil).SetupWithManager(mgr),
		webhooks.SetupLeaderWorkerSetWebhook(mgr),
		webhooks.NewPodWebhook(nil).Setup(mgr),
	)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

type inTheRun struct {
	*http.ServeMux
	serve func(http.Handler)
}

func (s inTheRun) NeedLeaderElection() bool             { return false }
func (s inTheRun) Register(path string, h http.Handler) { s.Handle(path, h) }
func (s inTheRun) WebhookMux() *http.ServeMux           { return s.ServeMux }
func (s inTheRun) StartedChecker() healthz.Checker      { return healthz.Ping }
func (s inTheRun) Start(ctx context.Context) error {
	s.serve(s.ServeMux)
	<-ctx.Done()
	return nil
}
