package types

import (
	"cmp"
	"slices"
	"strings"
)

// priorities order the groups of discovery: they are those of a real server's APIServices (cmd/kube-apiserver and
// pkg/controlplane/apiserver). Groups of one priority are sorted by name, the core group is first.
var priorities = map[string]int{
	"": 18000, "apps": 17800, "events.k8s.io": 17750, "authentication.k8s.io": 17700, "authorization.k8s.io": 17600, "autoscaling": 17500,
	"batch": 17400, "certificates.k8s.io": 17300, "networking.k8s.io": 17200, "policy": 17100, "rbac.authorization.k8s.io": 17000,
	"storage.k8s.io": 16800, "admissionregistration.k8s.io": 16700, "apiextensions.k8s.io": 16700, "scheduling.k8s.io": 16600,
	"coordination.k8s.io": 16500, "node.k8s.io": 16300, "discovery.k8s.io": 16200, "resource.k8s.io": 16200,
	"flowcontrol.apiserver.k8s.io": 16100, "internal.apiserver.k8s.io": 16000, "storagemigration.k8s.io": 15800, "lifecycle.k8s.io": 15700,
}

// ofDefinitions is the priority of the groups of CustomResourceDefinitions.
const ofDefinitions = 1000

// byPriority sorts the groups of a server that has built-in kinds. One that has only custom resources is a real apiextensions server,
// whose groups come in the order of their definitions.
func byPriority(groups []Group) {
	if !slices.ContainsFunc(groups, func(g Group) bool { return g.Name == "" }) {
		return
	}
	of := func(g Group) int {
		if p, ok := priorities[g.Name]; ok {
			return p
		}
		return ofDefinitions
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(of(b), of(a)), strings.Compare(a.Name, b.Name))
	})
}
