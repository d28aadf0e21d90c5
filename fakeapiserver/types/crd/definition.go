package crd

import (
	"context"
	encodingjson "encoding/json"
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// definitionKind is the kind of a CustomResourceDefinition in its only version.
var definitionKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// DefinitionResource is the resource of CustomResourceDefinitions.
var DefinitionResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// Definitions returns the resource of CustomResourceDefinitions themselves, with the library's rules. Package apiextensions acts on
// them.
func Definitions() *types.Resource {
	return &types.Resource{
		Group: definitionKind.Group, Version: definitionKind.Version, Kind: definitionKind.Kind, ListKind: definitionKind.Kind + "List",
		Plural: DefinitionResource.Resource, Singular: "customresourcedefinition",
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"},
		Verbs:          []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		Subresources:   []types.Subresource{{Name: types.Status, Verbs: subresourceVerbs}},
		StorageVersion: definitionKind.Version,
		Strategy: &definitions{
			main:   customresourcedefinition.NewStrategy(Scheme),
			status: customresourcedefinition.NewStatusStrategy(Scheme),
		},
		Slow:  slowWrite,
		Apart: Definitions,
	}
}

// definitions is the strategy of CustomResourceDefinitions. They are stored as the Go type of version v1; the library's rules work
// on its internal type.
type definitions struct {
	main   creating
	status libraryStrategy

	converter managedfields.TypeConverter // built on first use
}

var (
	_ types.Strategy    = &definitions{}
	_ types.MergeSchema = &definitions{}
	_ types.Terminator  = &definitions{}
	_ types.FieldLabels = &definitions{}
)

func (s *definitions) of(subresource string) libraryStrategy {
	if subresource == types.Status {
		return s.status
	}
	return s.main
}

// New returns an empty definition.
func (s *definitions) New() runtime.Object {
	obj := &apiextensionsv1.CustomResourceDefinition{}
	obj.SetGroupVersionKind(definitionKind)
	return obj
}

// NewList returns an empty list.
func (s *definitions) NewList() runtime.Object {
	obj := &apiextensionsv1.CustomResourceDefinitionList{}
	obj.SetGroupVersionKind(definitionKind.GroupVersion().WithKind(definitionKind.Kind + "List"))
	return obj
}

// MergeExample returns a definition, whose struct tags say how lists merge.
func (s *definitions) MergeExample() runtime.Object { return s.New() }

// Accepts returns JSON, YAML and protobuf.
func (s *definitions) Accepts() []string { return []string{types.JSON, types.YAML, types.Protobuf} }

// definitionDecoder decodes the types of the library's scheme.
func definitionDecoder(mediaType string, strict bool) runtime.Decoder {
	if mediaType == types.Protobuf {
		return protobuf.NewSerializer(Scheme, Scheme)
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, Scheme, Scheme, json.SerializerOptions{Yaml: mediaType == types.YAML, Strict: strict})
}

// Decode decodes a definition and sets defaults.
func (s *definitions) Decode(data []byte, mediaType string, strict bool) (runtime.Object, *schema.GroupVersionKind, error) {
	want := definitionKind
	obj, gvk, err := definitionDecoder(mediaType, strict).Decode(data, &want, nil)
	if err != nil && !runtime.IsStrictDecodingError(err) || obj == nil {
		return nil, gvk, err
	}
	definition, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	switch {
	case ok:
	case gvk.GroupVersion() == definitionKind.GroupVersion():
		return nil, gvk, fmt.Errorf("converting (%s.%s) to (apiextensions.%s): unknown conversion", gvk.Version, gvk.Kind, definitionKind.Kind)
	default:
		return obj, gvk, err // the caller rejects other versions
	}
	if mediaType == types.Protobuf {
		definition = asStored(definition)
	}
	s.Default(definition)
	definition.SetGroupVersionKind(definitionKind)
	return definition, gvk, err
}

// asStored returns a definition as JSON has it, which is how a real server stores it whatever was sent. In protobuf, additionalProperties
// with a schema can be forbidden nevertheless; Go clients that do not know better say so.
func asStored(definition *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	stored := &apiextensionsv1.CustomResourceDefinition{}
	data, err := encodingjson.Marshal(definition)
	if err != nil || encodingjson.Unmarshal(data, stored) != nil {
		return definition // validation says what is wrong with it
	}
	return stored
}

// Default sets the library's defaults.
func (s *definitions) Default(obj runtime.Object) { Scheme.Default(obj) }

// Prune does nothing: decoding into a Go type has already dropped unknown fields.
func (s *definitions) Prune(runtime.Object) ([]string, error) { return nil, nil }

// Convert returns the object itself: there is one version.
func (s *definitions) Convert(obj runtime.Object) (runtime.Object, error) { return obj, nil }

// Stored returns the object itself.
func (s *definitions) Stored(obj runtime.Object) (runtime.Object, error) { return obj, nil }

// internal returns a definition as the library's internal type.
func internal(obj runtime.Object) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	return out, Scheme.Convert(obj, out, nil)
}

// withInternal lets f change a definition as the library's internal type. Conversion cannot fail: Decode rejects definitions that
// do not convert.
func withInternal(obj runtime.Object, f func(*apiextensions.CustomResourceDefinition)) {
	definition, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return
	}
	in, err := internal(definition.DeepCopy())
	if err != nil {
		return
	}
	f(in)
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := Scheme.Convert(in, out, nil); err != nil {
		return
	}
	out.TypeMeta = definition.TypeMeta
	*definition = *out
}

// PrepareForCreate drops the status and records the stored version.
func (s *definitions) PrepareForCreate(obj runtime.Object) {
	withInternal(obj, func(in *apiextensions.CustomResourceDefinition) { s.main.PrepareForCreate(context.Background(), in) })
}

// PrepareForUpdate restores what the (sub)resource does not own, bumps the generation, and records a new stored version.
func (s *definitions) PrepareForUpdate(obj, old runtime.Object, subresource string) {
	was, err := internal(old.DeepCopyObject())
	if err != nil {
		return
	}
	withInternal(obj, func(in *apiextensions.CustomResourceDefinition) {
		s.of(subresource).PrepareForUpdate(context.Background(), in, was)
	})
}

// Validate returns the library's errors about names, versions and schemas.
func (s *definitions) Validate(obj runtime.Object) field.ErrorList {
	in, err := internal(obj)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return s.main.Validate(context.Background(), in)
}

// ValidateUpdate does the same against the old definition.
func (s *definitions) ValidateUpdate(obj, old runtime.Object, subresource string) field.ErrorList {
	in, err := internal(obj)
	was, oldErr := internal(old)
	if err != nil || oldErr != nil {
		return field.ErrorList{field.InternalError(nil, fmt.Errorf("%w, %w", err, oldErr))}
	}
	return s.of(subresource).ValidateUpdate(context.Background(), in, was)
}

// Warnings are about meaningless formats and list types.
func (s *definitions) Warnings(obj, old runtime.Object, subresource string) []string {
	in, err := internal(obj)
	if err != nil {
		return nil
	}
	if old == nil {
		return s.main.WarningsOnCreate(context.Background(), in)
	}
	was, err := internal(old)
	if err != nil {
		return nil
	}
	return s.of(subresource).WarningsOnUpdate(context.Background(), in, was)
}

// Terminate marks a definition, whose objects are deleted first.
func (s *definitions) Terminate(obj runtime.Object, now metav1.Time) {
	definition, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return
	}
	definition.DeletionTimestamp = &now
	if !apihelpers.CRDHasFinalizer(definition, apiextensionsv1.CustomResourceCleanupFinalizer) {
		definition.Finalizers = append(definition.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	SetCondition(definition, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	}, now)
}

// SetCondition sets a condition, in place, with now as its time if its status changes. The library's own function reads the real
// clock.
func SetCondition(definition *apiextensionsv1.CustomResourceDefinition, c apiextensionsv1.CustomResourceDefinitionCondition, now metav1.Time) {
	c.LastTransitionTime = now
	have := apihelpers.FindCRDCondition(definition, c.Type)
	if have == nil {
		definition.Status.Conditions = append(definition.Status.Conditions, c)
		return
	}
	if have.Status == c.Status && !have.LastTransitionTime.IsZero() {
		c.LastTransitionTime = have.LastTransitionTime
	}
	c.ObservedGeneration = have.ObservedGeneration
	*have = c
}

// Field returns "": only metadata is selectable.
func (s *definitions) Field(runtime.Object, string) string { return "" }

// CheckField returns why a field may not be selected by, nil if it may: a definition has only its name.
func (s *definitions) CheckField(name string) error {
	_, _, err := Scheme.ConvertFieldLabel(definitionKind, name, "")
	return err
}

// ResetFields returns the library's.
func (s *definitions) ResetFields(subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	return s.of(subresource).GetResetFields()
}

// Convertor returns the library's scheme.
func (s *definitions) Convertor() runtime.ObjectConvertor { return Scheme }

// Table has the library's columns. Rows carry the definitions as stored.
func (s *definitions) Table(obj runtime.Object, options *metav1.TableOptions, _ time.Time) (*metav1.Table, error) {
	var in runtime.Object = &apiextensions.CustomResourceDefinition{}
	rows := []runtime.Object{obj}
	if list, ok := obj.(*apiextensionsv1.CustomResourceDefinitionList); ok {
		in = &apiextensions.CustomResourceDefinitionList{}
		rows = nil
		for i := range list.Items {
			rows = append(rows, &list.Items[i])
		}
	}
	if err := Scheme.Convert(obj, in, nil); err != nil {
		return nil, err
	}
	table, err := tableconvertor.New().ConvertToTable(context.Background(), in, options)
	if err != nil {
		return nil, err
	}
	for i := range table.Rows {
		table.Rows[i].Object.Object = rows[i]
	}
	return table, nil
}
