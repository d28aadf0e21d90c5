package simtest_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informersim/informersim/simtest"
)

const gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: Gadget, listKind: GadgetList, plural: gadgets, singular: gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

// Get and List return copies of what is stored, typed and unstructured, of built-in and custom kinds.
func TestGetAndListCopy(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", CRDs: []string{gadgets}}, func(env *simtest.Env) {
		env.Create(configMap("a", "1"), configMap("b", "2"))
		env.Apply("apiVersion: example.dev/v1\nkind: Gadget\nmetadata: {name: g}\nspec: {size: 3}\n")

		got := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"of": "before"}}
		if err := env.Get(got); err != nil || len(got.Data) != 1 || got.Data["v"] != "1" {
			t.Errorf("got %v, %v", got.Data, err)
		}
		got.Data["v"] = "changed"
		list := &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, 7)}
		if err := env.List(list, "default"); err != nil || len(list.Items) != 2 || list.Items[0].Data["v"] != "1" || list.Items[1].Name != "b" {
			t.Errorf("changing a copy changed the Store, or the list is wrong: %v, %v", list.Items, err)
		}
		if list.Kind != "ConfigMapList" || list.APIVersion != "v1" {
			t.Errorf("the list is of kind %s %s", list.APIVersion, list.Kind)
		}

		u := &unstructured.UnstructuredList{}
		u.SetAPIVersion("v1")
		u.SetKind("ConfigMapList")
		if err := env.List(u, ""); err != nil || len(u.Items) != 2 || u.Items[0].GetName() != "a" {
			t.Errorf("unstructured: %v, %v", u, err)
		}
		g := &unstructured.UnstructuredList{}
		g.SetAPIVersion("example.dev/v1")
		g.SetKind("GadgetList")
		if err := env.List(g, ""); err != nil || len(g.Items) != 1 || g.GetKind() != "GadgetList" {
			t.Fatalf("custom: %v, %v", g, err)
		}
		if size, _, err := unstructured.NestedInt64(g.Items[0].Object, "spec", "size"); err != nil || size != 3 {
			t.Errorf("the size is %d, %v", size, err)
		}
		if err := env.List(&corev1.ConfigMap{}, ""); err == nil || !strings.Contains(err.Error(), "is not a list kind") {
			t.Errorf("an object passed as a list: %v", err)
		}
	})
}
