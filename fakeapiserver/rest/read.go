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

// get is a list of one object: the same freshness rules and faults apply.
func (c *call) get(q url.Values) (cancel func()) {
	c.single = true
	if err := types.NameError(c.target.name); err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	if _, err := store.ParseRevision(q.Get("resourceVersion")); err != nil {
		return c.atReplica(func() { c.fail(errBadRevision(q.Get("resourceVersion"), err)) }) // 500 without a reason (S2)
	}
	c.req = c.client.Get(c.id, c.target.namespace, c.target.name, q.Get("resourceVersion"), c.target.below(), c)
	return c.cancel
}

// byName returns the field selector of one object.
func byName(name string) string { return "metadata.name=" + fields.EscapeValue(name) }

// selectorError returns the 400 for a field that only another version of the resource supports. It is nil if the options are
// invalid for any other reason.
func (c *call) selectorError(o metav1.ListOptions) error {
	if o.FieldSelector == "" || c.server.cluster.CheckListOptions(c.id, o, c.verb == verbWatch) != nil {
		return nil
	}
	selector, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return nil
	}
	for _, q := range selector.Requirements() {
		if labels, ok := c.resource.Strategy.(types.FieldLabels); ok {
			if err := labels.CheckField(q.Field); err != nil {
				return apierrors.NewBadRequest(err.Error())
			}
			continue
		}
		if !c.resource.Selectable(q.Field) {
			return apierrors.NewBadRequest("field label not supported: " + q.Field)
		}
	}
	return nil
}

// answerGet answers a get.
func (c *call) answerGet(page *fakeapiserver.Page) {
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
		c.answerEncoded(http.StatusOK, scale, nil)
		return
	}
	c.answerEncoded(http.StatusOK, obj, memoOf(page, 0))
}

// answerObject answers with an object in the request's version.
func (c *call) answerObject(code int, obj runtime.Object) {
	var memo *store.Memo
	if m, err := meta.Accessor(obj); err == nil {
		memo = c.server.cluster.Store().MemoOf(c.id, m.GetNamespace(), m.GetName(), obj)
	}
	c.answerEncoded(code, obj, memo)
}

func (c *call) answerEncoded(code int, obj runtime.Object, memo *store.Memo) {
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
		err = c.selectorError(o)
	}
	if err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	c.req = c.client.List(c.id, c.target.namespace, o, c)
	return c.cancel
}

// answerList answers a list.
func (c *call) answerList(page *fakeapiserver.Page) {
	body, err := c.encoder.list(c, page)
	if err != nil {
		c.fail(err)
		return
	}
	c.respondPieces(http.StatusOK, header(c.encoder.format.ContentType()), body)
}

// errBadRevision is the watch cache's error for a resourceVersion that is not a number.
func errBadRevision(rv string, err error) error {
	return errors.New(field.Invalid(field.NewPath("resourceVersion"), rv, err.Error()).Error())
}
