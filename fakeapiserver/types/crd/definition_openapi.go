package crd

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	refV3 = "#/components/schemas/"
	refV2 = "#/definitions/"
)

// definitionSchemas returns the schemas of a definition, of a list of them, and of everything that these refer to, from the library's
// generated code.
func definitionSchemas(prefix string) map[string]*spec.Schema {
	all := generated.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef(prefix + name) })
	roots := map[string]string{
		apiextensionsv1.CustomResourceDefinition{}.OpenAPIModelName():     definitionKind.Kind,
		apiextensionsv1.CustomResourceDefinitionList{}.OpenAPIModelName(): definitionKind.Kind + "List",
	}
	out := map[string]*spec.Schema{}
	todo := slices.Sorted(maps.Keys(roots))
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if out[name] != nil {
			continue
		}
		def, ok := all[name]
		if !ok {
			continue
		}
		out[name] = schemaOf(def, prefix == refV2)
		if kind := roots[name]; kind != "" {
			out[name].AddExtension("x-kubernetes-group-version-kind", []any{
				map[string]any{"group": definitionKind.Group, "version": definitionKind.Version, "kind": kind},
			})
		}
		todo = append(todo, def.Dependencies...)
	}
	return out
}

// schemaOf returns a definition's schema: some have a different one in OpenAPI v2.
func schemaOf(def common.OpenAPIDefinition, v2 bool) *spec.Schema {
	s := def.Schema
	if v2 {
		if e, ok := s.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			s = e
		}
	}
	extensions := spec.Extensions{}
	for k, v := range s.Extensions { // order: a copy into a map
		if !strings.EqualFold(k, common.ExtensionV2Schema) {
			extensions[k] = v
		}
	}
	s.Extensions = extensions
	return &s
}

// OpenAPI returns the schemas; the paths are generated as for any resource.
func (s *definitions) OpenAPI() (*spec3.OpenAPI, error) {
	return &spec3.OpenAPI{Components: &spec3.Components{Schemas: definitionSchemas(refV3)}}, nil
}

// OpenAPIV2 returns the schemas.
func (s *definitions) OpenAPIV2() (*spec.Swagger, error) {
	swagger := &spec.Swagger{SwaggerProps: spec.SwaggerProps{Definitions: spec.Definitions{}}}
	for name, schema := range definitionSchemas(refV2) { // order: a copy into a map
		swagger.Definitions[name] = *schema
	}
	return swagger, nil
}

// TypeConverter returns the types of the definitions' schema, built on first use in a few milliseconds.
func (s *definitions) TypeConverter() managedfields.TypeConverter {
	if s.converter == nil {
		converter, err := managedfields.NewTypeConverter(definitionSchemas(refV3), false)
		if err != nil {
			converter = managedfields.NewDeducedTypeConverter()
		}
		s.converter = converter
	}
	return s.converter
}
