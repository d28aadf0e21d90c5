package network

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is the API resource of Networks.
var Resource = schema.GroupVersionResource{Group: "samplecrd.k8s.io", Version: "v1", Resource: "networks"}

// A Network is a desired network.
type Network struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec `json:"spec"`
}

// Spec is the desired state of a network.
type Spec struct {
	Cidr    string `json:"cidr"`
	Gateway string `json:"gateway"`
}

// New returns a Network object for the API.
func New(namespace, name string, spec Spec) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cidr": spec.Cidr, "gateway": spec.Gateway}}}
	u.SetGroupVersionKind(Resource.GroupVersion().WithKind("Network"))
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// fromObject converts an unstructured object of an informer to a Network.
func fromObject(obj any) (*Network, error) {
	n := &Network{}
	u := obj.(*unstructured.Unstructured)
	return n, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, n)
}
