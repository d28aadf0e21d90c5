package simtest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informersim/informersim/simtest"
)

const finalizedCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// A helper may take the last finalizer from an object that is being deleted, by which it goes.
func TestUpdateRemovesLastFinalizer(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 3, CRDs: []string{finalizedCRD}}, func(env *simtest.Env) {
		w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
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
