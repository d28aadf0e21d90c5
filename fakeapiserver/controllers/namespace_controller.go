package controllers

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// KindEmptyNamespace is the choice in which the namespace controller processes one namespace.
var KindEmptyNamespace = sim.RegisterKind("empty-namespace", sim.ClassAction)

// NamespaceController deletes the content of a namespace that is being deleted, and then removes its finalizer. It is the actor
// "namespace-controller".
type NamespaceController struct {
	*worker[string]
	writer
	namespaces store.ResourceID
	served     bool
	waiting    map[string]bool // namespaces that were not empty when last processed
}

// retryFull is the delay before the controller retries a namespace that finalizers or grace periods keep from being empty. The real
// one waits about half of the longest grace period; deletions bring it back sooner.
const retryFull = 15 * time.Second

// NewNamespaceController starts a namespace controller.
func NewNamespaceController(c *fakeapiserver.Cluster, o Options) *NamespaceController {
	n := &NamespaceController{writer: writer{cluster: c, grace: o.GracePeriod}, waiting: map[string]bool{}}
	n.worker = newWorker(c.Kernel(), "namespace-controller", KindEmptyNamespace, o, n.empty)
	if n.find() {
		s := c.Store()
		s.Newest(n.namespaces, "", func(name string, obj runtime.Object) bool {
			n.saw(name, obj, false)
			return true
		})
	}
	c.OnCommit(func(id store.ResourceID, done store.Committed) {
		n.learn(func() { n.committed(id, &done) })
	})
	return n
}

func (n *NamespaceController) committed(id store.ResourceID, done *store.Committed) {
	switch m, ok := done.Object.(metav1.Object); {
	case !ok:
	case n.find() && id == n.namespaces:
		n.saw(done.Key, done.Object, done.Deleted)
	case done.Deleted && n.waiting[m.GetNamespace()]:
		n.add(m.GetNamespace())
	}
}

// find looks up the resource of namespaces, which may be added late.
func (n *NamespaceController) find() bool {
	if !n.served {
		n.namespaces, n.served = n.cluster.FindResource(schema.GroupResource{Resource: "namespaces"})
	}
	return n.served
}

// saw queues a namespace that is being deleted, or was deleted with content.
func (n *NamespaceController) saw(name string, obj runtime.Object, deleted bool) {
	if m, ok := obj.(metav1.Object); ok && (deleted || m.GetDeletionTimestamp() != nil) {
		n.add(name)
	}
}

// empty deletes a namespace's content; when none is left, it removes the namespace's finalizer.
func (n *NamespaceController) empty(name string) {
	ns := object{res: n.namespaces, name: name}
	obj, m := n.get(ns)
	if obj != nil && m.GetDeletionTimestamp() == nil {
		return // it was created again
	}
	rest, err := n.deleteContent(name)
	if err == nil && obj != nil {
		err = n.report(ns, rest)
	}
	switch {
	case err != nil:
	case rest.objects > 0:
		n.waiting[name] = true
		n.again(name, retryFull)
	case obj != nil && slices.Contains(namespaceFinalizers(obj), string(corev1.FinalizerKubernetes)):
		delete(n.waiting, name)
		err = n.change(ns, func(m metav1.Object) {
			if o, ok := m.(runtime.Object); ok {
				setNamespaceFinalizers(m, without(namespaceFinalizers(o), string(corev1.FinalizerKubernetes)))
			}
		})
	default:
		delete(n.waiting, name)
	}
	switch {
	case fakeapiserver.Refused(err):
		n.again(name, retryRefused)
	case err != nil:
		n.cluster.Kernel().Fail(fmt.Errorf("namespace controller: namespace %s: %w", name, err))
	}
}

// deleteContent deletes everything in a namespace, resource by resource, and returns what is left.
func (n *NamespaceController) deleteContent(namespace string) (*remainder, error) {
	rest := newRemainder()
	s := n.cluster.Store()
	for id := store.ResourceID(0); s.Resource(id) != nil; id++ {
		if !s.Resource(id).Namespaced {
			continue
		}
		var objects []object
		if err := s.Walk(id, s.Revision(), namespace, func(_ string, obj runtime.Object) bool {
			if m, ok := obj.(metav1.Object); ok {
				objects = append(objects, object{id, namespace, m.GetName(), m.GetUID()})
			}
			return true
		}); err != nil {
			return nil, err
		}
		for _, o := range objects {
			if _, m := n.get(o); m != nil && m.GetDeletionTimestamp() == nil {
				if err := n.delete(o, metav1.DeletePropagationBackground); err != nil {
					return nil, err
				}
			}
			if obj, m := n.get(o); obj != nil {
				rest.count(s.Resource(id), m)
			}
		}
	}
	return rest, nil
}
