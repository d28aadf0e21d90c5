package network

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// A Provider has the real networks, such as a cloud's API.
type Provider interface {
	// Ensure creates or updates the network of key to match spec.
	Ensure(key string, spec Spec) error
	// Remove removes the network of key, if it exists.
	Remove(key string) error
	// Keys returns the keys of the existing networks.
	Keys() []string
}

// Workers is the number of keys processed concurrently.
const Workers = 2

// Controller makes networks match the Network objects.
type Controller struct {
	provider Provider
	factory  dynamicinformer.DynamicSharedInformerFactory
	informer cache.SharedIndexInformer
	lister   cache.GenericLister
	queue    workqueue.TypedRateLimitingInterface[string]
	mistakes Mistakes
}

// Mistakes are common mistakes in controllers. The zero value has none.
type Mistakes struct {
	// IgnoreTombstones: the delete handler expects Networks only, and not the tombstone, a DeletedFinalStateUnknown, with
	// which an informer reports a deletion that it missed.
	IgnoreTombstones bool
	// ForgetFailures: a key whose processing failed is not requeued.
	ForgetFailures bool
	// NoSweep: networks whose object was deleted while the controller was down are leaked.
	NoSweep bool
}

// NewController returns a controller for the server in cfg.
func NewController(cfg *rest.Config, provider Provider, mistakes Mistakes) (*Controller, error) {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	networks := factory.ForResource(Resource)
	c := &Controller{
		provider: provider, factory: factory, informer: networks.Informer(), lister: networks.Lister(), mistakes: mistakes,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	_, err = c.informer.AddEventHandler(c.handler())
	return c, err
}

func (c *Controller) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: c.enqueue,
		UpdateFunc: func(old, obj any) {
			o, err1 := fromObject(old)
			n, err2 := fromObject(obj)
			if err1 == nil && err2 == nil && o.ResourceVersion == n.ResourceVersion {
				return // a resync: nothing changed
			}
			c.enqueue(obj)
		},
		DeleteFunc: c.enqueueForDelete,
	}
}

func (c *Controller) enqueue(obj any) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		runtime.HandleError(err)
		return
	}
	c.queue.Add(key)
}

func (c *Controller) enqueueForDelete(obj any) {
	keyOf := cache.DeletionHandlingMetaNamespaceKeyFunc
	if c.mistakes.IgnoreTombstones {
		keyOf = cache.MetaNamespaceKeyFunc
	}
	key, err := keyOf(obj)
	if err != nil {
		runtime.HandleError(err)
		return
	}
	c.queue.Add(key)
}

// Run runs the controller until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer c.factory.Shutdown()
	defer c.queue.ShutDown()
	c.factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), c.informer.HasSynced) {
		return errors.New("the cache did not sync")
	}
	if !c.mistakes.NoSweep {
		for _, key := range c.provider.Keys() {
			c.queue.Add(key) // its object may have been deleted while the controller was down
		}
	}
	for range Workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			wait.UntilWithContext(ctx, c.work, time.Second)
		}()
	}
	<-ctx.Done()
	return nil
}

func (c *Controller) work(context.Context) {
	for c.next() {
	}
}

func (c *Controller) next() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(key); err != nil {
		runtime.HandleError(fmt.Errorf("network %s: %w", key, err))
		if !c.mistakes.ForgetFailures {
			c.queue.AddRateLimited(key)
		}
		return true
	}
	c.queue.Forget(key)
	return true
}

// sync makes one network match its object. A missing object was deleted.
func (c *Controller) sync(key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil // a malformed key stays malformed
	}
	obj, err := c.lister.ByNamespace(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return c.provider.Remove(key)
	}
	if err != nil {
		return err
	}
	n, err := fromObject(obj)
	if err != nil {
		return err
	}
	return c.provider.Ensure(key, n.Spec)
}
