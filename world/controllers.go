package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/controllers/names"
	"github.com/informersim/informersim/fakeapiserver/quotas"
)

// optionControllers is in the header's options if the test names controllers.
const optionControllers = "controllers"

// findControllers checks the controllers that the options name. Without names, there is the one that counts what ResourceQuotas limit.
func (o *options) findControllers() error {
	o.controllers = []string{names.ResourceQuota}
	if len(o.Controllers) > 0 {
		for _, name := range o.Controllers {
			name = strings.TrimPrefix(name, "-")
			switch {
			case slices.Contains(names.Simulated, name):
			case slices.Contains(names.Kubernetes, name):
				instead := ""
				if slices.Contains(names.Workload, name) {
					instead = `, or has the set "workload" of Options.Stages stand in for it`
				}
				return fmt.Errorf("Options.Controllers: %q is Kubernetes' own, which needs goroutines: a test runs it as a process, with Env.Go "+
					"(docs/nodes.md shows how)%s; those that need none are %s", name, instead, strings.Join(names.Simulated, ", "))
			case name == "scheduler" || name == "kubelet":
				return fmt.Errorf("Options.Controllers: a %s comes with Options.Nodes; the controllers are %s", name, strings.Join(names.Simulated, ", "))
			}
		}
		var err error
		if o.controllers, err = names.Enabled(names.Simulated, o.Controllers); err != nil {
			return fmt.Errorf("Options.Controllers: %w", err)
		}
	}
	if o.GarbageCollection && !o.runs(names.GarbageCollector) {
		o.controllers = append(o.controllers, names.GarbageCollector)
	}
	return nil
}

// runs reports whether a controller is one of the run's.
func (o *options) runs(name string) bool { return slices.Contains(o.controllers, name) }

// hasNamespaces reports whether namespaces live and die as in a real cluster.
func (o *options) hasNamespaces() bool {
	return o.runs(names.Namespace) || o.runs(names.ServiceAccount)
}

// startControllers starts the controllers of the options.
func (w *world) startControllers(limits *quotas.Quotas) {
	o := controllers.Options{}
	if w.o.Nodes > 0 {
		o.GracePeriod = controllers.PodGrace
	}
	if w.o.runs(names.Namespace) {
		controllers.NewNamespaceController(w.cluster, o)
	}
	if w.o.runs(names.ServiceAccount) {
		controllers.NewServiceAccountController(w.cluster, o)
	}
	if w.o.runs(names.GarbageCollector) {
		newCollector(w)
	}
	if w.o.runs(names.ResourceQuota) {
		newQuotaController(w, limits)
	}
}
