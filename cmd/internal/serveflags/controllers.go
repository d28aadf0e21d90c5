package serveflags

import (
	"slices"

	"github.com/informersim/informersim/fakeapiserver/controllers/names"
)

// OwnControllers are the server's own: actors that watch and write within its steps, and cost nothing.
var OwnControllers = names.Own

// KubernetesControllers are Kubernetes' own, by the names that kube-controller-manager has for them. They are clients of the server.
var KubernetesControllers = names.Kubernetes

// DefaultControllers are what --controllers is if it is not given: nodes are for Pods, and Pods for what makes them.
func DefaultControllers(nodes int) []string {
	if nodes > 0 {
		return []string{"*"}
	}
	return OwnControllers[:1]
}

// Enabled returns which controllers a value of --controllers means, each once.
func Enabled(list []string) ([]string, error) {
	return names.Enabled(slices.Concat(OwnControllers, KubernetesControllers), list)
}
