package clusterapi

import (
	"context"
	"errors"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Scheme has the types that the controllers use.
var Scheme = runtime.NewScheme()

func init() {
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme} {
		utilruntime.Must(add(Scheme))
	}
}

// The defaults of the manager's flags.
const (
	syncPeriod  = 10 * time.Minute
	gracePeriod = 5 * time.Minute
	workers     = 50
)

// Run runs a manager with the controllers of MachineSets and Machines until ctx ends, with the options of Cluster API's own. The clusters that they make
// cannot be reached. It calls started when its caches are filled.
func Run(ctx context.Context, cfg *rest.Config, started func()) error {
	return run(ctx, cfg, started, func(m ctrl.Manager, clusters clustercache.ClusterCache, o controller.Options) error {
		sets := &machineset.Reconciler{Client: m.GetClient(), APIReader: m.GetAPIReader(), ClusterCache: clusters}
		machines := &machine.Reconciler{
			Client: m.GetClient(), APIReader: m.GetAPIReader(), ClusterCache: clusters, RemoteConditionsGracePeriod: gracePeriod,
		}
		return errors.Join(sets.SetupWithManager(ctx, m, o), machines.SetupWithManager(ctx, m, o))
	})
}

// RunHealthChecks runs one with the controller of MachineHealthChecks.
func RunHealthChecks(ctx context.Context, cfg *rest.Config, started func()) error {
	return run(ctx, cfg, started, func(m ctrl.Manager, clusters clustercache.ClusterCache, o controller.Options) error {
		checks := &machinehealthcheck.Reconciler{Client: m.GetClient(), ClusterCache: clusters}
		return checks.SetupWithManager(ctx, m, o)
	})
}

func run(ctx context.Context, cfg *rest.Config, started func(), setUp func(ctrl.Manager, clustercache.ClusterCache, controller.Options) error) error {
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: Scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true), CacheSyncTimeout: 5 * time.Minute},
		Cache:      cache.Options{SyncPeriod: ptr.To(syncPeriod)},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return err
	}
	if err := index.AddDefaultIndexes(ctx, m); err != nil {
		return err
	}
	if err := setUp(m, clustercache.NewFakeEmptyClusterCache(), controller.Options{MaxConcurrentReconciles: workers}); err != nil {
		return err
	}
	err = m.Add(manager.RunnableFunc(func(context.Context) error {
		started()
		return nil
	}))
	if err != nil {
		return err
	}
	return m.Start(ctx)
}
