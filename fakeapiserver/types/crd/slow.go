package crd

import (
	"bytes"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A definition within these limits is checked and compiled in some ten milliseconds.
const (
	quickSize  = 16 << 10 // bytes
	quickRules = 10
)

// Slow reports whether it may take long to compile a definition or to write it.
func Slow(definition *apiextensionsv1.CustomResourceDefinition) bool {
	if definition.Size() > quickSize {
		return true
	}
	rules := 0
	for i := range definition.Spec.Versions {
		if s := definition.Spec.Versions[i].Schema; s != nil && s.OpenAPIV3Schema != nil {
			rules += rulesIn(s.OpenAPIV3Schema)
		}
	}
	return rules > quickRules
}

// rulesIn counts the CEL rules of a schema.
func rulesIn(s *apiextensionsv1.JSONSchemaProps) int {
	n := len(s.XValidations)
	for _, p := range s.Properties { // order: a sum
		n += rulesIn(&p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		n += rulesIn(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		n += rulesIn(s.AdditionalProperties.Schema)
	}
	for _, list := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			n += rulesIn(&list[i])
		}
	}
	return n
}

// slowWrite is Slow for a body that has not been decoded.
func slowWrite(body []byte, live runtime.Object) bool {
	if len(body) > quickSize || bytes.Count(body, []byte("rule")) > quickRules {
		return true
	}
	definition, ok := live.(*apiextensionsv1.CustomResourceDefinition)
	return ok && Slow(definition)
}
