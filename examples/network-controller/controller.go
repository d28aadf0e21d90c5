package network

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// A Provider has the real networks, such as a cloud's API.
type Provider interface {
	// Ensure creates or updates the network of key to match spec.
	Ensure(key string, spec Spec) error
	// Remove removes the network of key; if there is none, it returns ErrNotFound.
	Remove(key string) error
	// Keys returns the keys of the existing networks.
	Keys() []string
}

// ErrNotFound is a Provider's error for a network that does not exist.
var ErrNotFound = errors.New("there is no such network")

const (
	// Workers is the number of keys processed concurrently.
	Workers = 2
	// Resync is how often every Network is processed although no object changed, in case its real network did.
	Resync = 3 * time.Hour
)

// Controller makes networks match the Network objects. It publishes each in a ConfigMap of the same name, which the Network owns,
// and reports it in the Network's status.
type Controller struct {
	provider   Provider
	dynamic    dynamic.Interface
	client     kubernetes.Interface
	networks   dynamicinformer.DynamicSharedInformerFactory
	children   informers.SharedInformerFactory
	informer   cache.SharedIndexInformer
	lister     cache.GenericLister
	configMaps corelisters.ConfigMapLister
	synced     []cache.InformerSynced
	queue      workqueue.TypedRateLimitingInterface[string]
	mistakes   Mistakes
}

// NewController returns a controller for the server in cfg.
func NewController(cfg *rest.Config, provider Provider, mistakes Mistakes) (*Controller, error) {
	dynamicClient, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	c := &Controller{
		provider: provider, dynamic: dynamicClient, client: client, mistakes: mistakes,
		networks: dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, Resync),
		children: informers.NewSharedInformerFactory(client, 0),
		queue:    workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	networks, configMaps := c.networks.ForResource(Resource), c.children.Core().V1().ConfigMaps()
	c.informer, c.lister, c.configMaps = networks.Informer(), networks.Lister(), configMaps.Lister()
	c.synced = []cache.InformerSynced{c.informer.HasSynced, configMaps.Informer().HasSynced}
	if _, err := c.informer.AddEventHandler(c.networkHandler()); err != nil {
		return nil, err
	}
	if !mistakes.NoChildren {
		_, err = configMaps.Informer().AddEventHandler(c.childHandler())
	}
	return c, err
}

// Run runs the controller until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer c.children.Shutdown()
	defer c.networks.Shutdown()
	defer c.queue.ShutDown()
	c.networks.Start(ctx.Done())
	c.children.Start(ctx.Done())
	if !c.mistakes.NoSync && !cache.WaitForCacheSync(ctx.Done(), c.synced...) {
		return errors.New("the caches did not sync")
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

func (c *Controller) work(ctx context.Context) {
	for c.next(ctx) {
	}
}

func (c *Controller) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(ctx, key); err != nil {
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
func (c *Controller) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil // a malformed key stays malformed
	}
	obj, err := c.lister.ByNamespace(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return c.remove(key)
	}
	if err != nil {
		return err
	}
	u := obj.(*unstructured.Unstructured)
	if !c.mistakes.WriteToCache {
		u = u.DeepCopy()
	}
	n, err := FromObject(u)
	if err != nil {
		return err
	}
	if n.DeletionTimestamp != nil {
		return nil
	}
	if err := c.provider.Ensure(key, n.Spec); err != nil {
		return err
	}
	if err := c.publish(ctx, n); err != nil {
		return err
	}
	return c.report(ctx, u, n)
}

// remove removes a network whose object is gone. Its ConfigMap is garbage-collected.
func (c *Controller) remove(key string) error {
	err := c.provider.Remove(key)
	if errors.Is(err, ErrNotFound) && !c.mistakes.RemoveOnce {
		return nil // an earlier attempt removed it, whatever it returned
	}
	return err
}

// report writes the Network's status.
func (c *Controller) report(ctx context.Context, u *unstructured.Unstructured, n *Network) error {
	want := Status{ObservedGeneration: n.Generation, Cidr: n.Spec.Cidr}
	if n.Status == want {
		return nil
	}
	u.Object["status"] = map[string]any{"observedGeneration": want.ObservedGeneration, "cidr": want.Cidr}
	_, err := c.dynamic.Resource(Resource).Namespace(u.GetNamespace()).UpdateStatus(ctx, u, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) && c.mistakes.DropConflicts {
		return nil
	}
	return err
}

// publish creates or updates the Network's ConfigMap.
func (c *Controller) publish(ctx context.Context, n *Network) error {
	if c.mistakes.GenerateName {
		return c.publishGenerated(ctx, n)
	}
	have, err := c.configMaps.ConfigMaps(n.Namespace).Get(n.Name)
	switch {
	case apierrors.IsNotFound(err):
		m := child(n)
		m.Name = n.Name
		return c.create(ctx, m)
	case err != nil:
		return err
	case !metav1.IsControlledBy(have, n):
		// It is that of an earlier Network of this name, which the garbage collector is about to delete, or somebody else's.
		return fmt.Errorf("the ConfigMap %s/%s is not this Network's", n.Namespace, n.Name)
	}
	return c.update(ctx, have, n)
}

// publishGenerated lets the server make up the ConfigMap's name, and looks for an existing one in the cache.
func (c *Controller) publishGenerated(ctx context.Context, n *Network) error {
	all, err := c.configMaps.ConfigMaps(n.Namespace).List(labels.Everything())
	if err != nil {
		return err
	}
	for _, have := range all {
		if metav1.IsControlledBy(have, n) {
			return c.update(ctx, have, n)
		}
	}
	m := child(n)
	m.GenerateName = n.Name + "-"
	return c.create(ctx, m)
}

func (c *Controller) create(ctx context.Context, m *corev1.ConfigMap) error {
	_, err := c.client.CoreV1().ConfigMaps(m.Namespace).Create(ctx, m, metav1.CreateOptions{})
	return err
}

func (c *Controller) update(ctx context.Context, have *corev1.ConfigMap, n *Network) error {
	want := child(n).Data
	if have.Data["cidr"] == want["cidr"] && have.Data["gateway"] == want["gateway"] {
		return nil
	}
	m := have.DeepCopy()
	m.Data = want
	_, err := c.client.CoreV1().ConfigMaps(m.Namespace).Update(ctx, m, metav1.UpdateOptions{})
	return err
}
