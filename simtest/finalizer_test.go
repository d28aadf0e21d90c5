package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

// A helper may take the last finalizer from an object that is being deleted, by which it goes.
func TestUpdateRemovesLastFinalizer(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 3, CRDs: []string{gadgets}}, func(env *simtest.Env) {
		w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.dev/v1", "kind": "Gadget"}}
		for _, obj := range []simtest.Object{w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{}}} {
			obj.SetNamespace("default")
			obj.SetName("held")
			obj.SetFinalizers([]string{"example.com/hold"})
			env.Create(obj)
			env.Delete(obj)
			env.Mutate(obj, func() { obj.SetFinalizers(nil) })
			if err := env.Get(obj); !apierrors.IsNotFound(err) {
				t.Errorf("after its last finalizer was removed: %v", err)
			}
		}
	})
}

// A finalizer that a controller has only ever taken off is perhaps not its own: the report says on what the suspicion rests.
func TestNoFinalizerLeftOfSomebodyElses(t *testing.T) {
	o := simtest.Options{Mix: "none", Seeds: 1, Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, func(env *simtest.Env) {
		for _, name := range []string{"a", "b"} {
			m := configMap(name, "")
			m.Finalizers = []string{"example.com/hold"}
			env.Create(m)
		}
		env.Go("greedy", func(ctx context.Context) error {
			client, err := kubernetes.NewForConfig(env.RESTConfig("greedy"))
			if err != nil {
				return err
			}
			_, err = client.CoreV1().ConfigMaps("default").Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			<-ctx.Done()
			return err
		})
		env.Advance(time.Minute)
		env.Delete(configMap("b", ""))
	})
	if found == nil || found.Property != simtest.NoFinalizerLeft {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "configmaps default/b is still there, ", `greedy, which runs, has taken its finalizer "example.com/hold" off another object, though it has never put it on one: it is either greedy's to remove, or somebody else's and not greedy's to touch`,
		"greedy takes the finalizer example.com/hold off configmaps default/a (RV ")
}
