package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// secretCopier is a controller that has a Secret with the value of each ConfigMap.
type secretCopier struct {
	deaf   bool // to deletions of Secrets
	trusts bool // that Secrets stay as they are: it is told of none
}

func (k secretCopier) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	secrets := queue.factory.Core().V1().Secrets().Informer()
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add}
	if k.deaf {
		handler.DeleteFunc = nil
	}
	if !k.trusts {
		if _, err := secrets.AddEventHandler(handler); err != nil {
			return err
		}
	}
	queue.factory.Start(ctx.Done())
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		m := obj.(*corev1.ConfigMap)
		client := queue.client.CoreV1().Secrets(m.Namespace)
		obj, exists, err = secrets.GetIndexer().GetByKey(key)
		if err != nil {
			return err
		}
		if !exists {
			owner := *metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			_, err = client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, OwnerReferences: []metav1.OwnerReference{owner}}, StringData: m.Data}, metav1.CreateOptions{})
			return err
		}
		s := obj.(*corev1.Secret).DeepCopy()
		if string(s.Data["value"]) == m.Data["value"] {
			return nil
		}
		s.Data = map[string][]byte{"value": []byte(m.Data["value"])}
		_, err = client.Update(ctx, s, metav1.UpdateOptions{})
		return err
	})
	return nil
}

func (k secretCopier) test(env *simtest.Env) {
	env.Go("copies", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("copies")) })
	for _, name := range []string{"a", "b"} {
		env.Create(configMap(name, "one"))
	}
	env.Advance(time.Minute)
	for _, name := range []string{"a", "b"} {
		env.Patch(configMap(name, ""), types.MergePatchType, []byte(`{"data":{"value":"two"}}`))
	}
	env.Advance(time.Minute)
}

// Who puts back what somebody changes of an object that it has made, and takes no notice of its deletion, has left out deletions. One that is told of neither looks at them when it has another reason.
func TestNoLostDeletionOfChildren(t *testing.T) {
	for _, ready := range [][]simtest.Property{just(simtest.NoLostDeletion), simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(8), Properties: ready, Mix: "none"}
		simtest.Run(t, o, secretCopier{}.test)
		simtest.Run(t, o, secretCopier{trusts: true}.test)
		found := simtest.Find(t, o, secretCopier{deaf: true}.test)
		if found == nil || found.Property != simtest.NoLostDeletion {
			t.Fatalf("found %v", found)
		}
		wantIn(t, found.Text, "copies creates secrets default/", "only when its informers have listed anew", "its watch had told it", "copies puts that back at once", "A handler without a DeleteFunc",
			"somebody changes secrets default/", "copies, whose watch has told of that, sends PUT /api/v1/namespaces/default/secrets/", "somebody deletes secrets default/", "copies is told so by its watch")
		t.Logf("seed %d: %s", found.Seed, found.Text)
	}
}
