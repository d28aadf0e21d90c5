package discovery

import (
	"strings"

	merge "k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// documenter is implemented by strategies of resources whose OpenAPI documents are a kube-apiserver's own. They describe the whole server, so
// whichever resource is asked gives the same ones.
type documenter interface {
	// DocumentHashes returns the hashes of the documents of version 3, by their paths in the index.
	DocumentHashes() map[string]string
	// DocumentV3 makes one of them.
	DocumentV3(path string) ([]byte, error)
	// DocumentV2 makes that of version 2, of everything but custom resources. The caller may change it.
	DocumentV2() (*spec.Swagger, error)
}

// documenter returns the first one that there is, nil for none.
func (s *Server) documenter() documenter {
	for _, r := range s.registry.All() {
		if d, ok := r.Strategy.(documenter); ok {
			return d
		}
	}
	return nil
}

// recorded returns the hashes of the documents that are a kube-apiserver's own and that the server has: what they describe is served.
func (s *Server) recorded() map[string]string {
	if s.openapi.recorded != nil {
		return s.openapi.recorded
	}
	s.openapi.recorded = map[string]string{}
	if d := s.documenter(); d != nil {
		for path, hash := range d.DocumentHashes() { // order: a copy into a map
			if s.serves(path) {
				s.openapi.recorded[path] = hash
			}
		}
	}
	return s.openapi.recorded
}

// serves reports whether a path of the index, or of a document of version 2, leads to something here: to a group, to a page, or to what every
// server has.
func (s *Server) serves(path string) bool {
	path = strings.Trim(path, "/")
	parts := strings.Split(path, "/")
	switch parts[0] {
	case "api", "version":
		return true
	case "apis":
		return len(parts) == 1 || s.group(parts[1]) != nil
	}
	for i := range s.pages {
		if s.pages[i].Path == "/"+path {
			return true
		}
	}
	return false
}

// mergedV2 makes the document of version 2 of a server with documents of its own: that of the server, with the custom resources merged in, as
// the aggregator merges them.
func (s *Server) mergedV2(d documenter) ([]byte, error) {
	out, err := d.DocumentV2()
	if err != nil {
		return nil, err
	}
	for path := range out.Paths.Paths { // order: each is looked at on its own
		if !s.serves(path) {
			delete(out.Paths.Paths, path)
		}
	}
	for _, r := range s.registry.All() {
		own, ok := r.Strategy.(describesV2)
		if !ok || !r.Custom {
			continue
		}
		document, err := own.OpenAPIV2()
		if err != nil {
			return nil, err
		}
		if err := merge.MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters(out, document); err != nil {
			return nil, err
		}
	}
	return out.MarshalJSON()
}
