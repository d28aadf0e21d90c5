package world

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/apiextensions"
	"github.com/informersim/informersim/fakeapiserver/bootstrap"
	"github.com/informersim/informersim/sim"
)

var (
	kindAddNamespaces  = sim.RegisterKind("add-namespaces", sim.ClassAction)
	kindAddDefinitions = sim.RegisterKind("add-definitions", sim.ClassAction)
)

// optionServeCRDs is in the header's options if CustomResourceDefinitions are served.
const optionServeCRDs = "serveCRDs"

// preparation is the actor that adds what is there before the test's body begins, in one step.
type preparation struct {
	w    *world
	name string
	add  func() error
	done bool
}

// Name implements sim.Actor.
func (p *preparation) Name() string { return p.name }

// Apply implements sim.Actor.
func (p *preparation) Apply(sim.Choice) {
	p.done = true
	if err := p.add(); err != nil {
		p.w.kernel.Fail(err)
	}
}

// prepare makes steps until it is done.
func (w *world) prepare(kind sim.Kind, name string, add func() error) {
	p := &preparation{w: w, name: name, add: add}
	w.kernel.Offer(w.kernel.Register(p), kind, 0)
	for !p.done && w.kernel.Err() == nil && w.monitor.Violation() == nil {
		w.step()
	}
}

// addNamespaces adds the namespaces of a fresh cluster, where namespaces live.
func (w *world) addNamespaces() {
	if w.o.hasNamespaces() {
		w.prepare(kindAddNamespaces, "namespaces", w.createNamespaces)
	}
}

func (w *world) createNamespaces() error {
	id, served := w.cluster.FindResource(corev1.Resource("namespaces"))
	if !served {
		return fmt.Errorf("no namespaces can be added: the cluster does not serve them")
	}
	for _, name := range bootstrap.Namespaces {
		ns := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
		ns.Name, ns.Labels = name, map[string]string{corev1.LabelMetadataName: name}
		ns.CreationTimestamp = metav1.NewTime(w.cluster.Now())
		ns.Spec.Finalizers, ns.Status.Phase = []corev1.FinalizerName{corev1.FinalizerKubernetes}, corev1.NamespaceActive
		if _, err := w.cluster.Create(id, ns); err != nil {
			return err
		}
	}
	return nil
}

// serveDefinitions has the webhooks of definitions called, and adds CustomResourceDefinitions to the API, if the test wants them.
func (w *world) serveDefinitions() (err error) {
	w.conversions = newConversions(w)
	if !w.o.ServeCRDs {
		return nil
	}
	if w.definitions, err = apiextensions.New(w.cluster, w.api); err == nil {
		w.definitions.ConvertBy(w.mapper.converters)
	}
	return err
}

// addDefinitions adds those of the options, which are established at once.
func (w *world) addDefinitions() {
	if w.definitions == nil || len(w.mapper.definitions) == 0 {
		return
	}
	w.prepare(kindAddDefinitions, "definitions", func() error {
		for _, d := range w.mapper.definitions {
			if err := w.definitions.Install(d); err != nil {
				return fmt.Errorf("Options.CRDs: %w", err)
			}
		}
		return nil
	})
}
