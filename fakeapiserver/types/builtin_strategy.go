package types

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// builtin is the strategy of a Go type in client-go's scheme. Its flags are those of builtinTable.
type builtin struct {
	gvk      schema.GroupVersionKind
	resource *Resource
	list     bool

	hasStatus, generation, keepsMeta, keepsLabels, keepsOwners bool
}

// New returns an empty object. The scheme has the kind: a test builds one of each.
func (s *builtin) New() runtime.Object {
	obj, err := scheme.Scheme.New(s.gvk)
	if err != nil {
		panic(fmt.Sprintf("types: a kind in the table of built-in resources is not in the scheme: %v", err))
	}
	obj.GetObjectKind().SetGroupVersionKind(s.gvk)
	return obj
}

// NewList returns an empty list, unstructured for kinds without a list type.
func (s *builtin) NewList() runtime.Object {
	gvk := s.resource.ListGroupVersionKind()
	if s.list {
		if obj, err := scheme.Scheme.New(gvk); err == nil {
			obj.GetObjectKind().SetGroupVersionKind(gvk)
			return obj
		}
	}
	u := &unstructured.UnstructuredList{}
	u.SetGroupVersionKind(gvk)
	return u
}

// MergeExample returns an object whose struct tags say how lists merge in a strategic merge patch.
func (s *builtin) MergeExample() runtime.Object { return s.New() }

// Default does nothing: no library has the defaults of built-in types.
func (s *builtin) Default(runtime.Object) {}

// Prune does nothing: decoding into a Go type has already dropped unknown fields.
func (s *builtin) Prune(runtime.Object) ([]string, error) { return nil, nil }

// PrepareForCreate resets the status and starts the generation.
func (s *builtin) PrepareForCreate(obj runtime.Object) {
	if s.hasStatus {
		clearField(obj, "Status")
	}
	if m, err := meta.Accessor(obj); err == nil && s.generation {
		m.SetGeneration(1)
	}
	initialStatus(obj)
}

// PrepareForUpdate restores what the subresource does not own, and bumps the generation when the spec changes.
func (s *builtin) PrepareForUpdate(obj, old runtime.Object, subresource string) {
	switch subresource {
	case "":
		if s.hasStatus {
			copyField(obj, old, "Status")
		}
		keepOnUpdate(obj, old)
		if s.generation && specChanged(obj, old) {
			countGeneration(obj, old)
		}
	case Status:
		copyField(obj, old, "Spec")
		s.keepMeta(obj, old)
	default:
		prepareSpecial(obj, old, subresource)
	}
}

// keepMeta restores metadata that a status write may not change.
func (s *builtin) keepMeta(obj, old runtime.Object) {
	m, err := meta.Accessor(obj)
	o, oldErr := meta.Accessor(old)
	if err != nil || oldErr != nil {
		return
	}
	switch {
	case s.keepsMeta:
		metav1.ResetObjectMetaForStatus(m, o)
	case s.keepsLabels:
		m.SetLabels(o.GetLabels())
	case s.keepsOwners:
		m.SetOwnerReferences(o.GetOwnerReferences())
	}
}

func countGeneration(obj, old runtime.Object) {
	m, err := meta.Accessor(obj)
	o, oldErr := meta.Accessor(old)
	if err == nil && oldErr == nil {
		m.SetGeneration(o.GetGeneration() + 1)
	}
}

// specChanged reports whether anything but metadata and status differs.
func specChanged(obj, old runtime.Object) bool {
	a, b := reflect.ValueOf(obj).Elem(), reflect.ValueOf(old).Elem()
	if a.Type() != b.Type() {
		return true
	}
	for i := range a.NumField() {
		switch a.Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta", "Status":
			continue
		}
		if !equality.Semantic.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			return true
		}
	}
	return false
}

// structField returns a field of the struct that obj points to; invalid if there is none.
func structField(obj runtime.Object, name string) reflect.Value {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return v.Elem().FieldByName(name)
}

func clearField(obj runtime.Object, name string) {
	if f := structField(obj, name); f.IsValid() {
		f.SetZero()
	}
}

// copyField makes obj share a field of old. That is safe: live objects are immutable.
func copyField(obj, old runtime.Object, name string) {
	to, from := structField(obj, name), structField(old, name)
	if to.IsValid() && from.IsValid() && to.Type() == from.Type() {
		to.Set(from)
	}
}

// Warnings returns none: the real server's come from validation that no library has.
func (s *builtin) Warnings(_, _ runtime.Object, _ string) []string { return nil }

// ResetFields returns the status for the resource, and everything else for the status.
func (s *builtin) ResetFields(subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	var paths []fieldpath.Path
	switch {
	case subresource == "" && s.hasStatus:
		paths = append(paths, fieldpath.MakePathOrDie("status"))
	case subresource == Status && s.keepsMeta:
		paths = append(paths, fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
	case subresource == Status && s.keepsLabels:
		paths = append(paths, fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
	case subresource == Status:
		paths = append(paths, fieldpath.MakePathOrDie("spec"))
	default:
		return nil
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(s.gvk.GroupVersion().String()): fieldpath.NewSet(paths...),
	}
}

// TypeConverter returns the one of client-go's apply configurations. The first call in a process parses its schema, which takes a
// tenth of a second; the library caches it.
func (s *builtin) TypeConverter() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
}

// Convertor returns the scheme, which registers each version on its own.
func (s *builtin) Convertor() runtime.ObjectConvertor { return scheme.Scheme }

// OpenAPI returns nil: package discovery generates the documents of built-in groups.
func (s *builtin) OpenAPI() (*spec3.OpenAPI, error) { return nil, nil }
