package builtin

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// kind is the strategy of a built-in kind in one version.
type kind struct {
	gv        schema.GroupVersion
	gvk       schema.GroupVersionKind
	stored    schema.GroupVersion
	resource  *types.Resource
	storages  map[string]rest.Storage // by subresource
	now       *current
	admission admission.Interface
	attrs     storage.AttrFunc            // what field selectors read; nil if nothing is stored
	converter managedfields.TypeConverter // of a kind that client-go does not know, made on first use
}

var (
	_ types.Strategy    = (*kind)(nil)
	_ types.Storage     = (*kind)(nil)
	_ types.MergeSchema = (*kind)(nil)
)

// New returns an empty object.
func (k *kind) New() runtime.Object { return empty(k.gvk) }

// NewList returns an empty list.
func (k *kind) NewList() runtime.Object {
	if gvk := k.resource.ListGroupVersionKind(); scheme.Recognizes(gvk) {
		return empty(gvk)
	}
	return &metav1.List{}
}

// MergeExample returns an object whose struct tags say how lists merge in a strategic merge patch.
func (k *kind) MergeExample() runtime.Object { return k.New() }

// NewOf returns an empty object of a kind that the resource or one of its subresources has.
func (k *kind) NewOf(gvk schema.GroupVersionKind) (runtime.Object, error) {
	obj, err := scheme.New(gvk)
	if err == nil {
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	}
	return obj, err
}

// Accepts returns JSON, YAML and protobuf.
func (k *kind) Accepts() []string { return []string{types.JSON, types.YAML, types.Protobuf} }

// Decode decodes an object of the resource's kind.
func (k *kind) Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	return k.DecodeFor("", data, mediaType, strict)
}

// DecodeFor decodes an object of a subresource's kind, defaulted and in the form that it has after a conversion.
func (k *kind) DecodeFor(subresource string, data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	info, ok := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		return nil, nil, fmt.Errorf("builtin: no serializer for %s", mediaType) // the caller has compared it with Accepts
	}
	decoder := info.Serializer
	if strict {
		decoder = info.StrictSerializer
	}
	want := k.resource.KindOf(subresource)
	into := k.storages[subresource].New()
	hub, gvk, err := legacyscheme.Codecs.DecoderToVersion(decoder, runtime.InternalGroupVersioner).Decode(data, &want, into)
	if err != nil && !runtime.IsStrictDecodingError(err) || hub == nil {
		return nil, gvk, err
	}
	obj, convertErr := versioned(hub, want.GroupVersion())
	if convertErr != nil {
		return nil, gvk, convertErr
	}
	return obj, gvk, err
}

// Default sets defaults, in place, and gives the object the form that it has after a conversion.
func (k *kind) Default(obj runtime.Object) {
	scheme.Default(obj)
	if err := normalize(obj); err != nil {
		return // what cannot be converted is rejected later, with this error
	}
}

// Prune does nothing: decoding into a Go type has already dropped unknown fields.
func (k *kind) Prune(runtime.Object) ([]string, error) { return nil, nil }

// Convert returns the object in this version.
func (k *kind) Convert(obj runtime.Object) (runtime.Object, error) { return inVersion(obj, k.gv) }

// Stored returns the object in its storage version.
func (k *kind) Stored(obj runtime.Object) (runtime.Object, error) { return inVersion(obj, k.stored) }

// ResetFields returns the paths that a write to the (sub)resource does not own.
func (k *kind) ResetFields(subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	if r, ok := k.storages[subresource].(rest.ResetFieldsStrategy); ok {
		return r.GetResetFields()
	}
	return nil
}

// TypeConverter returns the types of client-go's apply configurations, which has none of APIServices.
func (k *kind) TypeConverter() managedfields.TypeConverter {
	switch {
	case k.gvk.Kind == "Event":
		return oneGroup{k.now.types, k.gv.Group}
	case k.gv.Group != apiregistration.GroupName:
		return k.now.types
	}
	if k.converter == nil {
		k.converter = aggregatorTypes()
	}
	return k.converter
}

// Convertor converts between versions.
func (k *kind) Convertor() runtime.ObjectConvertor { return convertor{scheme} }

// OpenAPI returns nil: package discovery generates the documents of built-in groups.
func (k *kind) OpenAPI() (*spec3.OpenAPI, error) { return nil, nil }

// CheckField returns why a field may not be selected by, nil if it may.
func (k *kind) CheckField(name string) error {
	_, _, err := scheme.ConvertFieldLabel(k.gvk, name, "")
	return err
}

// Field reads a selectable field.
func (k *kind) Field(obj runtime.Object, name string) string {
	label, _, err := scheme.ConvertFieldLabel(k.gvk, name, "")
	if err != nil || k.attrs == nil {
		return ""
	}
	hub, err := scheme.UnsafeConvertToVersion(shallow(obj), runtime.InternalGroupVersioner)
	if err != nil {
		return ""
	}
	_, fields, err := k.attrs(hub)
	if err != nil {
		return ""
	}
	return fields.Get(label)
}

// shallow returns a copy of what obj points to: a conversion in place may set its kind.
func shallow(obj runtime.Object) runtime.Object {
	c := reflect.New(reflect.TypeOf(obj).Elem())
	c.Elem().Set(reflect.ValueOf(obj).Elem())
	return c.Interface().(runtime.Object)
}

// renamed are the names of fields in versions other than the one that the code reads them by (pkg/apis/events/v1/conversion.go).
var renamed = []struct{ from, to string }{{"involvedObject.", "regarding."}, {"reportingComponent", "reportingController"}}

// selectable lists the fields besides name and namespace that may be selected by: those that are read from an empty object.
func (k *kind) selectable(obj runtime.Object) []string {
	if k.attrs == nil {
		return nil
	}
	_, read, err := k.attrs(obj)
	if err != nil {
		return nil
	}
	var names []string
	for name := range read { // order: sorted below
		if k.CheckField(name) != nil {
			for _, r := range renamed {
				name = strings.Replace(name, r.from, r.to, 1)
			}
		}
		if !strings.HasPrefix(name, "metadata.") && k.CheckField(name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
