package world

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/bootstrap"
	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/controllers/names"
	"github.com/informersim/informersim/fakeapiserver/quotas"
	"github.com/informersim/informersim/sim"
)

var kindAddNamespaces = sim.RegisterKind("add-namespaces", sim.ClassAction)

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
				return fmt.Errorf("Options.Controllers: %q is Kubernetes' own, which needs goroutines: a test runs it as a process, with Env.Go "+
					"(docs/nodes.md shows how); those that need none are %s", name, strings.Join(names.Simulated, ", "))
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

// namespaces is the actor that adds the namespaces of a fresh cluster, before the test's body begins.
type namespaces struct {
	w     *world
	added bool
}

// Name implements sim.Actor.
func (*namespaces) Name() string { return "namespaces" }

// Apply implements sim.Actor.
func (n *namespaces) Apply(sim.Choice) {
	n.added = true
	id, served := n.w.cluster.FindResource(corev1.Resource("namespaces"))
	if !served {
		n.w.kernel.Fail(fmt.Errorf("no namespaces can be added: the cluster does not serve them"))
		return
	}
	for _, name := range bootstrap.Namespaces {
		ns := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
		ns.Name, ns.Labels = name, map[string]string{corev1.LabelMetadataName: name}
		ns.CreationTimestamp = metav1.NewTime(n.w.cluster.Now())
		ns.Spec.Finalizers, ns.Status.Phase = []corev1.FinalizerName{corev1.FinalizerKubernetes}, corev1.NamespaceActive
		if _, err := n.w.cluster.Create(id, ns); err != nil {
			n.w.kernel.Fail(err)
			return
		}
	}
}

// addNamespaces adds them where namespaces live.
func (w *world) addNamespaces() {
	if !w.o.hasNamespaces() {
		return
	}
	n := &namespaces{w: w}
	w.kernel.Offer(w.kernel.Register(n), kindAddNamespaces, 0)
	for !n.added && w.kernel.Err() == nil && w.monitor.Violation() == nil {
		w.step()
	}
}
