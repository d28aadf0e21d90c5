package names

import (
	"fmt"
	"slices"
	"strings"
)

// The controllers that are actors: what they do is a step of the run.
const (
	Namespace        = "namespace"
	GarbageCollector = "garbage-collector"
	ServiceAccount   = "serviceaccount"
)

// ResourceQuota is Kubernetes' own in a served cluster, and an actor in a Go test.
const ResourceQuota = "resourcequota"

// Own are a served cluster's own controllers: actors that watch and write within its steps, and cost nothing.
var Own = []string{Namespace, GarbageCollector, ServiceAccount}

// Workload are those of Kubernetes' whose work the set of stages "workload" stands in for.
var Workload = []string{"deployment", "replicaset", "statefulset", "daemonset", "job"}

// Beside are those of Kubernetes' own that a Go test has in a process beside its engine.
var Beside = append(slices.Clone(Workload),
	"cronjob", "replicationcontroller", "disruption", "ttl-after-finished", "endpointslice", "endpoint", "endpointslicemirroring", "clusterrole-aggregation",
)

// Kubernetes are all of Kubernetes' own, which need goroutines. They are clients of a served cluster.
var Kubernetes = append(slices.Clone(Beside), ResourceQuota, "pvc-protection", "pv-protection")

// Simulated are those that a Go test has as actors.
var Simulated = append(slices.Clone(Own), ResourceQuota)

// Enabled returns which of the controllers that there are a list means, each once. As for kube-controller-manager, "*" stands for all, and a name
// after "-" is left out wherever it stands.
func Enabled(all, list []string) ([]string, error) {
	on, off := map[string]bool{}, map[string]bool{}
	for _, name := range list {
		without, omitted := strings.CutPrefix(name, "-")
		switch {
		case name == "*":
			for _, n := range all {
				on[n] = true
			}
		case !slices.Contains(all, without):
			return nil, fmt.Errorf("there is no controller %q: there are %s and %s, and * for all", without, strings.Join(all[:len(all)-1], ", "), all[len(all)-1])
		case omitted:
			off[without] = true
		default:
			on[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !on[name] || off[name] }), nil
}
