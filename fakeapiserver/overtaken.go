package fakeapiserver

import (
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// mostOvertaken is how many writes of an object one client can have overtaken while no time passes.
const mostOvertaken = 10

// overtakes are the writes of an object by one client that were overtaken.
type overtakes struct {
	last  bool // the last one was
	at    time.Duration
	times int // at that instant
}

// overtakable returns the object of the request, if another client can write it before; otherwise nil. Whoever is told of what has overtaken it, and tries again at once, would go round for ever while no time passes. So of two writes
// of an object one gets through. That is not enough for those who write it more than once whenever they try: first what is as it was, and then the status. So there is an end at each instant.
func (c *call) overtakable() *store.Entry {
	switch c.verbName() {
	case "update", "patch", "delete":
		e := c.target()
		if o := c.client.overtaken[e]; e.Live() != nil && (o == nil || !o.last && (o.times < mostOvertaken || o.at != c.client.cluster.kernel.Elapsed())) {
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
		by.client.overtaken = map[*store.Entry]*overtakes{}
	}
	o := by.client.overtaken[e]
	if now := c.kernel.Elapsed(); o == nil || o.at != now {
		o = &overtakes{at: now}
		by.client.overtaken[e] = o
	}
	o.last = true
	o.times++
	_, _ = c.Update(by.res, obj) // where the journal refuses it, nobody has written anything
}

// through notes that a write was served, after which the next one of the object can be overtaken again.
func (c *call) through() {
	switch overtaken := c.fault != nil && c.fault.Kind == fault.WriteOvertaken; {
	case overtaken:
		c.fault = nil
	case len(c.client.overtaken) > 0:
		if o := c.client.overtaken[c.target()]; o != nil {
			o.last = false
		}
	}
}
