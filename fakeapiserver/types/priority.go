package types

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// priorities order the groups of discovery: they are those of a real server's APIServices (cmd/kube-apiserver and
// pkg/controlplane/apiserver). Groups of one priority are sorted by name, the core group is first.
var priorities = map[string]int32{
	"apiregistration.k8s.io": 20000, "": 18000, "apps": 17800, "events.k8s.io": 17750, "authentication.k8s.io": 17700, "authorization.k8s.io": 17600, "autoscaling": 17500,
	"batch": 17400, "certificates.k8s.io": 17300, "networking.k8s.io": 17200, "policy": 17100, "rbac.authorization.k8s.io": 17000,
	"storage.k8s.io": 16800, "admissionregistration.k8s.io": 16700, "apiextensions.k8s.io": 16700, "scheduling.k8s.io": 16600,
	"coordination.k8s.io": 16500, "node.k8s.io": 16300, "discovery.k8s.io": 16200, "resource.k8s.io": 16200,
	"flowcontrol.apiserver.k8s.io": 16100, "internal.apiserver.k8s.io": 16000, "storagemigration.k8s.io": 15800, "lifecycle.k8s.io": 15700,
}

// versionPriorities has the versions of built-in groups whose priority within the group is not ofVersion.
var versionPriorities = map[schema.GroupVersion]int32{
	{Version: "v1"}: 1, {Group: "autoscaling", Version: "v2"}: 30, {Group: "resource.k8s.io", Version: "v1"}: 21,
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"}: 21,
}

// The priorities of the groups of CustomResourceDefinitions, and of their versions; and of the versions of built-in groups.
const (
	ofDefinitions        = 1000
	ofDefinitionVersions = 100
	ofVersion            = 15
)

// Priority is where discovery has a version of a group: among the groups, and within its own. Higher ones come first.
type Priority struct{ Group, Version int32 }

// PriorityOf returns the priority of a version that the server itself serves.
func PriorityOf(gv schema.GroupVersion) Priority {
	group, builtin := priorities[gv.Group]
	if !builtin {
		return Priority{ofDefinitions, ofDefinitionVersions}
	}
	if version, ok := versionPriorities[gv]; ok {
		return Priority{group, version}
	}
	return Priority{group, ofVersion}
}

// Registration is what an aggregation layer knows of a version of a group: an APIService.
type Registration struct {
	schema.GroupVersion
	Priority Priority
	// Remote is set if another server is to serve the version. Nothing reaches one from here, so requests for it are answered with a 503.
	Remote bool
}

// Path returns the path below which the version's resources are: of the core group, that of all its versions.
func (r *Registration) Path() string {
	if r.Group == "" {
		return "/api"
	}
	return "/apis/" + r.Group + "/" + r.Version
}

// byPriority sorts the groups of a server that has built-in kinds. One that has only custom resources is a real apiextensions server,
// whose groups come in the order of their definitions.
func byPriority(groups []Group) {
	if !slices.ContainsFunc(groups, func(g Group) bool { return g.Name == "" }) {
		return
	}
	of := func(g Group) int32 {
		if p, ok := priorities[g.Name]; ok {
			return p
		}
		return ofDefinitions
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(of(b), of(a)), strings.Compare(a.Name, b.Name))
	})
}
