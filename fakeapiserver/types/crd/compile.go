package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// The verbs of discovery, in the order in which a real server lists them for custom resources.
var (
	verbs            = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	terminatingVerbs = []string{"delete", "deletecollection", "get", "list", "watch"}
	subresourceVerbs = []string{"get", "patch", "update"}
)

// Compile returns a resource for each served version of the definitions, in order. Definitions must be complete (Complete), or have
// been stored. No conversion webhook is called.
func Compile(definitions ...*apiextensionsv1.CustomResourceDefinition) ([]*types.Resource, error) {
	return CompileWith(nil, definitions...)
}

// CompileWith is Compile for definitions whose conversion webhooks are called, by converters. Without it, objects whose versions a webhook converts
// are served as they are stored, and conversions fail.
func CompileWith(converters Converters, definitions ...*apiextensionsv1.CustomResourceDefinition) ([]*types.Resource, error) {
	var all []*types.Resource
	for _, definition := range definitions {
		resources, err := compile(definition, 0, converters)
		if err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %q: %w", definition.Name, err)
		}
		all = append(all, resources...)
	}
	return all, nil
}

// family is shared by the versions of a definition.
type family struct {
	definition *apiextensionsv1.CustomResourceDefinition
	schemas    map[string]*structuralschema.Structural // by version
	convertor  runtime.ObjectConvertor
	// webhook is set if a webhook converts between versions; it is asked by called, nil if none is called here.
	webhook bool
	called  runtime.ObjectConvertor
	// since is the first revision whose objects were stored under this definition. Older objects are pruned and defaulted when read,
	// as a real server does with what it finds in its store.
	since int64
}

// Converters makes the converters of definitions whose objects a webhook converts, as *conversion.CRConverterFactory does. Of the two that it
// returns, the second may change what it converts.
type Converters interface {
	NewConverter(*apiextensionsv1.CustomResourceDefinition) (safe, unsafe runtime.ObjectConvertor, err error)
}

// Redefine is Compile for a definition that replaces another one, under which everything up to revision since was stored.
// converters is as in CompileWith.
func Redefine(definition *apiextensionsv1.CustomResourceDefinition, since int64, converters Converters) ([]*types.Resource, error) {
	return compile(definition, since, converters)
}

func compile(definition *apiextensionsv1.CustomResourceDefinition, since int64, converters Converters) ([]*types.Resource, error) {
	f := &family{definition: definition.DeepCopy(), schemas: map[string]*structuralschema.Structural{}, since: since}
	if f.webhook = ConvertedByWebhook(definition); f.webhook {
		if converters != nil {
			var err error
			if f.called, _, err = converters.NewConverter(f.definition); err != nil {
				return nil, err
			}
		}
		f.definition.Spec.Conversion = nil
		Scheme.Default(f.definition)
	}
	convertor, _, err := (&conversion.CRConverterFactory{}).NewConverter(f.definition)
	if err != nil {
		return nil, err
	}
	if f.convertor = convertor; f.called != nil {
		f.convertor = f.called
	}
	stored := ""
	for i := range f.definition.Spec.Versions {
		v := &f.definition.Spec.Versions[i]
		if v.Storage {
			stored = v.Name
		}
		structural, err := f.structural(v)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		f.schemas[v.Name] = structural
	}
	var all []*types.Resource
	for i := range f.definition.Spec.Versions {
		v := &f.definition.Spec.Versions[i]
		if !v.Served {
			continue
		}
		r, err := f.resource(v)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		r.StorageVersion = stored
		all = append(all, r)
	}
	return all, nil
}

// internalSchema returns the version's schema as the library's internal type; nil if it has none.
func internalSchema(v *apiextensionsv1.CustomResourceDefinitionVersion) (*apiextensions.JSONSchemaProps, error) {
	if v.Schema == nil {
		return nil, nil
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, internal, nil); err != nil {
		return nil, err
	}
	return internal.OpenAPIV3Schema, nil
}

func (f *family) structural(v *apiextensionsv1.CustomResourceDefinitionVersion) (*structuralschema.Structural, error) {
	props, err := internalSchema(v)
	if err != nil || props == nil {
		return nil, err
	}
	s, err := structuralschema.NewStructural(props)
	if err != nil {
		if f.definition.Spec.PreserveUnknownFields {
			return nil, nil
		}
		return nil, err
	}
	if !f.definition.Spec.PreserveUnknownFields {
		s = s.DeepCopy() // PruneDefaults modifies it
		if err := defaulting.PruneDefaults(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (f *family) resource(v *apiextensionsv1.CustomResourceDefinitionVersion) (*types.Resource, error) {
	spec := &f.definition.Spec
	s, err := f.strategy(v)
	if err != nil {
		return nil, err
	}
	// Discovery shows the accepted names: another definition may already have some of the requested ones.
	names := f.definition.Status.AcceptedNames
	r := &types.Resource{
		Group: spec.Group, Version: v.Name, Kind: spec.Names.Kind, ListKind: spec.Names.ListKind,
		Plural: spec.Names.Plural, Singular: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories,
		Namespaced: spec.Scope == apiextensionsv1.NamespaceScoped,
		Verbs:      verbs, Strategy: s, Custom: true, Deprecated: f.deprecation(v),
	}
	if f.definition.DeletionTimestamp != nil || apihelpers.IsCRDConditionTrue(f.definition, apiextensionsv1.Terminating) {
		r.Terminating, r.Verbs = true, terminatingVerbs
	}
	for _, field := range v.SelectableFields {
		r.SelectableFields = append(r.SelectableFields, strings.TrimPrefix(field.JSONPath, "."))
	}
	if sub := v.Subresources; sub != nil {
		if sub.Status != nil {
			r.Subresources = append(r.Subresources, types.Subresource{Name: types.Status, Verbs: subresourceVerbs})
		}
		if sub.Scale != nil {
			r.Subresources = append(r.Subresources, types.Subresource{Name: types.Scale, Kind: types.ScaleKind, Verbs: subresourceVerbs, Replicas: replicaPaths(sub.Scale)})
		}
	}
	s.resource = r
	return r, nil
}

func replicaPaths(s *apiextensionsv1.CustomResourceSubresourceScale) *types.ReplicaPaths {
	p := &types.ReplicaPaths{Spec: strings.TrimPrefix(s.SpecReplicasPath, "."), Status: strings.TrimPrefix(s.StatusReplicasPath, ".")}
	if s.LabelSelectorPath != nil {
		p.Selector = strings.TrimPrefix(*s.LabelSelectorPath, ".")
	}
	return p
}

// deprecation returns the version's warning: its own, or one that names the newest version to use instead.
func (f *family) deprecation(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	spec := &f.definition.Spec
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return *v.DeprecationWarning
	}
	var newer []string
	for _, w := range spec.Versions {
		if w.Served && !w.Deprecated && version.CompareKubeAwareVersionStrings(v.Name, w.Name) < 0 {
			newer = append(newer, w.Name)
		}
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Name, spec.Names.Kind)
	if len(newer) > 0 {
		text += fmt.Sprintf("; use %s/%s %s", spec.Group, slices.MaxFunc(newer, version.CompareKubeAwareVersionStrings), spec.Names.Kind)
	}
	return text
}

// strategy compiles a version with the library's own strategies.
func (f *family) strategy(v *apiextensionsv1.CustomResourceDefinitionVersion) (*strategy, error) {
	gvk := schema.GroupVersionKind{Group: f.definition.Spec.Group, Version: v.Name, Kind: f.definition.Spec.Names.Kind}
	props, err := internalSchema(v)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	var statusValidator validation.SchemaValidator
	var status *apiextensions.CustomResourceSubresourceStatus
	var scale *apiextensions.CustomResourceSubresourceScale
	if sub := v.Subresources; sub != nil {
		if sub.Status != nil {
			status = &apiextensions.CustomResourceSubresourceStatus{}
			if props != nil {
				if p, ok := props.Properties["status"]; ok {
					if statusValidator, _, err = validation.NewSchemaValidator(&p); err != nil {
						return nil, err
					}
				}
			}
		}
		if sub.Scale != nil {
			scale = &apiextensions.CustomResourceSubresourceScale{
				SpecReplicasPath: sub.Scale.SpecReplicasPath, StatusReplicasPath: sub.Scale.StatusReplicasPath, LabelSelectorPath: sub.Scale.LabelSelectorPath,
			}
		}
	}
	main := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(), f.definition.Spec.Scope == apiextensionsv1.NamespaceScoped,
		gvk, validator, statusValidator, f.schemas[v.Name], status, scale, v.SelectableFields)
	t, err := newTable(v)
	if err != nil {
		return nil, err
	}
	return &strategy{family: f, gvk: gvk, main: main, status: customresource.NewStatusStrategy(main), table: t}, nil
}
