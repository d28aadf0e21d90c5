package fakeapiserver

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// publish announces a write: it emits the record, notifies replicas and hooks, and fires triggers.
func (c *Cluster) publish(id store.ResourceID, v *store.Version) {
	r := c.kernel.Record(c.id, KindCommit)
	r.Key, r.RV, r.Detail, r.Obj = v.Entry().Display(), v.Revision(), string(v.Event()), v.Object()
	if old := v.Before(); old != nil {
		r.Old = old.Object()
	}
	c.kernel.Emit(r)
	for _, rep := range c.replicas {
		rep.caches[id].offer()
	}
	for _, f := range c.onCommit {
		f(id, v.Committed())
	}
	if c.spent.kinds = 0; c.enabled != 0 {
		c.offerStoreFaults()
	}
	if len(c.triggers) > 0 {
		var by *Client // nil for one that no client requests
		if c.serving != nil {
			by = c.serving.client
		}
		c.fireTriggers(fault.TriggerCommit, by, id, v.Entry().Key(), string(v.Event()))
	}
}

// lookup returns the resource of a write, the metadata of obj, and its key, nil if the Store does not have it yet.
func (c *Cluster) lookup(id store.ResourceID, obj runtime.Object) (*store.Resource, metav1.Object, *store.Entry, error) {
	r, err := c.resource(id)
	if err != nil {
		return nil, nil, nil, err
	}
	m, err := store.Meta(obj)
	if err != nil {
		return nil, nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return r, m, c.store.Find(id, m.GetNamespace(), m.GetName()), nil
}

// Create commits a new object; the Store owns it from then on. It fails with AlreadyExists or BadRequest, or as the
// Store's journal refuses it (Refused).
func (c *Cluster) Create(id store.ResourceID, obj runtime.Object) (runtime.Object, error) {
	r, m, e, err := c.lookup(id, obj)
	if err != nil {
		return nil, err
	}
	if e.Live() != nil {
		return nil, apierrors.NewAlreadyExists(r.GroupResource(), m.GetName())
	}
	v, err := c.store.Commit(id, e, obj, m)
	if err != nil {
		return nil, errNotCommitted(err)
	}
	c.publish(id, v)
	return v.Object(), nil
}

// Update commits a new state of an object; the Store owns it from then on. If it has a resourceVersion, that must be the
// current one (409 Conflict); without one the update is unconditional. uid and creationTimestamp are preserved. It fails with
// NotFound, Conflict or BadRequest, or as the Store's journal refuses it (Refused).
func (c *Cluster) Update(id store.ResourceID, obj runtime.Object) (runtime.Object, error) {
	r, m, e, err := c.lookup(id, obj)
	if err != nil {
		return nil, err
	}
	live := e.Live()
	if live == nil {
		return nil, apierrors.NewNotFound(r.GroupResource(), m.GetName())
	}
	old, err := store.Meta(live.Object())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if store.Same(live.Object(), obj) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s is the committed object itself: change a copy", e.Display()))
	}
	if rv := m.GetResourceVersion(); rv != "" && rv != old.GetResourceVersion() {
		return nil, errConflict(r, m.GetName())
	}
	m.SetUID(old.GetUID())
	m.SetCreationTimestamp(old.GetCreationTimestamp())
	v, err := c.store.Commit(id, e, obj, m)
	if err != nil {
		return nil, errNotCommitted(err)
	}
	c.publish(id, v)
	return v.Object(), nil
}

// Delete commits the deletion of an object and returns its last state. It fails with NotFound, with Conflict if a
// precondition does not hold, or as the Store's journal refuses it (Refused).
func (c *Cluster) Delete(id store.ResourceID, namespace, name string, pre *metav1.Preconditions) (runtime.Object, error) {
	r, err := c.resource(id)
	if err != nil {
		return nil, err
	}
	e := c.store.Find(id, namespace, name)
	live := e.Live()
	if live == nil {
		return nil, apierrors.NewNotFound(r.GroupResource(), name)
	}
	old, err := store.Meta(live.Object())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if pre != nil {
		if pre.UID != nil && *pre.UID != old.GetUID() {
			return nil, apierrors.NewConflict(r.GroupResource(), name, fmt.Errorf(
				"Precondition failed: UID in precondition: %v, UID in object meta: %v", *pre.UID, old.GetUID()))
		}
		if pre.ResourceVersion != nil && *pre.ResourceVersion != old.GetResourceVersion() {
			return nil, apierrors.NewConflict(r.GroupResource(), name, fmt.Errorf(
				"Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *pre.ResourceVersion, old.GetResourceVersion()))
		}
	}
	v, err := c.store.Remove(id, e, live.Object())
	if err != nil {
		return nil, errNotCommitted(err)
	}
	c.publish(id, v)
	return v.Object(), nil
}

// DeleteAs is like Delete, but watchers see final as the last state. In a recording of a real server it may differ from the
// state before the deletion (S18); nil means that state. The Store owns final from then on.
func (c *Cluster) DeleteAs(id store.ResourceID, namespace, name string, final runtime.Object) (runtime.Object, error) {
	if final == nil {
		return c.Delete(id, namespace, name, nil)
	}
	r, err := c.resource(id)
	if err != nil {
		return nil, err
	}
	e := c.store.Find(id, namespace, name)
	if e.Live() == nil {
		return nil, apierrors.NewNotFound(r.GroupResource(), name)
	}
	v, err := c.store.Remove(id, e, final)
	if err != nil {
		return nil, errNotCommitted(err)
	}
	c.publish(id, v)
	return v.Object(), nil
}

// execute carries out a write.
func (c *Cluster) execute(w Write) (runtime.Object, error) {
	if w.Serve != nil {
		return w.Serve()
	}
	switch w.Verb {
	case Create, Update:
		if _, err := store.Meta(w.Object); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if w.Verb == Create {
			return c.Create(w.Resource, w.Object.DeepCopyObject())
		}
		return c.Update(w.Resource, w.Object.DeepCopyObject())
	case Delete:
		return c.Delete(w.Resource, w.Namespace, w.Name, w.Preconditions)
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("there is no verb %q: use create, update or delete", w.Verb))
}

// SkipTo makes the next write have revision rev; see Store.SkipTo.
func (c *Cluster) SkipTo(rev int64) error { return c.store.SkipTo(rev) }
