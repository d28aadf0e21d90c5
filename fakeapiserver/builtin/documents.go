package builtin

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/server/routes"
	merge "k8s.io/kube-openapi/pkg/aggregator"
	openapibuilder "k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// A kube-apiserver makes its OpenAPI documents from the routes of three servers behind each other, and so does this file. That takes
// as long as all else at its start, so nothing is made before it is asked for; the index of version 3, which kubectl reads first, needs
// only the documents' hashes, which openapi_hashes.txt has.

//go:embed openapi_hashes.txt
var hashesText string

// DocumentHashes returns the hashes of the documents of version 3 by their paths: api/v1, apis/apps/v1, version.
func (*kind) DocumentHashes() map[string]string {
	hashes := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(hashesText))
	for lines.Scan() {
		if path, hash, ok := strings.Cut(lines.Text(), " "); ok {
			hashes[path] = hash
		}
	}
	return hashes
}

// DocumentV3 makes the document of version 3 at a path that DocumentHashes has.
func (*kind) DocumentV3(path string) ([]byte, error) {
	containers, err := webServices()
	if err != nil {
		return nil, err
	}
	config := openAPIConfigV3()
	var found *restful.Container
	for _, c := range containers { // the last one wins, as in the aggregator: /version is in all of them
		for _, ws := range c.RegisteredWebServices() {
			if ws.RootPath() == "/"+path {
				found = restful.NewContainer()
				found.Add(ws)
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("builtin: no routes at /%s", path)
	}
	service := routes.OpenAPI{V3Config: config}.InstallV3(found, mux.NewPathRecorderMux("openapi"))
	return documentOf(service, path)
}

// documentOf returns the document that a service answers with.
func documentOf(service *handler3.OpenAPIService, path string) ([]byte, error) {
	w := &memory{}
	service.HandleGroupVersion(w, requestFor("/openapi/v3/"+path))
	if !json.Valid(w.body) {
		return nil, fmt.Errorf("builtin: no OpenAPI document at /openapi/v3/%s", path)
	}
	return slices.Clip(w.body), nil
}

// DocumentV2 makes the document of version 2, without custom resources.
func (*kind) DocumentV2() (*spec.Swagger, error) {
	containers, err := webServices()
	if err != nil {
		return nil, err
	}
	config := openAPIConfigV2()
	var merged *spec.Swagger
	for _, c := range containers {
		own, err := openapibuilder.BuildOpenAPISpecFromRoutes(restfuladapter.AdaptWebServices(c.RegisteredWebServices()), config)
		if err != nil {
			return nil, fmt.Errorf("builtin: OpenAPI v2: %w", err)
		}
		own.Definitions = handler.PruneDefaults(own.Definitions)
		if merged == nil {
			first := *own
			merged = &first
			merged.Paths, merged.Definitions, merged.Parameters = nil, nil, nil
		}
		if err := merge.MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters(merged, own); err != nil {
			return nil, fmt.Errorf("builtin: OpenAPI v2: %w", err)
		}
	}
	return merged, nil
}
