package kubernetes

import (
	"context"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// RunAutoscaler runs the controller of HorizontalPodAutoscalers until ctx ends, with kube-controller-manager's defaults and the metrics of a caller.
func RunAutoscaler(ctx context.Context, cfg *rest.Config, of metrics.MetricsClient) error {
	const (
		workers                = 5
		syncPeriod, downscale  = 15 * time.Second, 5 * time.Minute
		tolerance              = 0.1
		initializes, getsReady = 5 * time.Minute, 30 * time.Second
	)
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(cfg, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, resyncPeriod)
	c := podautoscaler.NewHorizontalController(ctx, client.CoreV1(), scales, client.AutoscalingV2(), mapper, of, shared.Autoscaling().V2().HorizontalPodAutoscalers(),
		shared.Core().V1().Pods(), syncPeriod, downscale, tolerance, initializes, getsReady)
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	c.Run(ctx, workers)
	return nil
}
