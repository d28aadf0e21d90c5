package fakeapiserver

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// SetHeld holds or releases what a script names: "replica/1" applies nothing, "conn/NAME" gets no frames of its open
// watches, until it is released. Holds count, as the holds of faults do.
func (c *Cluster) SetHeld(target string, held bool) error {
	if strings.HasPrefix(target, "replica/") {
		r, err := c.replicaNamed(target)
		if err != nil {
			return err
		}
		if held {
			r.Hold()
		} else {
			r.Release()
		}
		return nil
	}
	cl := c.byName[strings.TrimPrefix(target, "conn/")]
	if cl == nil {
		return fmt.Errorf("fakeapiserver: there is no connection %q", target)
	}
	for _, k := range cl.calls {
		if k.watch == nil || !k.watch.open {
			continue
		}
		if held {
			k.watch.holds++
			k.watch.block(0)
		} else if k.watch.holds > 0 {
			k.watch.holds--
			k.watch.unblock()
		}
	}
	return nil
}

// DeleteAs is Delete with the last state that watchers are to see, which may differ from the one before, as it does in a
// recording of a real server (S18). nil means the state before. The object belongs to the Store from then on.
func (c *Cluster) DeleteAs(id ResourceID, namespace, name string, final runtime.Object) (runtime.Object, error) {
	if final == nil {
		return c.Delete(id, namespace, name, nil)
	}
	r, t, err := c.resource(id)
	if err != nil {
		return nil, err
	}
	e := t.find(namespace, name)
	if !e.exists() {
		return nil, apierrors.NewNotFound(r.GroupResource(), name)
	}
	v := c.store.remove(t, e, final)
	c.committed(id, v)
	return v.obj, nil
}
