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

// Provider is where the real networks are, such as a cloud's API.
type Provider interface {
	// Ensure makes the network of that key be there, as spec says.
	Ensure(key string, spec Spec) error
	// Remove makes it not be there.
	Remove(key string) error
	// Keys are the networks that are there.
	Keys() []string
}

// Workers is how many keys are processed at a time.
const Workers = 2

// Controller makes networks be what the Network objects say.
type Controller struct {
	provider Provider
	factory  dynamicinformer.DynamicSharedInformerFactory
	informer cache.SharedIndexInformer
	lister   cache.GenericLister
	queue    workqueue.TypedRateLimitingInterface[string]
	mistakes Mistakes
}

// Mistakes are those that controllers are often written with. The zero value has none.
type Mistakes struct {
	// IgnoreTombstones: the delete handler knows Networks only, and not that an informer that has missed a deletion
	// says so with a DeletedFinalStateUnknown.
	IgnoreTombstones bool
	// ForgetFailures: a key whose processing failed is not queued again.
	ForgetFailures bool
	// NoSweep: networks whose object was deleted while the controller was down stay.
	NoSweep bool
}

// NewController returns a controller for the server that cfg names.
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
				return // a resync: nothing has changed
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

// Run works until ctx ends.
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
			c.queue.Add(key) // its object may have been deleted while nobody looked
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

// sync makes one network be what its object says. An object that is not there was deleted.
func (c *Controller) sync(key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil // it will never be a good key
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
