package crd

import (
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// OpenAPI returns the document that a real server publishes for the version.
func (s *strategy) OpenAPI() (*spec3.OpenAPI, error) {
	return builder.BuildOpenAPIV3(s.family.definition, s.gvk.Version, builder.Options{IncludeSelectableFields: true})
}

// OpenAPIV2 returns the version's part of /openapi/v2, without what v2 clients do not understand.
func (s *strategy) OpenAPIV2() (*spec.Swagger, error) {
	document, err := builder.BuildOpenAPIV2(s.family.definition, s.gvk.Version, builder.Options{V2: true, IncludeSelectableFields: true})
	if err != nil {
		return nil, err
	}
	for name, definition := range document.Definitions { // order: each is changed on its own
		document.Definitions[name] = withoutDefaults(definition)
	}
	return document, nil
}

// withoutDefaults returns a schema without its fields' defaults, which OpenAPI v2 omits.
func withoutDefaults(s spec.Schema) spec.Schema {
	s.Default = nil
	for name, p := range s.Properties { // order: each is changed on its own
		s.Properties[name] = withoutDefaults(p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		*s.Items.Schema = withoutDefaults(*s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		*s.AdditionalProperties.Schema = withoutDefaults(*s.AdditionalProperties.Schema)
	}
	return s
}

// TypeConverter returns the types of the schemas of all versions, or deduced types if there are none. It is built on first use, in a
// few milliseconds.
func (s *strategy) TypeConverter() managedfields.TypeConverter {
	if s.converter == nil {
		s.converter = s.family.typeConverter()
	}
	return s.converter
}

func (f *family) typeConverter() managedfields.TypeConverter {
	var all []*spec3.OpenAPI
	for _, v := range f.definition.Spec.Versions {
		document, err := builder.BuildOpenAPIV3(f.definition, v.Name, builder.Options{})
		if err != nil {
			return managedfields.NewDeducedTypeConverter()
		}
		all = append(all, document)
	}
	merged, err := builder.MergeSpecsV3(all...)
	if err != nil || merged.Components == nil {
		return managedfields.NewDeducedTypeConverter()
	}
	converter, err := managedfields.NewTypeConverter(merged.Components.Schemas, f.definition.Spec.PreserveUnknownFields)
	if err != nil {
		return managedfields.NewDeducedTypeConverter()
	}
	return converter
}
