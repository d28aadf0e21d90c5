package controllers

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// KindCollect is the choice in which the garbage collector processes one object.
var KindCollect = sim.RegisterKind("collect", sim.ClassAction)

// GarbageCollector deletes objects whose owners are all gone, and carries out foreground and orphaning deletions. It is the actor
// "garbage-collector".
type GarbageCollector struct {
	*worker[object]
	writer
	kinds kinds
	// dependents lists, by owner uid, the objects that refer to it, in the order in which they began to.
	dependents map[types.UID][]object
	owners     map[object][]metav1.OwnerReference // the inverse
}

// NewGarbageCollector starts a garbage collector. It begins with the objects that the cluster has.
func NewGarbageCollector(c *fakeapiserver.Cluster, o Options) *GarbageCollector {
	g := &GarbageCollector{
		writer:     writer{cluster: c, grace: o.GracePeriod},
		kinds:      newKinds(c),
		dependents: map[types.UID][]object{},
		owners:     map[object][]metav1.OwnerReference{},
	}
	g.worker = newWorker(c.Kernel(), "garbage-collector", KindCollect, o, g.collect)
	s := c.Store()
	for id := store.ResourceID(0); s.Resource(id) != nil; id++ {
		s.Newest(id, "", func(_ string, obj runtime.Object) bool {
			g.saw(id, obj, false)
			return true
		})
	}
	c.OnCommit(func(id store.ResourceID, done store.Committed) {
		g.learn(func() { g.saw(id, done.Object, done.Deleted) })
	})
	return g
}

func newKinds(c *fakeapiserver.Cluster) kinds {
	return kinds{cluster: c, known: map[schema.GroupKind]store.ResourceID{}}
}

// saw updates the index of owners, and queues affected objects.
func (g *GarbageCollector) saw(id store.ResourceID, obj runtime.Object, deleted bool) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	o := object{id, m.GetNamespace(), m.GetName(), m.GetUID()}
	refs := m.GetOwnerReferences()
	if deleted {
		refs = nil
	}
	was := g.owners[o]
	g.own(o, was, refs)
	// An owner in foreground deletion waits until no dependent blocks it.
	for _, ref := range was {
		if !slices.ContainsFunc(refs, func(now metav1.OwnerReference) bool { return now.UID == ref.UID && blocks(now) }) {
			if res, ok := g.kinds.find(ref.APIVersion, ref.Kind); ok {
				g.add(object{res, g.namespaceOf(res, o.namespace), ref.Name, ref.UID})
			}
		}
	}
	switch {
	case deleted:
		for _, d := range g.dependents[o.uid] {
			g.add(d)
		}
	case len(refs) > 0 || m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) > 0:
		g.add(o)
	}
}

func blocks(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

// own replaces the indexed owners of an object.
func (g *GarbageCollector) own(o object, was, now []metav1.OwnerReference) {
	names := func(refs []metav1.OwnerReference, uid types.UID) bool {
		return slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool { return ref.UID == uid })
	}
	for _, ref := range was {
		if names(now, ref.UID) {
			continue
		}
		if left := slices.DeleteFunc(g.dependents[ref.UID], func(d object) bool { return d == o }); len(left) > 0 {
			g.dependents[ref.UID] = left
		} else {
			delete(g.dependents, ref.UID)
		}
	}
	for i, ref := range now {
		if !names(was, ref.UID) && !names(now[:i], ref.UID) {
			g.dependents[ref.UID] = append(g.dependents[ref.UID], o)
		}
	}
	if len(now) == 0 {
		delete(g.owners, o)
	} else {
		g.owners[o] = now
	}
}

// namespaceOf returns the namespace of an owner with that resource, if its dependent is in namespace.
func (g *GarbageCollector) namespaceOf(res store.ResourceID, namespace string) string {
	if g.cluster.Store().Resource(res).Namespaced {
		return namespace
	}
	return ""
}

// collect processes one object.
func (g *GarbageCollector) collect(o object) {
	obj, m := g.get(o)
	if obj == nil {
		return
	}
	var err error
	switch {
	case m.GetDeletionTimestamp() != nil && slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents):
		err = g.deleteDependents(o)
	case m.GetDeletionTimestamp() != nil && slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents):
		err = g.orphanDependents(o)
	case m.GetDeletionTimestamp() == nil && len(m.GetOwnerReferences()) > 0:
		err = g.checkOwners(o, m)
	}
	switch {
	case fakeapiserver.Refused(err):
		g.again(o, retryRefused)
	case err != nil:
		g.cluster.Kernel().Fail(fmt.Errorf("garbage collector: %s %s/%s: %w", g.cluster.Store().Resource(o.res).Plural, o.namespace, o.name, err))
	}
}

// deleteDependents continues a foreground deletion: blocking dependents are deleted first, then the finalizer is removed.
func (g *GarbageCollector) deleteDependents(o object) error {
	blocked := false
	for _, d := range slices.Clone(g.dependents[o.uid]) {
		obj, m := g.get(d)
		if obj == nil {
			continue
		}
		for _, ref := range m.GetOwnerReferences() {
			blocked = blocked || ref.UID == o.uid && blocks(ref)
		}
		if m.GetDeletionTimestamp() == nil {
			g.add(d)
		}
	}
	if blocked {
		return nil // the deletion of a dependent queues o again
	}
	return g.change(o, func(m metav1.Object) {
		m.SetFinalizers(without(m.GetFinalizers(), metav1.FinalizerDeleteDependents))
	})
}

// orphanDependents removes the owner from its dependents, and then the finalizer from the owner.
func (g *GarbageCollector) orphanDependents(o object) error {
	for _, d := range slices.Clone(g.dependents[o.uid]) {
		if err := g.disown(d, func(ref metav1.OwnerReference) bool { return ref.UID == o.uid }); err != nil {
			return err
		}
	}
	return g.change(o, func(m metav1.Object) {
		m.SetFinalizers(without(m.GetFinalizers(), metav1.FinalizerOrphanDependents))
	})
}

// disown removes owners from an object.
func (g *GarbageCollector) disown(o object, which func(metav1.OwnerReference) bool) error {
	return g.change(o, func(m metav1.Object) {
		m.SetOwnerReferences(slices.DeleteFunc(slices.Clone(m.GetOwnerReferences()), which))
	})
}

func (g *GarbageCollector) owner(namespace string, ref metav1.OwnerReference) OwnerState {
	res, ok := g.kinds.find(ref.APIVersion, ref.Kind)
	if !ok {
		return Unknown
	}
	if g.cluster.Store().Resource(res).Namespaced && namespace == "" {
		return Unknown // a cluster-scoped object cannot have a namespaced owner
	}
	obj, m := g.get(object{res, g.namespaceOf(res, namespace), ref.Name, ref.UID})
	switch {
	case obj == nil:
		return Absent
	case m.GetDeletionTimestamp() != nil && slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return Waiting
	}
	return Solid
}

// checkOwners does what follows from an object's owners.
func (g *GarbageCollector) checkOwners(o object, m metav1.Object) error {
	verdict := JudgeOwners(m, func(ref metav1.OwnerReference) OwnerState { return g.owner(o.namespace, ref) }, func() bool { return len(g.dependents[o.uid]) > 0 })
	switch {
	case verdict.Again:
		g.again(o, RetryUnknown)
	case verdict.Left != nil:
		return g.change(o, func(m metav1.Object) { m.SetOwnerReferences(verdict.Left) })
	case verdict.Delete != "":
		return g.delete(o, verdict.Delete)
	}
	return nil
}
