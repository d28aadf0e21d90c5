package rest

import (
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/informersim/informersim/fakeapiserver"
)

func (c *call) watch(q url.Values) (cancel func()) {
	o, err := listOptions(q)
	if err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	if c.target.name != "" { // a legacy path to one object
		if err := c.watchNameError(o); err != nil {
			return c.atReplica(func() { c.fail(err) })
		}
		if o.FieldSelector == "" {
			o.FieldSelector = byName(c.target.name)
		}
	}
	if err := c.watchError(o); err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	if err := c.encoder.format.Streams(); err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	c.req = c.client.Watch(c.id, c.target.namespace, o, c)
	return c.cancel
}

// watchError returns what is wrong with a watch whose list options are valid on their own.
func (c *call) watchError(o metav1.ListOptions) error {
	if err := c.selectorError(o); err != nil {
		return err
	}
	if c.encoder.viewErr != nil && c.server.cluster.CheckListOptions(c.id, o, true) == nil {
		return c.encoder.viewErr
	}
	return nil
}

// watchNameError returns the 400 for a watch of one object whose selector does not select it by name, nil if anything else is wrong
// with the options.
func (c *call) watchNameError(o metav1.ListOptions) error {
	selector, err := fields.ParseSelector(o.FieldSelector)
	if err != nil || selector.Empty() || c.server.cluster.CheckListOptions(c.id, o, true) != nil {
		return nil
	}
	if name, ok := selector.RequiresExactMatch("metadata.name"); !ok || name != c.target.name {
		return apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return nil
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
	frame, err := c.prepared, error(nil)
	if c.prepared = nil; frame == nil {
		frame, err = c.encoder.frame(c, e)
	}
	if err != nil {
		c.sink.Close(err)
		c.cancel()
		return
	}
	c.sink.Frame(frame)
}

// OnWatchClosed implements fakeapiserver.Receiver.
func (c *call) OnWatchClosed(_ fakeapiserver.ReqID, err error) { c.sink.Close(err) }
