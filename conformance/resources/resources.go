// Package resources holds the definitions of the custom resources that the conformance probes use, and nothing that
// would make a test that only needs them link an apiserver.
//
// Gizmos are namespaced, with status and scale subresources, a selectable field `.spec.color`, defaults, list types
// and CEL rules. Sprockets are cluster scoped and have no subresource. Both are in conformance.informersim.dev/v1.
package resources

import _ "embed"

// Group is the API group of the conformance resources and GroupVersionPath the path under which they are served.
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

// ClusterScoped tells the resources that have no namespace.
var ClusterScoped = map[string]bool{"sprockets": true}
