package types

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a resource in one version, as it is served. It is immutable once it is in a Registry.
type Resource struct {
	// Group is empty for the core group.
	Group, Version string
	// Kind and ListKind are the kinds of an object and of a list.
	Kind, ListKind string
	// Plural is the name in paths, Singular the one that clients may use as well.
	Plural, Singular string
	ShortNames       []string
	Categories       []string
	Namespaced       bool
	// Verbs are those of discovery, in its order: what may be asked of the resource itself.
	Verbs        []string
	Subresources []Subresource
	// SelectableFields are the field selectors besides metadata.name and metadata.namespace, such as "spec.nodeName".
	SelectableFields []string
	// StorageVersion is the version in which objects are stored. Resources of one group and plural share a store if they have
	// the same one; their strategies convert.
	StorageVersion string
	// Custom is set for resources of a CustomResourceDefinition.
	Custom bool
	// Terminating tells that the resource's definition is being deleted: nothing new is created.
	Terminating bool
	// Deprecated is the Warning header of every request for the resource; empty for none.
	Deprecated string
	// Strategy is what happens to the resource's objects.
	Strategy Strategy
	// UnconditionalUpdate allows PUT without a resourceVersion (S3), CreateOnUpdate PUT of what does not exist.
	UnconditionalUpdate, CreateOnUpdate bool
}

// Subresource is a path below an object.
type Subresource struct {
	// Name is the path segment: status, scale, ….
	Name string
	// Kind is what is read and written there; zero for the resource's own kind.
	Kind  schema.GroupVersionKind
	Verbs []string
	// Replicas are the paths of a scale subresource; nil for others.
	Replicas *ReplicaPaths
}

// ReplicaPaths are where a scale subresource finds its values, without a leading dot. Selector is empty if there is none.
type ReplicaPaths struct{ Spec, Status, Selector string }

// The subresources whose semantics this package knows.
const (
	Status = "status"
	Scale  = "scale"
)

// ScaleKind is what a scale subresource speaks.
var ScaleKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// GroupVersion of the resource.
func (r *Resource) GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupVersionKind is the kind under which objects are served.
func (r *Resource) GroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.Kind)
}

// ListGroupVersionKind is the kind of a list.
func (r *Resource) ListGroupVersionKind() schema.GroupVersionKind {
	return r.GroupVersion().WithKind(r.ListKind)
}

// GroupVersionResource is what the resource is addressed by.
func (r *Resource) GroupVersionResource() schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Plural)
}

// GroupResource is how errors name the resource.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// Subresource finds a subresource by name; nil if the resource has none of that name. The empty name is the resource itself
// and has no Subresource.
func (r *Resource) Subresource(name string) *Subresource {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i]
		}
	}
	return nil
}

// KindOf is the kind of the resource (subresource "") or of one of its subresources.
func (r *Resource) KindOf(subresource string) schema.GroupVersionKind {
	if s := r.Subresource(subresource); s != nil && !s.Kind.Empty() {
		return s.Kind
	}
	return r.GroupVersionKind()
}

// Allows tells whether discovery lists the verb for the resource or subresource.
func (r *Resource) Allows(verb, subresource string) bool {
	if subresource == "" {
		return slices.Contains(r.Verbs, verb)
	}
	s := r.Subresource(subresource)
	return s != nil && slices.Contains(s.Verbs, verb)
}

// Selectable tells whether a field may be selected by, metadata.name included. metadata.namespace is refused for what has no
// namespace (S12).
func (r *Resource) Selectable(field string) bool {
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
