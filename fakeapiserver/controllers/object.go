package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// object names one object, or one incarnation of it if uid is set.
type object struct {
	res             store.ResourceID
	namespace, name string
	uid             types.UID
}

// kinds maps the kinds of objects, in any version, to resources.
type kinds struct {
	cluster *fakeapiserver.Cluster
	known   map[schema.GroupKind]store.ResourceID
	looked  store.ResourceID // the number of resources in known
}

// find returns the resource of an ownerReference's kind.
func (k *kinds) find(apiVersion, kind string) (store.ResourceID, bool) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return 0, false
	}
	for r := k.cluster.Store().Resource(k.looked); r != nil; r = k.cluster.Store().Resource(k.looked) {
		gk := r.GroupVersionKind().GroupKind()
		if _, taken := k.known[gk]; !taken {
			k.known[gk] = k.looked
		}
		k.looked++
	}
	id, ok := k.known[schema.GroupKind{Group: gv.Group, Kind: kind}]
	return id, ok
}

// namespaceHasFinalizers reports whether obj is a namespace with spec.finalizers.
func namespaceHasFinalizers(obj runtime.Object) bool { return len(namespaceFinalizers(obj)) > 0 }

func namespaceFinalizers(obj runtime.Object) []string {
	switch o := obj.(type) {
	case *corev1.Namespace:
		names := make([]string, 0, len(o.Spec.Finalizers))
		for _, f := range o.Spec.Finalizers {
			names = append(names, string(f))
		}
		return names
	case *unstructured.Unstructured:
		if o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1" {
			names, _, err := unstructured.NestedStringSlice(o.Object, "spec", "finalizers")
			if err == nil {
				return names
			}
		}
	}
	return nil
}

// setNamespaceFinalizers replaces spec.finalizers, in place.
func setNamespaceFinalizers(m metav1.Object, names []string) {
	switch o := m.(type) {
	case *corev1.Namespace:
		o.Spec.Finalizers = nil
		for _, n := range names {
			o.Spec.Finalizers = append(o.Spec.Finalizers, corev1.FinalizerName(n))
		}
	case *unstructured.Unstructured:
		if len(names) == 0 {
			unstructured.RemoveNestedField(o.Object, "spec", "finalizers")
			return
		}
		list := make([]any, 0, len(names))
		for _, n := range names {
			list = append(list, n)
		}
		_ = unstructured.SetNestedSlice(o.Object, list, "spec", "finalizers") // fails only if spec is a scalar
	}
}
