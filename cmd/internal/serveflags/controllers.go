package serveflags

import (
	"fmt"
	"slices"
	"strings"
)

// OwnControllers are the server's own: actors that watch and write within its steps, and cost nothing.
var OwnControllers = []string{"namespace", "garbage-collector", "serviceaccount"}

// KubernetesControllers are Kubernetes' own, by the names that kube-controller-manager has for them. They are clients of the server.
var KubernetesControllers = []string{
	"deployment", "replicaset", "statefulset", "daemonset", "job", "cronjob", "replicationcontroller", "disruption", "ttl-after-finished", "resourcequota",
	"endpointslice", "endpoint", "endpointslicemirroring", "pvc-protection", "pv-protection", "clusterrole-aggregation",
}

// DefaultControllers are what --controllers is if it is not given: nodes are for Pods, and Pods for what makes them.
func DefaultControllers(nodes int) []string {
	if nodes > 0 {
		return []string{"*"}
	}
	return OwnControllers[:1]
}

// Enabled returns which controllers a value of --controllers means, each once. As for kube-controller-manager, "*" stands for all, and a name
// after "-" is left out wherever it stands.
func Enabled(names []string) ([]string, error) {
	all := slices.Concat(OwnControllers, KubernetesControllers)
	on, off := map[string]bool{}, map[string]bool{}
	for _, name := range names {
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
	return slices.DeleteFunc(all, func(name string) bool { return !on[name] || off[name] }), nil
}
