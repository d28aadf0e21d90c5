package fakeapiserver

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// overtakable reports whether another client can write the object of the request before it. Of two writes of a client one gets through: whoever is told
// of what has overtaken it, and tries again at once, would go round for ever while no time passes.
func (c *call) overtakable() bool {
	switch c.verbName() {
	case "update", "patch", "delete":
		return !c.client.overtaken && c.res != noResource && c.target() != nil
	}
	return false
}

// target returns the object that the request is about, as the Store has it; nil if it has none.
func (c *call) target() runtime.Object {
	namespace, name := c.objectName()
	live := c.client.cluster.store.Find(c.res, namespace, name).Live()
	if live == nil {
		return nil
	}
	return live.Object()
}

// overtake writes the object of a request as another client would that changes something and takes it back: it has the same content and a new
// resourceVersion. Without a leader nobody can. What becomes of the request is for the server to say, as of any that comes late.
func (c *Cluster) overtake(by *call) {
	if by.fault = nil; c.leaderless > 0 || !by.overtakable() {
		return
	}
	obj := by.target().DeepCopyObject()
	m, err := store.Meta(obj)
	if err != nil {
		return
	}
	m.SetResourceVersion("")
	by.overtaken, by.client.overtaken = true, true
	_, _ = c.Update(by.res, obj) // where the journal refuses it, nobody has written anything
}
