package kubernetes

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/quota/v1/install"
)

// manager is what kube-controller-manager has for the controllers of whatever a cluster serves.
type manager struct {
	client     kubernetes.Interface
	objects    metadata.Interface
	shared     informers.SharedInformerFactory
	ofMetadata metadatainformer.SharedInformerFactory
}

func connect(cfg *rest.Config) (*manager, error) {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &manager{
		client: client, objects: objects,
		shared: informers.NewSharedInformerFactory(client, resyncPeriod), ofMetadata: metadatainformer.NewSharedInformerFactory(objects, resyncPeriod),
	}, nil
}

// run runs the loops of a controller until all have ended, with the informers that it has asked for. It closes started once these have started.
func (m *manager) run(ctx context.Context, started chan struct{}, loops ...func()) {
	var running sync.WaitGroup
	for _, loop := range loops {
		running.Go(loop)
	}
	m.shared.Start(ctx.Done())
	m.ofMetadata.Start(ctx.Done())
	close(started)
	running.Wait()
	m.shared.Shutdown()
	m.ofMetadata.Shutdown()
}

// RunGarbageCollector runs the garbage collector until ctx ends, with kube-controller-manager's defaults, for the kinds that watched names: all others are
// ignored, as kube-controller-manager's configuration allows (gcIgnoredResources), so that a run does not consist of watches.
func RunGarbageCollector(ctx context.Context, cfg *rest.Config, watched ...schema.GroupResource) error {
	const workers, syncPeriod = 20, 30 * time.Second
	m, err := connect(cfg)
	if err != nil {
		return err
	}
	ignored := garbagecollector.DefaultIgnoredResources()
	all, err := discovery.ServerPreferredResources(m.client.Discovery())
	if err != nil {
		return err
	}
	for _, list := range all {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			ignored[schema.GroupResource{Group: gv.Group, Resource: r.Name}] = struct{}{}
		}
	}
	for _, r := range watched {
		delete(ignored, r)
	}
	started := make(chan struct{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(m.client.Discovery()))
	gc, err := garbagecollector.NewGarbageCollector(ctx, m.client, m.objects, mapper, ignored, informerfactory.NewInformerFactory(m.shared, m.ofMetadata), started)
	if err != nil {
		return err
	}
	m.run(ctx, started, func() { gc.Run(ctx, workers, syncPeriod) }, func() { gc.Sync(ctx, m.client.Discovery(), syncPeriod) })
	return nil
}

// RunNamespaces runs the controller that empties namespaces which are deleted until ctx ends, with kube-controller-manager's defaults.
func RunNamespaces(ctx context.Context, cfg *rest.Config) error {
	const workers, syncPeriod = 10, 5 * time.Minute
	m, err := connect(cfg)
	if err != nil {
		return err
	}
	c := namespace.NewNamespaceController(ctx, m.client, m.objects, m.client.Discovery().ServerPreferredNamespacedResources,
		m.shared.Core().V1().Namespaces(), syncPeriod, corev1.FinalizerKubernetes)
	m.run(ctx, make(chan struct{}), func() { c.Run(ctx, workers) })
	return nil
}

// RunQuotas runs the controller that counts what ResourceQuotas limit until ctx ends, with kube-controller-manager's defaults.
func RunQuotas(ctx context.Context, cfg *rest.Config) error {
	const workers, quotaPeriod, syncPeriod = 5, 5 * time.Minute, 30 * time.Second
	m, err := connect(cfg)
	if err != nil {
		return err
	}
	quotas, err := install.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(m.shared.ForResource), m.shared)
	if err != nil {
		return err
	}
	started, discover := make(chan struct{}), m.client.Discovery().ServerPreferredNamespacedResources
	c, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient: m.client.CoreV1(), ResourceQuotaInformer: m.shared.Core().V1().ResourceQuotas(), ResyncPeriod: controller.StaticResyncPeriodFunc(quotaPeriod),
		InformerFactory: informerfactory.NewInformerFactory(m.shared, m.ofMetadata), ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(resyncPeriod),
		DiscoveryFunc: discover, IgnoredResourcesFunc: quotas.IgnoredResources, InformersStarted: started,
		Registry: generic.NewRegistry(quotas.Evaluators()), UpdateFilter: install.DefaultUpdateFilter(),
	})
	if err != nil {
		return err
	}
	m.run(ctx, started, func() { c.Run(ctx, workers) }, func() { c.Sync(ctx, discover, syncPeriod) })
	return nil
}
