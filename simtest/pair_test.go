package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/simtest"
)

// Who wants two children of each owner, which its owner does not say, makes both from a cache without the first. It makes another when one is deleted.
func TestNoStaleCreateSparesPairs(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		env.Go("pairs", func(ctx context.Context) error { return keepPairs(ctx, env) })
		for n := range 3 {
			env.Create(configMap(fmt.Sprint("m", n), "x"))
			env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		}
	})
}

// keepPairs keeps two Secrets for each ConfigMap. It remembers what it has made until its cache has that, and removes what is too many.
func keepPairs(ctx context.Context, env *simtest.Env) error {
	client, err := kubernetes.NewForConfig(env.RESTConfig("pairs"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	queue := workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter())
	defer queue.ShutDown()
	maps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	enqueue := func(obj any) {
		if missed, is := obj.(cache.DeletedFinalStateUnknown); is {
			obj = missed.Obj
		}
		m := obj.(metav1.Object)
		if ref := metav1.GetControllerOf(m); ref != nil {
			queue.Add(ref.Name)
		} else {
			queue.Add(m.GetName())
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue}
	for _, informer := range []cache.SharedIndexInformer{maps.Informer(), secrets.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	defer context.AfterFunc(ctx, queue.ShutDown)()
	made := map[string]map[string]time.Time{} // by owner and name
	keep := func(name string) error {
		m, err := maps.Lister().ConfigMaps("default").Get(name)
		if err != nil {
			return nil // its deletion ends it
		}
		all, err := secrets.Lister().Secrets("default").List(labels.Everything())
		if err != nil {
			return err
		}
		have := 0
		for _, s := range all {
			if delete(made[name], s.Name); !metav1.IsControlledBy(s, m) {
				continue
			}
			if have++; have > 2 { // the answer to a create was lost
				return client.CoreV1().Secrets("default").Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
			}
		}
		for child, at := range made[name] { // of what is gone before the cache has it, nobody tells
			if time.Since(at) > 5*time.Minute {
				delete(made[name], child)
			}
		}
		if len(made[name]) > 0 {
			queue.AddAfter(name, time.Minute)
			return nil
		}
		for range 2 - have {
			s, err := client.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				GenerateName: name + "-", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
			}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if made[name] == nil {
				made[name] = map[string]time.Time{}
			}
			made[name][s.Name] = time.Now()
		}
		return nil
	}
	work(queue, keep)
	return nil
}
