package cloudprovider

import (
	"context"
	"net"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/controllers/node"
	"k8s.io/cloud-provider/controllers/nodelifecycle"
	"k8s.io/cloud-provider/controllers/route"
	"k8s.io/component-base/metrics/prometheus/controllers"
	_ "k8s.io/controller-manager/pkg/features/register" // the gates that the controllers ask for
)

// The defaults of a cloud controller manager's flags.
const (
	resyncPeriod      = 12 * time.Hour // --min-resync-period; a manager draws up to twice that
	nodeStatusPeriod  = 5 * time.Minute
	nodeMonitorPeriod = 5 * time.Second
	routePeriod       = 10 * time.Second
	workers           = 1
	clusterName       = "kubernetes"
)

// RunNodes runs the controllers that initialize Nodes and delete those whose instances are gone until ctx ends, as a cloud controller manager does.
func RunNodes(ctx context.Context, cfg *rest.Config, cloud cloudprovider.Interface) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, resyncPeriod)
	nodes := shared.Core().V1().Nodes()
	init, err := node.NewCloudNodeController(nodes, client, cloud, nodeStatusPeriod, workers, workers)
	if err != nil {
		return err
	}
	monitor, err := nodelifecycle.NewCloudNodeLifecycleController(nodes, client, cloud, nodeMonitorPeriod, workers)
	if err != nil {
		return err
	}
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	metrics := controllers.NewControllerManagerMetrics("cloud-controller-manager")
	var running sync.WaitGroup
	running.Go(func() { init.RunWithContext(ctx, metrics) })
	running.Go(func() { monitor.Run(ctx, metrics) })
	running.Wait()
	return nil
}

// RunRoutes runs the controller of routes until ctx ends, as a cloud controller manager does, for Pods with addresses in the given network.
func RunRoutes(ctx context.Context, cfg *rest.Config, routes cloudprovider.Routes, pods *net.IPNet) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, resyncPeriod)
	c, err := route.New(routes, client, shared.Core().V1().Nodes(), clusterName, []*net.IPNet{pods})
	if err != nil {
		return err
	}
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	c.Run(ctx, routePeriod, controllers.NewControllerManagerMetrics("cloud-controller-manager"))
	return nil
}
