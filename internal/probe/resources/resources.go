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
