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

// RunGarbageCollector runs the garbage collector until ctx ends, with kube-controller-manager's defaults, for the kinds that watched names: all others are
// ignored, as kube-controller-manager's configuration allows (gcIgnoredResources), so that a run does not consist of watches.
func RunGarbageCollector(ctx context.Context, cfg *rest.Config, watched ...schema.GroupResource) error {
	const workers, syncPeriod = 20, 30 * time.Second
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(cfg)
	if err != nil {
		return err
	}
	ignored := garbagecollector.DefaultIgnoredResources()
	all, err := discovery.ServerPreferredResources(client.Discovery())
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
	shared, ofMetadata := informers.NewSharedInformerFactory(client, resyncPeriod), metadatainformer.NewSharedInformerFactory(objects, resyncPeriod)
	started := make(chan struct{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	gc, err := garbagecollector.NewGarbageCollector(ctx, client, objects, mapper, ignored, informerfactory.NewInformerFactory(shared, ofMetadata), started)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { gc.Run(ctx, workers, syncPeriod) })
	running.Go(func() { gc.Sync(ctx, client.Discovery(), syncPeriod) })
	shared.Start(ctx.Done())
	ofMetadata.Start(ctx.Done())
	close(started)
	running.Wait()
	shared.Shutdown()
	ofMetadata.Shutdown()
	return nil
}

// RunNamespaces runs the controller that empties namespaces which are deleted until ctx ends, with kube-controller-manager's defaults.
func RunNamespaces(ctx context.Context, cfg *rest.Config) error {
	const workers, syncPeriod = 10, 5 * time.Minute
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(cfg)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, resyncPeriod)
	c := namespace.NewNamespaceController(ctx, client, objects, client.Discovery().ServerPreferredNamespacedResources,
		shared.Core().V1().Namespaces(), syncPeriod, corev1.FinalizerKubernetes)
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	c.Run(ctx, workers)
	return nil
}

// RunQuotas runs the controller that counts what ResourceQuotas limit until ctx ends, with kube-controller-manager's defaults.
func RunQuotas(ctx context.Context, cfg *rest.Config) error {
	const workers, quotaPeriod, syncPeriod = 5, 5 * time.Minute, 30 * time.Second
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(cfg)
	if err != nil {
		return err
	}
	shared, ofMetadata := informers.NewSharedInformerFactory(client, resyncPeriod), metadatainformer.NewSharedInformerFactory(objects, resyncPeriod)
	quotas, err := install.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(shared.ForResource), shared)
	if err != nil {
		return err
	}
	started, discover := make(chan struct{}), client.Discovery().ServerPreferredNamespacedResources
	c, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient: client.CoreV1(), ResourceQuotaInformer: shared.Core().V1().ResourceQuotas(), ResyncPeriod: controller.StaticResyncPeriodFunc(quotaPeriod),
		InformerFactory: informerfactory.NewInformerFactory(shared, ofMetadata), ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(resyncPeriod),
		DiscoveryFunc: discover, IgnoredResourcesFunc: quotas.IgnoredResources, InformersStarted: started,
		Registry: generic.NewRegistry(quotas.Evaluators()), UpdateFilter: install.DefaultUpdateFilter(),
	})
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx, workers) })
	running.Go(func() { c.Sync(ctx, discover, syncPeriod) })
	shared.Start(ctx.Done())
	ofMetadata.Start(ctx.Done())
	close(started)
	running.Wait()
	shared.Shutdown()
	ofMetadata.Shutdown()
	return nil
}
