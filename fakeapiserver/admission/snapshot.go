package admission

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	admissioninformers "k8s.io/client-go/informers/admissionregistration/v1"
	"k8s.io/client-go/informers/core"
	coreinformers "k8s.io/client-go/informers/core/v1"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The plugins want a factory of informers. They use it for three listers, and for handlers that tell them to read a lister again. The
// types below are that much of one; whatever else is called panics.

// snapshot is a factory of informers whose objects are set from outside.
type snapshot struct {
	informers.SharedInformerFactory
	mutating, validating, namespaces *informer
}

func newSnapshot() *snapshot {
	return &snapshot{mutating: newInformer(), validating: newInformer(), namespaces: newInformer()}
}

func (s *snapshot) Core() core.Interface { return coreGroup{s: s} }
func (s *snapshot) Admissionregistration() admissionregistration.Interface {
	return admissionGroup{s: s}
}

type coreGroup struct {
	core.Interface
	s *snapshot
}

func (g coreGroup) V1() coreinformers.Interface { return coreV1{s: g.s} }

type coreV1 struct {
	coreinformers.Interface
	s *snapshot
}

func (v coreV1) Namespaces() coreinformers.TypedNamespaceInformer {
	return coreinformers.ToTypedNamespaceInformer(namespacesOf{v.s.namespaces})
}

type admissionGroup struct {
	admissionregistration.Interface
	s *snapshot
}

func (g admissionGroup) V1() admissioninformers.Interface { return admissionV1{s: g.s} }

type admissionV1 struct {
	admissioninformers.Interface
	s *snapshot
}

func (v admissionV1) MutatingWebhookConfigurations() admissioninformers.TypedMutatingWebhookConfigurationInformer {
	return admissioninformers.ToTypedMutatingWebhookConfigurationInformer(mutatingOf{v.s.mutating})
}

func (v admissionV1) ValidatingWebhookConfigurations() admissioninformers.TypedValidatingWebhookConfigurationInformer {
	return admissioninformers.ToTypedValidatingWebhookConfigurationInformer(validatingOf{v.s.validating})
}

type namespacesOf struct{ of *informer }

func (n namespacesOf) Informer() cache.SharedIndexInformer { return n.of }
func (n namespacesOf) Lister() corelisters.NamespaceLister {
	return corelisters.NewNamespaceLister(n.of.objects)
}

type mutatingOf struct{ of *informer }

func (m mutatingOf) Informer() cache.SharedIndexInformer { return m.of }
func (m mutatingOf) Lister() admissionlisters.MutatingWebhookConfigurationLister {
	return admissionlisters.NewMutatingWebhookConfigurationLister(m.of.objects)
}

type validatingOf struct{ of *informer }

func (v validatingOf) Informer() cache.SharedIndexInformer { return v.of }
func (v validatingOf) Lister() admissionlisters.ValidatingWebhookConfigurationLister {
	return admissionlisters.NewValidatingWebhookConfigurationLister(v.of.objects)
}

// informer holds the objects of one kind, by name.
type informer struct {
	cache.SharedIndexInformer
	objects  cache.Indexer
	handlers []cache.ResourceEventHandler
}

func newInformer() *informer {
	return &informer{objects: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
}

// HasSynced implements cache.SharedIndexInformer.
func (*informer) HasSynced() bool { return true }

// AddEventHandler implements cache.SharedIndexInformer.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, h)
	return registration{}, nil
}

type registration struct {
	cache.ResourceEventHandlerRegistration
}

func (registration) HasSynced() bool { return true }

// named is an object of the snapshot.
type named interface {
	*admissionv1.MutatingWebhookConfiguration | *admissionv1.ValidatingWebhookConfiguration | *corev1.Namespace
	comparable
	GetName() string
}

// set replaces the objects, and tells the handlers of those that differ. Objects are never modified, so other ones are different ones.
func set[T named](i *informer, objects []T) error {
	stay := map[string]bool{}
	for _, o := range objects {
		stay[o.GetName()] = true
		was, known, err := i.objects.GetByKey(o.GetName())
		if err != nil {
			return err
		}
		if known && was == any(o) {
			continue
		}
		if err := i.objects.Update(o); err != nil {
			return err
		}
		for _, h := range i.handlers {
			if known {
				h.OnUpdate(was, o)
			} else {
				h.OnAdd(o, false)
			}
		}
	}
	for _, o := range i.objects.List() {
		if gone := o.(T); !stay[gone.GetName()] {
			if err := i.objects.Delete(o); err != nil {
				return err
			}
			for _, h := range i.handlers {
				h.OnDelete(o)
			}
		}
	}
	return nil
}
