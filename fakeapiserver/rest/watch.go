package rest

import (
	"net/http"
	"net/url"

	"github.com/informersim/informersim/fakeapiserver"
)

func (c *call) watch(q url.Values) (cancel func()) {
	o, err := listOptions(q)
	if err != nil {
		return c.at(func() { c.fail(err) })
	}
	if c.target.name != "" { // a legacy path to one object
		o.FieldSelector = byName(c.target.name)
	}
	if err := c.unselectable(o); err != nil {
		return c.at(func() { c.fail(err) })
	}
	if err := c.encoder.format.Streams(); err != nil {
		return c.at(func() { c.fail(err) })
	}
	c.req = c.client.Watch(c.id, c.target.namespace, o, c)
	return c.cancel
}

// OnWatchOpened implements fakeapiserver.Receiver.
func (c *call) OnWatchOpened(fakeapiserver.ReqID) {
	c.opened = true
	h := c.warn(header(c.encoder.format.StreamType()))
	c.sink.Open(http.StatusOK, h)
}

// OnWatchOpenError implements fakeapiserver.Receiver.
func (c *call) OnWatchOpenError(_ fakeapiserver.ReqID, err error) {
	if brokenConnection(err) {
		c.sink.Fail(err)
		return
	}
	c.fail(err)
	c.answer()
}

// OnEvent implements fakeapiserver.Receiver.
func (c *call) OnEvent(_ fakeapiserver.ReqID, e fakeapiserver.Event) {
	frame, err := c.encoder.frame(c, e)
	if err != nil {
		c.sink.Close(err)
		c.cancel()
		return
	}
	c.sink.Frame(frame)
}

// OnWatchClosed implements fakeapiserver.Receiver.
func (c *call) OnWatchClosed(_ fakeapiserver.ReqID, err error) { c.sink.Close(err) }
