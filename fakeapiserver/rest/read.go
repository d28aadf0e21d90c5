package rest

import (
	"errors"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// get is a list of one object: it waits for the same freshness, and is hit by the same faults.
func (c *call) get(q url.Values) (cancel func()) {
	c.single = true
	if err := types.NameError(c.target.name); err != nil {
		return c.at(func() { c.fail(err) })
	}
	if _, err := store.ParseRevision(q.Get("resourceVersion")); err != nil {
		return c.at(func() { c.fail(errBadRevision(q.Get("resourceVersion"), err)) }) // 500 without a reason (S2)
	}
	c.req = c.client.Get(c.id, c.target.namespace, c.target.name, q.Get("resourceVersion"), c)
	return c.cancel
}

// byName selects one object.
func byName(name string) string { return "metadata.name=" + fields.EscapeValue(name) }

// unselectable is the 400 of a field that another version of the resource can be selected by, and this one not. It is nil where
// anything else is wrong with the options.
func (c *call) unselectable(o metav1.ListOptions) error {
	if o.FieldSelector == "" || c.server.cluster.CheckListOptions(c.id, o, c.verb == verbWatch) != nil {
		return nil
	}
	selector, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return nil
	}
	for _, q := range selector.Requirements() {
		if !c.resource.Selectable(q.Field) {
			return apierrors.NewBadRequest("field label not supported: " + q.Field)
		}
	}
	return nil
}

// got answers a get.
func (c *call) got(page *fakeapiserver.Page) {
	if len(page.Items) == 0 {
		c.fail(apierrors.NewNotFound(c.resource.GroupResource(), c.target.name))
		return
	}
	obj := page.Items[0]
	if c.target.subresource == "scale" {
		scale, err := c.scaleOf(obj)
		if err != nil {
			c.fail(err)
			return
		}
		c.shown(http.StatusOK, scale, nil)
		return
	}
	c.shown(http.StatusOK, obj, memoOf(page, 0))
}

// object answers with an object in the request's version.
func (c *call) object(code int, obj runtime.Object) {
	var memo *store.Memo
	if m, err := meta.Accessor(obj); err == nil {
		memo = c.server.cluster.Store().MemoOf(c.id, m.GetNamespace(), m.GetName(), obj)
	}
	c.shown(code, obj, memo)
}

func (c *call) shown(code int, obj runtime.Object, memo *store.Memo) {
	body, err := c.encoder.object(c, obj, memo)
	if err != nil {
		c.fail(err)
		return
	}
	c.respondPieces(code, header(c.encoder.format.ContentType()), body)
}

func (c *call) list(q url.Values) (cancel func()) {
	o, err := listOptions(q)
	if err == nil {
		err = c.unselectable(o)
	}
	if err != nil {
		return c.at(func() { c.fail(err) })
	}
	c.req = c.client.List(c.id, c.target.namespace, o, c)
	return c.cancel
}

// listed answers a list.
func (c *call) listed(page *fakeapiserver.Page) {
	body, err := c.encoder.list(c, page)
	if err != nil {
		c.fail(err)
		return
	}
	c.respondPieces(http.StatusOK, header(c.encoder.format.ContentType()), body)
}

// errBadRevision is what a watch cache says to a resourceVersion that is no number.
func errBadRevision(rv string, err error) error {
	return errors.New(field.Invalid(field.NewPath("resourceVersion"), rv, err.Error()).Error())
}
