package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/controllers/names"
	"github.com/informersim/informersim/fakeapiserver/quotas"
	"github.com/informersim/informersim/world/wire"
)

// optionControllers is in the header's options if the test names controllers.
const optionControllers = "controllers"

// findControllers checks the controllers that the options name. Without names of those that are actors, there is the one that counts what ResourceQuotas
// limit. "*" is all actors: the others, which run in a process beside the engine, have to be named.
func (o *options) findControllers() (err error) {
	var actors, others []string
	for _, listed := range o.Controllers {
		switch name := strings.TrimPrefix(listed, "-"); {
		case name == "scheduler" || name == "kubelet":
			return fmt.Errorf("Options.Controllers: a %s comes with Options.Nodes; the controllers are %s", name, strings.Join(slices.Concat(names.Simulated, names.Beside), ", "))
		case slices.Contains(names.Beside, name):
			others = append(others, listed)
		case name != "*" && !slices.Contains(names.Simulated, name):
			return fmt.Errorf("Options.Controllers: there is no controller %q: there are %s, and * for the first %d", name,
				strings.Join(slices.Concat(names.Simulated, names.Beside), ", "), len(names.Simulated))
		default:
			actors = append(actors, listed)
		}
	}
	if o.kubernetes, err = names.Enabled(names.Beside, others); err != nil {
		return fmt.Errorf("Options.Controllers: %w", err)
	}
	o.controllers = []string{names.ResourceQuota}
	if len(actors) > 0 {
		if o.controllers, err = names.Enabled(names.Simulated, actors); err != nil {
			return fmt.Errorf("Options.Controllers: %w", err)
		}
	}
	if err := o.checkWorkload(); err != nil {
		return err
	}
	if o.GarbageCollection && !o.runs(names.GarbageCollector) {
		o.controllers = append(o.controllers, names.GarbageCollector)
	}
	return nil
}

// checkWorkload refuses the set of stages "workload" where a controller writes the same status: each would undo what the other has written.
func (o *options) checkWorkload() error {
	if !slices.ContainsFunc(o.Stages, func(f wire.File) bool { return f.Text == "" && f.Name == "workload" }) {
		return nil
	}
	both := slices.DeleteFunc(slices.Clone(o.kubernetes), func(name string) bool { return !slices.Contains(names.Workload, name) })
	if len(both) == 0 {
		return nil
	}
	return fmt.Errorf(`Options.Stages: the set "workload" stands in for controllers that run here, too: %s; leave them out of Options.Controllers, or leave out the set`, strings.Join(both, ", "))
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

// clusterClient says whose client a name is, "" if it is none of the cluster's own controllers that run as actors.
func (w *world) clusterClient(name string) string {
	switch {
	case name == collectorClient && w.o.runs(names.GarbageCollector):
		return "the cluster's garbage collector, of Options.GarbageCollection or Options.Controllers"
	case name == quotaClient && w.o.runs(names.ResourceQuota):
		return "the cluster's controller of ResourceQuotas, which always runs unless Options.Controllers leaves it out"
	}
	return ""
}

// refuseTaken fails the run if a test's client has the name of one that the faults spare, or that the properties of controllers leave out: a pass would
// say nothing.
func (w *world) refuseTaken(name string) {
	whose := w.clusterClient(name)
	switch {
	case name == workloadClient:
		whose = "the test's own writes (env.Create, env.Update, ...)"
	case w.manager != nil && strings.HasPrefix(name, managerPrefix):
		whose = "the controllers of Options.Controllers"
	}
	if whose != "" {
		w.kernel.Fail(fmt.Errorf("env.RESTConfig(%q): that is the client of %s, which are not judged as your controller is; name yours otherwise, and its process, too", name, whose))
	}
}
