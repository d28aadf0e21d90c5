package service

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	servicecontroller "k8s.io/cloud-provider/controllers/service"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/prometheus/controllers"
)

// workers is the number of Services processed concurrently.
const workers = 2

// Run runs the service controller until ctx ends, as a cloud controller manager does.
func Run(ctx context.Context, cfg *rest.Config, cloud *Cloud) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	c, err := servicecontroller.New(cloud, client, factory.Core().V1().Services(), factory.Core().V1().Nodes(), "cluster", featuregate.NewFeatureGate())
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	c.Run(ctx, workers, controllers.NewControllerManagerMetrics("example"))
	return nil
}
