package simtest_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/simtest"
)

// mirroring is a controller that gives each ConfigMap with the label "mirror" a Secret of its name, and removes that with the label or the ConfigMap. It asks the server for Secrets, or,
// if it watches them, its cache. The mistake is what is wrong with it.
type mirroring struct {
	mistake string
	watches bool
	ensures string // what it makes each half hour
	client  kubernetes.Interface
	maps    informers.SharedInformerFactory
	queue   workqueue.RateLimitingInterface
	made    map[string]bool
}

// dropsAndGivesUp is to drop what a handler is told again, as at each resync, and a key that has failed three times.
const dropsAndGivesUp = "gives up, and drops what it knows"

// hangs is to wait for informers that nobody stops, when the list at the start fails.
const hangs = "hangs"

func (c *mirroring) add(obj any) {
	if c.mistake == "drops tombstones" {
		if m, ok := obj.(metav1.Object); ok {
			c.queue.Add(m.GetNamespace() + "/" + m.GetName())
		}
		return
	}
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		c.queue.Add(key)
	}
}

func mirrored(obj any) bool { return obj.(*corev1.ConfigMap).Labels["mirror"] != "" }

func (c *mirroring) run(ctx context.Context, config *rest.Config) (err error) {
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	c.queue = workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter())
	defer c.queue.ShutDown()
	c.made = map[string]bool{}
	c.maps = informers.NewSharedInformerFactory(c.client, 0)
	handler := cache.ResourceEventHandlerFuncs{AddFunc: c.add, UpdateFunc: func(_, obj any) { c.add(obj) }, DeleteFunc: c.add}
	if c.mistake == dropsAndGivesUp {
		handler.UpdateFunc = func(was, obj any) {
			if was.(metav1.Object).GetResourceVersion() != obj.(metav1.Object).GetResourceVersion() {
				c.add(obj)
			}
		}
	}
	if c.mistake == "looks at generations only" {
		handler.UpdateFunc = func(was, obj any) {
			if was.(metav1.Object).GetGeneration() != obj.(metav1.Object).GetGeneration() {
				c.add(obj)
			}
		}
	}
	ofMaps := handler
	if c.mistake == "compares versions as text" {
		ofMaps.UpdateFunc = func(was, obj any) {
			if was.(*corev1.ConfigMap).ResourceVersion < obj.(*corev1.ConfigMap).ResourceVersion {
				c.add(obj)
			}
		}
	}
	if c.mistake == "overlooks that a label goes" {
		ofMaps.UpdateFunc = func(_, obj any) {
			if mirrored(obj) {
				c.add(obj)
			}
		}
	}
	if _, err := c.maps.Core().V1().ConfigMaps().Informer().AddEventHandler(ofMaps); err != nil {
		return err
	}
	if secrets := c.maps.Core().V1().Secrets().Informer(); c.watches && c.mistake != "is not told of its children" {
		if _, err := secrets.AddEventHandler(handler); err != nil {
			return err
		}
	}
	defer c.maps.Shutdown()
	started, cancel := context.WithCancel(ctx)
	defer func() {
		if c.mistake != hangs {
			cancel()
		}
	}()
	c.maps.Start(started.Done())
	c.maps.WaitForCacheSync(ctx.Done())
	left, err := c.client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range left.Items {
		c.add(&left.Items[i]) // its ConfigMap may have gone while nobody was there
	}
	if c.ensures != "" {
		go c.ensure(ctx)
	}
	stop := context.AfterFunc(ctx, c.queue.ShutDown)
	defer stop()
	for {
		item, down := c.queue.Get()
		if down {
			return nil
		}
		key := fmt.Sprint(item)
		switch err := c.reconcile(ctx, key); {
		case err == nil, (c.mistake == "gives up" || c.mistake == dropsAndGivesUp) && c.queue.NumRequeues(item) >= 2:
			c.queue.Forget(item)
		default:
			c.queue.AddRateLimited(item)
		}
		c.queue.Done(item)
	}
}

// ensure makes something anew each half hour.
func (c *mirroring) ensure(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		_, _ = c.client.CoreV1().Secrets("others").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(c.ensures, "-", n)}}, metav1.CreateOptions{})
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Minute):
		}
	}
}

func (c *mirroring) secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	if c.watches {
		return c.maps.Core().V1().Secrets().Lister().Secrets(namespace).Get(name)
	}
	return c.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (c *mirroring) reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil
	}
	m, err := c.maps.Core().V1().ConfigMaps().Lister().ConfigMaps(namespace).Get(name)
	gone := apierrors.IsNotFound(err)
	if err != nil && !gone {
		return err
	}
	s, err := c.secret(ctx, namespace, name)
	switch none := apierrors.IsNotFound(err); {
	case err != nil && !none:
		return err
	case !none && (gone || !mirrored(m)):
		if s.Annotations["keep"] != "" {
			return nil
		}
		err := c.client.CoreV1().Secrets(namespace).Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
		if apierrors.IsNotFound(err) || c.mistake == "thinks that a deletion succeeds" {
			return nil
		}
		return err
	case !gone && mirrored(m) && none:
		if c.mistake == "remembers what it has made" && c.made[key] {
			return nil
		}
		c.made[key] = true
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: m.Annotations}}
		_, err := c.client.CoreV1().Secrets(namespace).Create(ctx, s, metav1.CreateOptions{})
		return err
	}
	return nil
}

// mirroringBody has ConfigMaps come, change and go, and Secrets go, while a controller runs.
func mirroringBody(c mirroring) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("mirrors", func(ctx context.Context) error {
			x := c
			return x.run(ctx, env.RESTConfig("mirrors"))
		})
		somebody := kubernetes.NewForConfigOrDie(env.RESTConfig("somebody")).CoreV1().Secrets("default")
		for range 20 {
			m := configMap(fmt.Sprint("m", env.Rand().IntN(5)), "")
			m.Labels = map[string]string{"mirror": "yes"}
			if env.Rand().IntN(3) == 0 {
				m.Annotations = map[string]string{"keep": "yes"}
			}
			was := m.DeepCopy()
			switch err := env.Get(was); {
			case err != nil:
				env.Create(m)
			case env.Rand().IntN(2) == 0:
				env.Delete(was)
			case env.Rand().IntN(2) == 0:
				env.Mutate(was, func() { was.Labels = nil })
			case c.watches && env.Rand().IntN(2) == 0:
				_ = somebody.Delete(env.Context(), m.Name, metav1.DeleteOptions{})
			default:
				env.Mutate(was, func() { was.Labels = m.Labels })
			}
			env.Advance(time.Duration(env.Rand().IntN(20_000)) * time.Millisecond)
		}
	}
}
