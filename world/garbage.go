package world

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

var kindCollect = sim.RegisterKind("collect", sim.ClassAction) // the garbage collector processes one object

// collectorClient is the garbage collector's client.
const collectorClient = "garbage-collector"

// collector is the cluster's garbage collector, the actor "gc": it deletes objects whose owners are all gone, and carries out
// foreground deletion and orphaning. It is not controllers.GarbageCollector, which decides and writes within one step, where no fault meets it.
type collector struct {
	w     *world
	nodes map[kinds.UID]*node
	gone  map[kinds.UID]*node // what was deleted of kinds that may be served no more: nobody can ask for such an owner, and Kubernetes' collector remembers some, too (absentOwnerCache)
	work  *backlog[kinds.UID]
}

// node is an object in the graph of owners.
type node struct {
	r    *types.Resource
	meta metav1.Object // its current state in the Store
}

func newCollector(w *world) *collector {
	c := &collector{w: w}
	c.work = newBacklog(w, "gc", collectorClient, kindCollect, c.process)
	c.rebuild()
	w.cluster.OnCommit(c.committed)
	w.cluster.OnRestore(c.rebuild)
	return c
}

func (c *collector) enqueue(uid kinds.UID) {
	if c.nodes[uid] != nil {
		c.work.add(uid)
	}
}

// rebuild reads the whole Store, at the start and after a restore.
func (c *collector) rebuild() {
	c.nodes, c.gone = map[kinds.UID]*node{}, map[kinds.UID]*node{}
	c.work.clear()
	store := c.w.cluster.Store()
	for _, r := range c.w.mapper.registry.All() {
		if id, ok := c.w.cluster.FindResource(r.GroupResource()); ok {
			store.Newest(id, "", func(_ string, obj runtime.Object) bool { c.note(obj); return true })
		}
	}
}

// note adds an object to the graph, or updates it there.
func (c *collector) note(obj runtime.Object) {
	m, ok := obj.(metav1.Object)
	r, err := c.w.mapper.resourceOf(obj)
	if !ok || err != nil || m.GetUID() == "" {
		return
	}
	n := c.nodes[m.GetUID()]
	if n == nil {
		n = &node{r: r}
		c.nodes[m.GetUID()] = n
	}
	n.meta = m
	if len(m.GetOwnerReferences()) > 0 || m.GetDeletionTimestamp() != nil {
		c.enqueue(m.GetUID())
	}
}

func (c *collector) committed(_ store.ResourceID, v store.Committed) {
	if !v.Deleted {
		c.note(v.Object)
		return
	}
	m, ok := v.Object.(metav1.Object)
	if !ok {
		return
	}
	if n := c.nodes[m.GetUID()]; n != nil && c.w.definitions != nil {
		c.gone[m.GetUID()] = n
	}
	delete(c.nodes, m.GetUID())
	for _, d := range c.dependents(m.GetUID()) {
		c.enqueue(d.meta.GetUID())
	}
	for _, ref := range m.GetOwnerReferences() {
		c.enqueue(ref.UID) // it may be waiting for this one
	}
}

// dependents returns the objects with an owner reference to uid, sorted by path.
func (c *collector) dependents(uid kinds.UID) []*node {
	var all []*node
	for _, n := range c.nodes { // order: sorted below
		if slices.ContainsFunc(n.meta.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == uid }) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *node) int { return strings.Compare(a.path(), b.path()) })
	return all
}

func (n *node) path() string {
	return resourcePath(n.r.GroupVersionResource(), n.r.Namespaced, n.meta.GetNamespace()) + "/" + n.meta.GetName()
}

// process carries out the next action that an object needs.
func (c *collector) process(uid kinds.UID) {
	n := c.nodes[uid]
	switch {
	case n == nil:
	case n.meta.GetDeletionTimestamp() != nil && slices.Contains(n.meta.GetFinalizers(), metav1.FinalizerOrphanDependents):
		if ds := c.dependents(uid); len(ds) > 0 {
			c.disown(uid, ds[0])
			return
		}
		c.finalize(uid, n, metav1.FinalizerOrphanDependents)
	case n.meta.GetDeletionTimestamp() != nil && slices.Contains(n.meta.GetFinalizers(), metav1.FinalizerDeleteDependents):
		blocked := false
		for _, d := range c.dependents(uid) {
			if d.meta.GetDeletionTimestamp() == nil && c.checkOwners(uid, d) {
				return
			}
			blocked = blocked || slices.ContainsFunc(d.meta.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
				return ref.UID == uid && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
			})
		}
		if !blocked {
			c.finalize(uid, n, metav1.FinalizerDeleteDependents)
		}
	case n.meta.GetDeletionTimestamp() == nil:
		c.checkOwners(uid, n)
	}
}

// checkOwners does what follows from an object's owners, if anything does, and then has looking processed again.
func (c *collector) checkOwners(looking kinds.UID, n *node) (acted bool) {
	uid := n.meta.GetUID()
	verdict := controllers.JudgeOwners(n.meta, func(ref metav1.OwnerReference) controllers.OwnerState { return c.owner(n, ref) }, func() bool { return len(c.dependents(uid)) > 0 })
	switch {
	case verdict.Again && c.w.definitions != nil:
		c.w.kernel.Clock().AfterFunc(controllers.RetryUnknown, func() { c.enqueue(uid) })
	case verdict.Left != nil:
		c.patch(looking, n, map[string]any{"ownerReferences": verdict.Left})
		return true
	case verdict.Delete != "":
		c.delete(looking, n, verdict.Delete)
		return true
	}
	return false
}

// owner says what has become of an object's owner. It is looked for in the object's namespace, and nowhere else.
func (c *collector) owner(n *node, ref metav1.OwnerReference) controllers.OwnerState {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	r, err := c.w.mapper.byKind(kind)
	if was := c.gone[ref.UID]; err != nil && was != nil && was.r.GroupVersionKind().GroupKind() == kind.GroupKind() && was.meta.GetName() == ref.Name && (!was.r.Namespaced || was.meta.GetNamespace() == n.meta.GetNamespace()) {
		return controllers.Absent
	}
	if err != nil || r.Namespaced && n.meta.GetNamespace() == "" {
		return controllers.Unknown
	}
	switch o := c.nodes[ref.UID]; {
	case o == nil || o.r.GroupResource() != r.GroupResource() || o.meta.GetName() != ref.Name || r.Namespaced && o.meta.GetNamespace() != n.meta.GetNamespace():
		return controllers.Absent
	case o.meta.GetDeletionTimestamp() != nil && slices.Contains(o.meta.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return controllers.Waiting
	}
	return controllers.Solid
}

func (c *collector) delete(looking kinds.UID, n *node, policy metav1.DeletionPropagation) {
	uid := n.meta.GetUID()
	c.request(looking, http.MethodDelete, n, "application/json", metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &policy,
	})
}

func (c *collector) disown(owner kinds.UID, n *node) {
	refs := slices.DeleteFunc(slices.Clone(n.meta.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return ref.UID == owner })
	c.patch(owner, n, map[string]any{"ownerReferences": refs})
}

func (c *collector) finalize(uid kinds.UID, n *node, finalizer string) {
	remaining := slices.DeleteFunc(slices.Clone(n.meta.GetFinalizers()), func(f string) bool { return f == finalizer })
	c.patch(uid, n, map[string]any{"finalizers": remaining})
}

// patch changes an object's metadata, provided that the object has not changed since.
func (c *collector) patch(looking kinds.UID, n *node, meta map[string]any) {
	meta["uid"], meta["resourceVersion"] = n.meta.GetUID(), n.meta.GetResourceVersion()
	c.request(looking, http.MethodPatch, n, "application/merge-patch+json", map[string]any{"metadata": meta})
}

// request makes a request, and afterwards has the object that caused it processed again.
func (c *collector) request(looking kinds.UID, method string, n *node, contentType string, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		c.w.kernel.Fail(err)
		return
	}
	c.work.request(method, n.path(), contentType, data, func() { c.enqueue(looking) })
}
