package simtest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
