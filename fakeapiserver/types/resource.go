package types

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a served resource in one version. It is immutable once it is in a Registry.
type Resource struct {
	// Group is empty for the core group.
	Group, Version string
	// Kind and ListKind are the kinds of an object and of a list.
	Kind, ListKind string
	// Plural is the name in paths, Singular an alias for clients.
	Plural, Singular string
	ShortNames       []string
	Categories       []string
	Namespaced       bool
	// Verbs are discovery's verbs of the resource itself, in discovery's order.
	Verbs        []string
	Subresources []Subresource
	// SelectableFields are the field selectors besides metadata.name and metadata.namespace, such as "spec.nodeName".
	SelectableFields []string
	// StorageVersion is the version in which objects are stored. Resources of one group and plural share a store if theirs is the
	// same; their strategies convert.
	StorageVersion string
	// StoredAs is the resource that this one shares its store with: the two kinds of events are one. Zero for its own.
	StoredAs schema.GroupResource
	// Custom is set for resources of a CustomResourceDefinition.
	Custom bool
	// Terminating is set while the resource's definition is being deleted: nothing can be created.
	Terminating bool
	// Deprecated is the Warning header of every request for the resource; empty for none.
	Deprecated string
	// Strategy prepares the resource's objects for the store.
	Strategy Strategy
	// UnconditionalUpdate allows PUT without a resourceVersion (S3), CreateOnUpdate PUT of an object that does not exist.
	UnconditionalUpdate, CreateOnUpdate bool
	// Slow reports whether a write with this body to a live object, nil if there is none, may take so long that others should not wait
	// for it. Apart returns another Resource with the same rules that shares nothing mutable with this one: such writes are computed with
	// it, outside of steps. Both are nil if no write is slow.
	Slow  func(body []byte, live runtime.Object) bool
	Apart func() *Resource
}

// Subresource is a path below an object.
type Subresource struct {
	// Name is the path segment: status, scale, ….
	Name string
	// Kind is the kind that is read and written there; zero for the resource's own.
	Kind schema.GroupVersionKind
	// Takes reports whether it may be written in another version than Kind's; nil if it may not.
	Takes func(schema.GroupVersion) bool
	// KeepsMeta is set if the uid of what is posted there is a precondition.
	KeepsMeta bool
	Verbs     []string
	// Replicas has the paths of a scale subresource; nil for others.
	Replicas *ReplicaPaths
}

// ReplicaPaths says where a scale subresource finds its values, without a leading dot. Selector may be empty.
type ReplicaPaths struct{ Spec, Status, Selector string }

// The subresources whose semantics this package knows.
const (
	Status = "status"
	Scale  = "scale"
)

// ScaleKind is the kind of scale subresources.
var ScaleKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// GroupVersion returns the resource's group and version.
func (r *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupVersionKind returns the kind under which objects are served.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.Kind)
}

// ListGroupVersionKind returns the kind of a list.
func (r *Resource) ListGroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.ListKind)
}

// GroupVersionResource returns the key under which a Registry finds the resource.
func (r *Resource) GroupVersionResource() schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Plural)
}

// GroupResource returns the resource's name in errors.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// StoreResource returns the resource in whose store the objects are.
func (r *Resource) StoreResource() schema.GroupResource {
	if r.StoredAs.Empty() {
		return r.GroupResource()
	}
	return r.StoredAs
}

// Subresource returns a subresource by name; nil if there is none. The empty name stands for the resource itself, which has no
// Subresource.
func (r *Resource) Subresource(name string) *Subresource {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i]
		}
	}
	return nil
}

// KindOf returns the kind of the resource (subresource "") or of one of its subresources.
func (r *Resource) KindOf(subresource string) schema.GroupVersionKind {
	if s := r.Subresource(subresource); s != nil && !s.Kind.Empty() {
		return s.Kind
	}
	return r.GroupVersionKind()
}

// Allows reports whether discovery lists the verb for the resource or subresource.
func (r *Resource) Allows(verb, subresource string) bool {
	if subresource == "" {
		return slices.Contains(r.Verbs, verb)
	}
	s := r.Subresource(subresource)
	return s != nil && slices.Contains(s.Verbs, verb)
}

// Selectable reports whether a field may be used in field selectors, metadata.name included. Cluster-scoped resources do not have
// metadata.namespace (S12).
func (r *Resource) Selectable(field string) bool {
	if labels, ok := r.Strategy.(FieldLabels); ok {
		return labels.CheckField(field) == nil
	}
	switch field {
	case "metadata.name":
		return true
	case "metadata.namespace":
		return r.Namespaced || !r.Custom
	}
	return slices.Contains(r.SelectableFields, field)
}

func (r *Resource) String() string { return r.GroupVersionResource().String() }

func (r *Resource) validate() error {
	switch {
	case r == nil:
		return fmt.Errorf("types: a nil resource cannot be added")
	case r.Plural == "" || r.Version == "" || r.Kind == "" || r.ListKind == "":
		return fmt.Errorf("types: resource %q of %s/%s needs a plural name, a version, a kind and a list kind", r.Plural, r.Group, r.Version)
	case r.Strategy == nil:
		return fmt.Errorf("types: resource %s needs a strategy", r)
	}
	return nil
}
