package resources

import _ "embed"

// Group is the API group of the conformance resources; GroupVersionPath is the path under which they are served.
const (
	Group            = "conformance.informersim.dev"
	Version          = "v1"
	GroupVersionPath = "/apis/" + Group + "/" + Version
)

// CRDs is the manifest of the conformance resources, documents separated by "---".
//
//go:embed crds.yaml
var CRDs string

// Kinds maps a resource to its kind.
var Kinds = map[string]string{"gizmos": "Gizmo", "sprockets": "Sprocket"}

// ClusterScoped is the set of resources without a namespace.
var ClusterScoped = map[string]bool{"sprockets": true}
