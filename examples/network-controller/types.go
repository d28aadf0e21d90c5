package network

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is the API resource of Networks.
var Resource = schema.GroupVersionResource{Group: "samplecrd.k8s.io", Version: "v1", Resource: "networks"}

// kind is the kind of Networks.
const kind = "Network"

// A Network is a desired network.
type Network struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec   `json:"spec"`
	Status            Status `json:"status,omitempty"`
}

// Spec is the desired state of a network.
type Spec struct {
	Cidr    string `json:"cidr"`
	Gateway string `json:"gateway"`
}

// Status is the state of a network as the controller left it.
type Status struct {
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
	Cidr               string `json:"cidr,omitempty"`
}

// New returns a Network object for the API.
func New(namespace, name string, spec Spec) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cidr": spec.Cidr, "gateway": spec.Gateway}}}
	u.SetGroupVersionKind(Resource.GroupVersion().WithKind(kind))
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// FromObject converts an unstructured object to a Network.
func FromObject(u *unstructured.Unstructured) (*Network, error) {
	n := &Network{}
	return n, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, n)
}

// child returns the ConfigMap that publishes a network, without its name.
func child(n *Network) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       n.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(n, Resource.GroupVersion().WithKind(kind))},
		},
		Data: map[string]string{"cidr": n.Spec.Cidr, "gateway": n.Spec.Gateway},
	}
}
