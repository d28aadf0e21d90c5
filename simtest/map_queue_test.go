package simtest_test

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// mapQueue is what a controller of ConfigMaps begins with: a client, an informer, and a work queue that gets the keys of what the informer tells of.
type mapQueue struct {
	workqueue.RateLimitingInterface
	client  *kubernetes.Clientset
	maps    cache.SharedIndexInformer
	factory informers.SharedInformerFactory
	deaf    atomic.Bool // to updates, as by a filter of generations
}

// newMapQueue starts the informer. The queue ends with ctx, and the informer with shutDown. Whether it is told of deletions is the controller's.
func newMapQueue(ctx context.Context, config *rest.Config, deletions bool) (q *mapQueue, shutDown func(), err error) {
	return newMapQueueIn(ctx, config, metav1.NamespaceAll, deletions)
}

// newMapQueueIn is newMapQueue for an informer of one namespace.
func newMapQueueIn(ctx context.Context, config *rest.Config, namespace string, deletions bool) (q *mapQueue, shutDown func(), err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	q = &mapQueue{RateLimitingInterface: workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter()), client: client, maps: factory.Core().V1().ConfigMaps().Informer(), factory: factory}
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			q.Add(key)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) {
		if !q.deaf.Load() {
			add(obj)
		}
	}}
	if deletions {
		handler.DeleteFunc = add
	}
	if _, err := q.maps.AddEventHandler(handler); err != nil {
		return nil, nil, err
	}
	factory.Start(ctx.Done())
	go func() {
		<-ctx.Done()
		q.ShutDown()
	}()
	return q, factory.Shutdown, nil
}

// watchSecrets calls look with each Secret that comes, changes, before and after, or goes, and returns what lists those of the cache, once that is filled.
func (q *mapQueue) watchSecrets(ctx context.Context, look func(*corev1.Secret)) (list func() []*corev1.Secret, err error) {
	secrets := q.factory.Core().V1().Secrets().Informer()
	each := func(obj any) {
		if gone, is := obj.(cache.DeletedFinalStateUnknown); is {
			obj = gone.Obj
		}
		if s, is := obj.(*corev1.Secret); is {
			look(s)
		}
	}
	if _, err := secrets.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: each, UpdateFunc: func(old, obj any) { each(old); each(obj) }, DeleteFunc: each}); err != nil {
		return nil, err
	}
	q.factory.Start(ctx.Done())
	q.factory.WaitForCacheSync(ctx.Done())
	return func() (all []*corev1.Secret) {
		for _, obj := range secrets.GetStore().List() {
			all = append(all, obj.(*corev1.Secret))
		}
		return all
	}, nil
}

// workOn starts an informer with its factory, and reconciles each object that is added or changed, as it is in the cache, until ctx ends.
func workOn(ctx context.Context, informer cache.SharedIndexInformer, start func(<-chan struct{}), reconcile func(obj any) error) error {
	queue := workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter())
	add := func(obj any) {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
		return err
	}
	start(ctx.Done())
	context.AfterFunc(ctx, queue.ShutDown)
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	work(queue, func(key string) error {
		obj, exists, err := informer.GetStore().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		return reconcile(obj)
	})
	return nil
}

// work reconciles what a queue has until it ends: what fails is tried again.
func work(queue workqueue.RateLimitingInterface, reconcile func(key string) error) {
	for {
		item, down := queue.Get()
		if down {
			return
		}
		if err := reconcile(item.(string)); err != nil {
			queue.AddRateLimited(item)
		} else {
			queue.Forget(item)
		}
		queue.Done(item)
	}
}
