package kueue

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta1"
	kueuealpha "sigs.k8s.io/kueue/apis/kueue/v1alpha1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/job" // registers it
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/webhooks"
)

// NewScheme returns a scheme with the types that the manager uses.
func NewScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), kueue.AddToScheme(s), kueuealpha.AddToScheme(s), configapi.AddToScheme(s)); err != nil {
		panic(err) // they are made to fit
	}
	return s
}

// Run runs the controllers of queues, Workloads and Jobs, the scheduler and the webhooks, until ctx ends, as the manager does with its default configuration, without MultiKueue, topologies, leader election,
// certificates and servers for metrics, visibility and probes. It has serve called with the webhooks' handler.
func Run(ctx context.Context, cfg *rest.Config, serve func(http.Handler)) error {
	s := NewScheme()
	conf := configapi.Configuration{}
	s.Default(&conf)
	conf.Integrations.Frameworks = []string{"batch/job"}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: s, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		WebhookServer: inTheRun{http.NewServeMux(), serve},
		Controller:    config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return err
	}
	cache := schdcache.New(mgr.GetClient())
	queues := qcache.NewManager(mgr.GetClient(), cache)
	frameworks := jobframework.WithEnabledFrameworks(conf.Integrations.Frameworks)
	if err := errors.Join(indexer.Setup(ctx, mgr.GetFieldIndexer()), jobframework.SetupIndexes(ctx, mgr.GetFieldIndexer(), frameworks)); err != nil {
		return err
	}
	if failed, err := core.SetupControllers(mgr, queues, cache, &conf); err != nil {
		return fmt.Errorf("%s: %w", failed, err)
	}
	if failed, err := webhooks.Setup(mgr, configapi.MultiKueueDispatcherModeAllAtOnce); err != nil {
		return fmt.Errorf("webhook of %s: %w", failed, err)
	}
	err = jobframework.SetupControllers(ctx, mgr, ctrl.Log, frameworks, jobframework.WithManagerName(constants.KueueName), jobframework.WithCache(cache), jobframework.WithQueues(queues),
		jobframework.WithManagedJobsNamespaceSelector(labels.Everything()))
	if err != nil {
		return err
	}
	if err := mgr.Add(scheduler.New(queues, cache, mgr.GetClient(), mgr.GetEventRecorderFor(constants.AdmissionName))); err != nil {
		return err
	}
	go queues.CleanUpOnContext(ctx)
	go cache.CleanUpOnContext(ctx)
	return mgr.Start(ctx)
}

// inTheRun is a webhook server without a socket.
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
