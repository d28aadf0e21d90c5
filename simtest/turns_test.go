package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// Two objects whose copies have the same name overwrite each other's. When the run has the informers list anew, one of them does so once more: nothing was overlooked, and the verdict says what it is.
func TestObjectsThatTakeTurns(t *testing.T) {
	inNamespace := func(namespace, v string) *corev1.ConfigMap {
		m := configMap("a", v)
		m.Namespace = namespace
		return m
	}
	o := simtest.Options{Seeds: 4, Mix: "none", CrashProbability: 1e-9, Properties: just(simtest.NoForgottenChange)}
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Go("copies", func(ctx context.Context) error {
			queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("copies"), false)
			if err != nil {
				return err
			}
			defer shutDown()
			queue.factory.WaitForCacheSync(ctx.Done())
			work(queue, func(key string) (err error) {
				end := env.Reconciling("copies", "configmaps "+key)
				defer func() { end(err) }()
				obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
				if err != nil || !exists {
					return err
				}
				_, name, _ := cache.SplitMetaNamespaceKey(key)
				secrets := queue.client.CoreV1().Secrets("copies")
				s, err := secrets.Get(ctx, name, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					s = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: obj.(*corev1.ConfigMap).Data}
					_, err = secrets.Create(ctx, s, metav1.CreateOptions{})
					return err
				}
				if err != nil || string(s.Data["v"]) == obj.(*corev1.ConfigMap).Data["v"] {
					return err
				}
				s.StringData = obj.(*corev1.ConfigMap).Data
				_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
				return err
			})
			return nil
		})
		for _, namespace := range []string{"east", "west"} {
			env.Create(inNamespace(namespace, namespace))
			env.Advance(time.Minute)
		}
	})
	if found == nil || found.Property != simtest.NoForgottenChange {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "copies changes data.v of secrets copies/a to ", "The reconciles of configmaps ", " write it in turns: each takes it for its own object's",
		"the reconcile of configmaps east/a writes data.v of secrets copies/a: ", "the reconcile of configmaps west/a writes data.v of secrets copies/a: ")
}
