package network

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is where Networks are served.
var Resource = schema.GroupVersionResource{Group: "samplecrd.k8s.io", Version: "v1", Resource: "networks"}

// Network is a network that is to be there.
type Network struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec `json:"spec"`
}

// Spec is what a network is to look like.
type Spec struct {
	Cidr    string `json:"cidr"`
	Gateway string `json:"gateway"`
}

// New is a Network object for the API.
func New(namespace, name string, spec Spec) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cidr": spec.Cidr, "gateway": spec.Gateway}}}
	u.SetGroupVersionKind(Resource.GroupVersion().WithKind("Network"))
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// fromObject is what an informer of unstructured objects holds, typed.
func fromObject(obj any) (*Network, error) {
	n := &Network{}
	u := obj.(*unstructured.Unstructured)
	return n, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, n)
}
