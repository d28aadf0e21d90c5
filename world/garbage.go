package world

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

var kindCollect = sim.RegisterKind("collect", sim.ClassAction) // the garbage collector processes one object

// collectorClient is the garbage collector's client.
const collectorClient = "garbage-collector"

// collector is the cluster's garbage collector, the actor "gc": it deletes objects whose owners are all gone, and carries out
// foreground deletion and orphaning. Its requests go through the API like any client's: faults and lost races meet them, and the trace shows
// them. That is why it is not controllers.GarbageCollector, which decides and writes within one step.
type collector struct {
	w       *world
	id      sim.ActorID
	nodes   map[kinds.UID]*node
	queue   []kinds.UID // to be processed
	offered bool
	busy    bool // a request is in flight
}

// node is an object in the graph of owners.
type node struct {
	r      *types.Resource
	meta   metav1.Object // its current state in the Store
	queued bool
}

func newCollector(w *world) *collector {
	c := &collector{w: w}
	c.id = w.kernel.Register(c)
	c.rebuild()
	w.cluster.OnCommit(c.committed)
	w.cluster.OnRestore(c.rebuild)
	return c
}

// Name implements sim.Actor.
func (*collector) Name() string { return "gc" }

// Apply implements sim.Actor.
func (c *collector) Apply(sim.Choice) {
	c.offered = false
	if len(c.queue) == 0 {
		return // the Store was restored
	}
	uid := c.queue[0]
	c.queue = c.queue[1:]
	if n := c.nodes[uid]; n != nil {
		n.queued = false
		c.process(uid, n)
	}
	c.offer()
}

func (c *collector) offer() {
	if len(c.queue) > 0 && !c.offered && !c.busy {
		c.offered = true
		c.w.kernel.Clock().AfterFunc(c.pause(), func() { c.w.kernel.Offer(c.id, kindCollect, 0) })
	}
}

// The bounds of the collector's delay before it processes an object. Without a delay, a controller whose stale cache makes it
// recreate what the collector deletes would loop for ever without time passing.
const (
	minCollectPause = 100 * time.Millisecond
	maxCollectPause = time.Second
)

func (c *collector) pause() time.Duration {
	return minCollectPause + time.Duration(c.w.kernel.Stream(c.Name()).IntN(int(maxCollectPause-minCollectPause)))
}

func (c *collector) enqueue(uid kinds.UID) {
	if n := c.nodes[uid]; n != nil && !n.queued {
		n.queued = true
		c.queue = append(c.queue, uid)
		c.offer()
	}
}

// rebuild reads the whole Store, at the start and after a restore.
func (c *collector) rebuild() {
	c.nodes, c.queue = map[kinds.UID]*node{}, nil
	store := c.w.cluster.Store()
	for _, r := range c.w.mapper.registry.All() {
		if id, ok := c.w.cluster.FindResource(r.GroupResource()); ok {
			_ = store.Walk(id, store.Revision(), "", func(_ string, obj runtime.Object) bool { c.note(obj); return true })
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
	return resourcePath(n.r, n.meta.GetNamespace()) + "/" + n.meta.GetName()
}

// process carries out the next action that an object needs.
func (c *collector) process(uid kinds.UID, n *node) {
	switch {
	case n.meta.GetDeletionTimestamp() != nil && slices.Contains(n.meta.GetFinalizers(), metav1.FinalizerOrphanDependents):
		if ds := c.dependents(uid); len(ds) > 0 {
			c.disown(uid, ds[0])
			return
		}
		c.finalize(uid, n, metav1.FinalizerOrphanDependents)
	case n.meta.GetDeletionTimestamp() != nil && slices.Contains(n.meta.GetFinalizers(), metav1.FinalizerDeleteDependents):
		blocked := false
		for _, d := range c.dependents(uid) {
			if d.meta.GetDeletionTimestamp() == nil {
				c.delete(uid, d)
				return
			}
			blocked = blocked || slices.ContainsFunc(d.meta.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
				return ref.UID == uid && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
			})
		}
		if !blocked {
			c.finalize(uid, n, metav1.FinalizerDeleteDependents)
		}
	case n.meta.GetDeletionTimestamp() == nil && c.ownersGone(n):
		c.delete(uid, n)
	}
}

// ownersGone reports whether an object has owner references and none of its owners exists.
func (c *collector) ownersGone(n *node) bool {
	refs := n.meta.GetOwnerReferences()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool { return c.nodes[ref.UID] != nil })
}

func (c *collector) delete(looking kinds.UID, n *node) {
	uid, background := n.meta.GetUID(), metav1.DeletePropagationBackground
	c.request(looking, http.MethodDelete, n, "application/json", metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background,
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
	c.busy = true
	s := &collectorSink{c: c, uid: looking}
	c.w.api.Serve(&rest.Request{
		Method: method, URL: &url.URL{Path: n.path()}, Header: http.Header{"Content-Type": {contentType}, "Accept": {"application/json"}},
		Body: data, Client: collectorClient,
	}, s)
}

// collectorSink receives the answer to a request of the collector's.
type collectorSink struct {
	c   *collector
	uid kinds.UID
	sink
}

func (s *collectorSink) Answer(code int, h http.Header, body rest.Body) {
	s.sink.Answer(code, h, body)
	s.finished(code < 300 || code == http.StatusNotFound || code == http.StatusConflict)
}

func (s *collectorSink) Fail(err error) { s.sink.Fail(err); s.finished(false) }

// finished has the object processed again: at once, or after retryWait if the request failed.
func (s *collectorSink) finished(ok bool) {
	again := func() { s.c.busy = false; s.c.enqueue(s.uid); s.c.offer() }
	if ok {
		again()
		return
	}
	s.c.w.kernel.Clock().AfterFunc(retryWait, again)
}
