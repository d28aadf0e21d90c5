package network

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// ListNodes calls report once with the names of all nodes in a synced cache.
func ListNodes(ctx context.Context, cfg *rest.Config, report func(names []string)) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	nodes := factory.Core().V1().Nodes()
	lister, informer := nodes.Lister(), nodes.Informer()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the cache did not sync")
	}
	all, err := lister.List(labels.Everything())
	if err != nil {
		return err
	}
	var names []string
	for _, n := range all {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	report(names)
	return nil
}
