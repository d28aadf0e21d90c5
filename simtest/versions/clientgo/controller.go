package clientgo

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// controller gives each ConfigMap a Secret.
type controller struct {
	client  kubernetes.Interface
	maps    corelisters.ConfigMapLister
	secrets corelisters.SecretLister
	queue   workqueue.RateLimitingInterface
}

// Run runs the controller until ctx ends. One that is careless forgets what a watch missed: it ignores tombstones.
func Run(ctx context.Context, config *rest.Config, careless bool) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	maps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	c := &controller{
		client: client, maps: maps.Lister(), secrets: secrets.Lister(),
		queue: workqueue.NewRateLimitingQueue(workqueue.NewItemExponentialFailureRateLimiter(10*time.Millisecond, time.Minute)),
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
		DeleteFunc: func(obj any) {
			if _, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone && careless {
				return
			}
			c.enqueue(obj)
		},
	}
	for _, informer := range []cache.SharedIndexInformer{maps.Informer(), secrets.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer c.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), maps.Informer().HasSynced, secrets.Informer().HasSynced) {
		return ctx.Err()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c.work(ctx) {
		}
	}()
	<-ctx.Done()
	c.queue.ShutDown()
	<-done
	return nil
}

// enqueue adds an object's key.
func (c *controller) enqueue(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.queue.Add(key)
	}
}

// work handles one key, and reports whether there may be more.
func (c *controller) work(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(ctx, key.(string)); err != nil {
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}

// sync makes the Secret of a key what its ConfigMap wants.
func (c *controller) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	secrets := c.client.CoreV1().Secrets(namespace)
	m, err := c.maps.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		if err := secrets.Delete(ctx, name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	want := map[string][]byte{"v": []byte(m.Data["v"])}
	s, err := c.secrets.Secrets(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: want}, metav1.CreateOptions{})
	case err == nil && string(s.Data["v"]) != m.Data["v"]:
		s = s.DeepCopy()
		s.Data = want
		_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
