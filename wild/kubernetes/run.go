package kubernetes

import (
	"context"
	"sync"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Setup makes a controller, which announces to the factory what it looks at, and returns what runs it until its context ends.
type Setup func(ctx context.Context, shared informers.SharedInformerFactory, client kubernetes.Interface) (run func(context.Context), err error)

// Run runs controllers until ctx ends, with informers that they share, as kube-controller-manager does.
func Run(ctx context.Context, cfg *rest.Config, controllers ...Setup) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, resyncPeriod)
	var runs []func(context.Context)
	for _, setup := range controllers {
		run, err := setup(ctx, shared, client)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	shared.Start(ctx.Done())
	defer shared.Shutdown()
	var running sync.WaitGroup
	for _, run := range runs {
		running.Go(func() { run(ctx) })
	}
	running.Wait()
	return nil
}
