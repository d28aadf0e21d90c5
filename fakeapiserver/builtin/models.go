package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"
)

// Models returns the OpenAPI schemas of all types of the API, by name, in version 3, as a kube-apiserver has them: with enums, list types
// and defaults, which Go types do not say. Each call makes them anew.
func (*kind) Models() map[string]*spec.Schema {
	namer := openapinamer.NewDefinitionNamer(scheme)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(generated.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} }))),
		func(name string) bool {
			return !strings.HasPrefix(name, "io.k8s.api.") && !strings.HasPrefix(name, "io.k8s.apimachinery.") && !strings.HasPrefix(name, "io.k8s.kube-aggregator.")
		})
	all, err := builder3.BuildOpenAPIDefinitionsForResources(&common.OpenAPIV3Config{
		Info: &spec.Info{}, GetDefinitions: generated.GetOpenAPIDefinitions, GetDefinitionName: namer.GetDefinitionName,
	}, names...)
	if err != nil {
		panic(fmt.Sprintf("builtin: OpenAPI schemas: %v", err)) // cannot happen: they are linked, and a test makes them
	}
	return all
}
