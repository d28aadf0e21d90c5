package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Scheme knows CustomResourceDefinitions, their defaults and conversions.
var Scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	install.Install(s)
	return s
}()

// readAhead is how many bytes LoadManifests looks at to tell JSON from YAML.
const readAhead = 4096

// LoadManifests reads the CustomResourceDefinitions of a manifest: YAML or JSON, with many documents, Lists, or both. It defaults and
// validates them. An error names the document; a document of another kind is an error.
func LoadManifests(r io.Reader) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(r, readAhead)
	var all []*apiextensionsv1.CustomResourceDefinition
	for n := 1; ; n++ {
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d is neither YAML nor JSON: %w", n, err)
		}
		found, err := read(raw.Raw)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		all = append(all, found...)
	}
}

// read reads a document, or the items of a List.
func read(data []byte) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var head struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Items             []json.RawMessage `json:"items"`
	}
	if len(data) == 0 || string(data) == "null" {
		return nil, nil // an empty document, as after the last ---
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("is not an object: %w", err)
	}
	switch {
	case head.Kind == "List" || head.Kind == "CustomResourceDefinitionList":
		var all []*apiextensionsv1.CustomResourceDefinition
		for i, item := range head.Items {
			found, err := read(item)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i, err)
			}
			all = append(all, found...)
		}
		return all, nil
	case head.Kind != "CustomResourceDefinition":
		return nil, fmt.Errorf("%s %q is not a CustomResourceDefinition; other objects are created through the API", head.Kind, head.Name)
	case head.APIVersion != apiextensionsv1.SchemeGroupVersion.String():
		return nil, fmt.Errorf("CustomResourceDefinition %q has apiVersion %q; write it as %s, the only one that is served", head.Name, head.APIVersion, apiextensionsv1.SchemeGroupVersion)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(data, definition); err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %q: %w", head.Name, err)
	}
	if err := Complete(definition); err != nil {
		return nil, err
	}
	return []*apiextensionsv1.CustomResourceDefinition{definition}, nil
}

// Complete sets defaults and the status of an established definition, in place, and validates it.
func Complete(definition *apiextensionsv1.CustomResourceDefinition) error {
	Scheme.Default(definition)
	definition.Status.StoredVersions = nil
	for _, v := range definition.Spec.Versions {
		if v.Storage {
			definition.Status.StoredVersions = append(definition.Status.StoredVersions, v.Name)
		}
	}
	definition.Status.AcceptedNames = definition.Spec.Names
	internal := &apiextensions.CustomResourceDefinition{}
	if err := Scheme.Convert(definition, internal, nil); err != nil {
		return fmt.Errorf("CustomResourceDefinition %q: %w", definition.Name, err)
	}
	if errs := validation.ValidateCustomResourceDefinition(context.Background(), internal); len(errs) > 0 {
		return fmt.Errorf("CustomResourceDefinition %q is invalid: %w", definition.Name, types.InOrder(errs).ToAggregate())
	}
	return nil
}

// ConvertedByWebhook reports whether a webhook converts between the versions of a definition.
func ConvertedByWebhook(d *apiextensionsv1.CustomResourceDefinition) bool {
	return d.Spec.Conversion != nil && d.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}
