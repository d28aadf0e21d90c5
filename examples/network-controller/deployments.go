package network

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// WatchDeployments calls set with the replicas of each new or changed Deployment, and unset for each deleted one, until ctx
// ends.
func WatchDeployments(ctx context.Context, cfg *rest.Config, set func(key string, replicas int32), unset func(key string)) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	changed := func(obj any) {
		d := obj.(*appsv1.Deployment)
		replicas := int32(1)
		if d.Spec.Replicas != nil {
			replicas = *d.Spec.Replicas
		}
		set(d.Namespace+"/"+d.Name, replicas)
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(client.AppsV1().RESTClient(), "deployments", "", fields.Everything()),
		ObjectType:    &appsv1.Deployment{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    changed,
			UpdateFunc: func(_, obj any) { changed(obj) },
			DeleteFunc: func(obj any) {
				if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
					unset(key)
				}
			},
		},
	})
	controller.Run(ctx.Done())
	return nil
}
