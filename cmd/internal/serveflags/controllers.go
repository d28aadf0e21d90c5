package serveflags

import (
	"fmt"
	"slices"
	"strings"

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

// checkStages refuses the set of stages "workload" where a controller writes the same status: each would undo what the other has written.
func (f *Flags) checkStages() error {
	if !slices.Contains(f.Stages, "workload") {
		return nil
	}
	running, err := Enabled(f.Controllers)
	if err != nil {
		return err
	}
	both := slices.DeleteFunc(running, func(name string) bool { return !slices.Contains(names.Workload, name) })
	if len(both) == 0 {
		return nil
	}
	return fmt.Errorf("--stages workload stands in for controllers that run here, too: %s; leave them out, with --controllers namespace for example, "+
		"or leave out the set", strings.Join(both, ", "))
}
