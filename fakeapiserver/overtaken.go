package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// overtakable returns the object of the request, if another client can write it before; otherwise nil. Of two writes of an object one gets through: whoever is told
// of what has overtaken it, and tries again at once, would go round for ever while no time passes.
func (c *call) overtakable() *store.Entry {
	switch c.verbName() {
	case "update", "patch", "delete":
		if e := c.target(); e.Live() != nil && !c.client.overtaken[e] {
			return e
		}
	}
	return nil
}

// target returns the object that the request is about; nil if the Store has never had it.
func (c *call) target() *store.Entry {
	if c.res == noResource {
		return nil
	}
	namespace, name := c.objectName()
	return c.client.cluster.store.Find(c.res, namespace, name)
}

// overtake writes the object of a request as another client would that changes something and takes it back: it has the same content and a new
// resourceVersion. Without a leader nobody can. What becomes of the request is for the server to say, as of any that comes late.
func (c *Cluster) overtake(by *call) {
	e := by.overtakable()
	if c.leaderless > 0 || e == nil {
		by.fault = nil
		return
	}
	obj := e.Live().Object().DeepCopyObject()
	m, err := store.Meta(obj)
	if err != nil {
		return
	}
	m.SetResourceVersion("")
	if by.client.overtaken == nil {
		by.client.overtaken = map[*store.Entry]bool{}
	}
	by.client.overtaken[e] = true
	_, _ = c.Update(by.res, obj) // where the journal refuses it, nobody has written anything
}

// through notes that a write was served, after which the next one of the object can be overtaken again.
func (c *call) through() {
	switch overtaken := c.fault != nil && c.fault.Kind == fault.WriteOvertaken; {
	case overtaken:
		c.fault = nil
	case len(c.client.overtaken) > 0:
		delete(c.client.overtaken, c.target())
	}
}
