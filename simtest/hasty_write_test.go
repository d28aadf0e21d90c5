package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// secretPairer is a controller that has a Secret for each ConfigMap, and for nothing else. It may begin before an informer of its has listed.
type secretPairer struct {
	hasty string // the informer that it does not wait for: "configmaps" or "secrets"
	// starts is written at each start, whatever the lists say.
	starts bool
	dates  bool // notes the time of each start in an object's name, before its informers have listed
}

func (k secretPairer) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	secrets := queue.factory.Core().V1().Secrets().Informer()
	const of = "of"
	if err := secrets.AddIndexers(cache.Indexers{of: func(obj any) ([]string, error) {
		s := obj.(*corev1.Secret)
		return []string{s.Namespace + "/" + s.Labels[of]}, nil
	}}); err != nil {
		return err
	}
	add := func(obj any) {
		if gone, is := obj.(cache.DeletedFinalStateUnknown); is {
			obj = gone.Obj
		}
		s := obj.(*corev1.Secret)
		queue.Add(s.Namespace + "/" + s.Labels[of])
	}
	if _, err := secrets.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add}); err != nil {
		return err
	}
	queue.factory.Start(ctx.Done())
	if k.dates {
		time.Sleep(time.Second) // so that they have asked
		start := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("start-", time.Now().Unix())}}
		if _, err := queue.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Create(ctx, start, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for resource, informer := range map[string]cache.SharedIndexInformer{"configmaps": queue.maps, "secrets": secrets} {
		if resource != k.hasty {
			cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
		}
	}
	client := queue.client.CoreV1().Secrets(metav1.NamespaceDefault)
	if k.starts {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "start-", Labels: map[string]string{of: "a"}}}
		if _, err := client.Create(ctx, s, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	made := map[string]bool{} // what the cache need not know yet
	work(queue, func(key string) error {
		_, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil {
			return err
		}
		all, err := secrets.GetIndexer().ByIndex(of, key)
		if err != nil {
			return err
		}
		if exists && len(all) == 0 && !made[key] {
			_, name, _ := cache.SplitMetaNamespaceKey(key)
			_, err := client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-", Labels: map[string]string{of: name}}}, metav1.CreateOptions{})
			made[key] = err == nil
			return err
		}
		delete(made, key)
		for _, s := range all {
			if exists {
				break
			}
			if err := client.Delete(ctx, s.(*corev1.Secret).Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
	return nil
}

func (k secretPairer) test(env *simtest.Env) {
	env.Go("pairs", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("pairs")) })
	env.Create(configMap("a", ""), configMap("b", ""))
	env.Advance(time.Minute)
}

// Who does not wait for an informer works on a cache that has not been filled, whenever that one lists after the others: a run restarts controllers, and has one list be late.
func TestNoHastyWrite(t *testing.T) {
	for _, ready := range [][]simtest.Property{just(simtest.NoHastyWrite), simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(8), Properties: ready, Mix: "none", CrashProbability: 1e-9}
		simtest.Run(t, o, secretPairer{}.test)
		for hasty, does := range map[string]string{"configmaps": "pairs deletes secrets default/", "secrets": "pairs creates secrets default/"} {
			found := simtest.Find(t, o, secretPairer{hasty: hasty}.test)
			if found == nil || found.Property != simtest.NoHastyWrite {
				t.Fatalf("%s: found %v", hasty, found)
			}
			wantIn(t, found.Text, does, "while its list of "+hasty+" has not been answered", "It works on a cache that has not been filled", "pairs is ", "pairs asks for all "+hasty+", and is told of them only 20s later", "cache.WaitForCacheSync")
			t.Logf("seed %d: %s", found.Seed, found.Text)
		}
	}
	// What is written at each start says nothing.
	simtest.Run(t, simtest.Options{Seeds: seeds(8), Properties: just(simtest.NoHastyWrite)}, secretPairer{starts: true}.test)
	simtest.Run(t, simtest.Options{Seeds: seeds(8), Properties: just(simtest.NoHastyWrite)}, secretPairer{dates: true}.test)
}
