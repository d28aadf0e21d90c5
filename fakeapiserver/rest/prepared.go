package rest

import (
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/types"
)

var _ fakeapiserver.Preparer = (*call)(nil)

// asks reports whether somebody else may be asked to convert the resource's objects.
func (c *call) asks() bool {
	a, ok := c.resource.Strategy.(types.Asker)
	return ok && a.Asks()
}

// PreparePage implements fakeapiserver.Preparer: a list with an object that cannot be converted is a 500.
func (c *call) PreparePage(page *fakeapiserver.Page) error {
	if !c.asks() || len(page.Items) == 0 {
		return nil
	}
	c.answerPage(page)
	return c.failure
}

// PrepareEvent implements fakeapiserver.Preparer. Where an event's object cannot be converted, a real server's watch cache has failed, and ends
// all watches in good order; the error is what the next list answers.
func (c *call) PrepareEvent(e *fakeapiserver.Event) (err error) {
	if c.asks() {
		c.prepared, err = c.encoder.frame(c, *e)
	}
	return err
}
