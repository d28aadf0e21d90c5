package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// secretSweeper is a controller that deletes the Secrets which are called as a ConfigMap that is not there, or is off. It may give up when a delete fails.
type secretSweeper struct {
	givesUp bool
	filters bool // what nothing has changed of
	several bool // it deletes them as a collection, by a selector
}

func (k secretSweeper) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.deaf.Store(k.filters)
	secrets := queue.factory.Core().V1().Secrets().Informer()
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add}
	if !k.filters {
		handler.UpdateFunc = func(_, obj any) { add(obj) }
	}
	if _, err := secrets.AddEventHandler(handler); err != nil {
		return err
	}
	queue.factory.Start(ctx.Done())
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || exists && obj.(*corev1.ConfigMap).Data["off"] == "" {
			return err
		}
		obj, exists, err = secrets.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		s := obj.(*corev1.Secret)
		client := queue.client.CoreV1().Secrets(s.Namespace)
		if k.several {
			err = client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=" + s.Name})
		} else {
			err = client.Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
		}
		if k.givesUp || apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	return nil
}

// sweeps is a test in which it runs: of three Secrets one loses its ConfigMap, and another one's is switched off.
func sweeps(k secretSweeper) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("sweeps", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("sweeps")) })
		for _, name := range []string{"a", "b", "c"} {
			env.Create(configMap(name, ""), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}})
		}
		env.Advance(time.Minute)
		env.Delete(configMap("a", ""))
		env.Patch(configMap("b", ""), types.MergePatchType, []byte(`{"data":{"off":"yes"}}`))
		env.Advance(time.Minute)
	}
}

// Who gives up when a delete fails leaves the object there. A run shows that: it makes anew what was deleted last, and has deletes fail for a while.
func TestNoAbandonedWriteOfDeletes(t *testing.T) {
	o := simtest.Options{Seeds: seeds(8), Properties: just(simtest.NoAbandonedWrite)}
	for _, several := range []bool{false, true} {
		simtest.Run(t, o, sweeps(secretSweeper{several: several}))
		found := simtest.Find(t, o, sweeps(secretSweeper{givesUp: true, several: several}))
		if found == nil || found.Property != simtest.NoAbandonedWrite {
			t.Fatalf("several %t: found %v", several, found)
		}
		wantIn(t, found.Text, "sweeps deletes secrets default/", "only when its informers have listed anew", "DELETE /api/v1/namespaces/default/secrets", "somebody makes secrets default/", "which fails: 500", "is told anew of what there is")
		t.Logf("seed %d: %s", found.Seed, found.Text)
	}

	// Of one that leaves out what has not changed, whatever its informers list, a restart shows it.
	o.Mix, o.CrashProbability = "none", 1e-9
	simtest.Run(t, o, sweeps(secretSweeper{filters: true}))
	found := simtest.Find(t, o, sweeps(secretSweeper{filters: true, givesUp: true}))
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "sweeps deletes secrets default/", "only when it is restarted")
}
