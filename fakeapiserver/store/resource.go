package store

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ResourceID names a resource of one Cluster: its position in the order of AddResource.
type ResourceID uint32

// Resource describes a resource that the cluster serves.
type Resource struct {
	Group, Version, Plural, Kind string
	Namespaced                   bool
	// New returns an empty object of the kind. nil means unstructured.Unstructured.
	New func() runtime.Object
	// Decode reads an object that an earlier program has saved as JSON, in whatever version. nil means that it is read as it is.
	Decode func(data []byte) (runtime.Object, error)
	// Field returns the value of a selectable field other than metadata.name and metadata.namespace; ok is false if the
	// resource does not have that field. nil means that there are no other fields.
	Field func(obj runtime.Object, field string) (value string, ok bool)
}

// GroupResource returns the resource's group and plural, as errors name it.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// GroupVersionKind returns the kind under which objects are served.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// GroupVersionResource returns the resource's address in the API.
func (r *Resource) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}

func (r *Resource) validate() error {
	switch {
	case r.Plural == "":
		return fmt.Errorf("fakeapiserver: a resource needs a plural name (kind %q)", r.Kind)
	case r.Version == "":
		return fmt.Errorf("fakeapiserver: resource %s needs a version", r.Plural)
	case r.Kind == "":
		return fmt.Errorf("fakeapiserver: resource %s needs a kind", r.Plural)
	}
	return nil
}

// Empty returns an empty object of the kind.
func (r *Resource) Empty() runtime.Object {
	if r.New != nil {
		if obj := r.New(); obj != nil {
			return obj
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.GroupVersionKind())
	return u
}
