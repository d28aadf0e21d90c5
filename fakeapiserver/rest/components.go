package rest

import (
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informersim/informersim/fakeapiserver"
)

// asComponents answers a request for ComponentStatuses, which are not stored: a real server asks the components themselves. ok is false for any
// other request, and where there are none.
func (c *call) asComponents(query url.Values) (cancel func(), ok bool) {
	switch {
	case c.resource.GroupResource() != corev1.Resource("componentstatuses"):
		return nil, false
	case c.verb == verbWatch:
		return c.atReplica(func() { c.fail(apierrors.NewMethodNotSupported(c.resource.GroupResource(), string(verbWatch))) }), true
	case c.server.components == nil:
		return nil, false
	case c.verb == verbGet:
		return c.atReplica(c.component), true
	}
	return c.atReplica(func() {
		page, err := c.componentsOf(query)
		if err != nil {
			c.fail(err)
			return
		}
		c.answerList(page)
	}), true
}

// component answers a get.
func (c *call) component() {
	for _, status := range c.server.components {
		if status.Name == c.target.name {
			c.answerGet(pageOf(status))
			return
		}
	}
	c.fail(&apierrors.StatusError{ErrStatus: metav1.Status{ // in the singular, which only this storage says
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: `componentstatus "` + c.target.name + `" not found`,
		Details: &metav1.StatusDetails{Kind: "componentstatus", Name: c.target.name},
	}})
}

// componentsOf returns the list of those that selectors select. There is never more than one page.
func (c *call) componentsOf(query url.Values) (*fakeapiserver.Page, error) {
	o, err := listOptions(query)
	if err == nil {
		err = c.selectorError(o)
	}
	if err != nil {
		return nil, err
	}
	byLabel, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	var found []*corev1.ComponentStatus
	for _, status := range c.server.components {
		if byLabel.Matches(labels.Set(status.Labels)) && byField.Matches(fields.Set{"metadata.name": status.Name}) {
			found = append(found, status)
		}
	}
	return pageOf(found...), nil
}

func pageOf(all ...*corev1.ComponentStatus) *fakeapiserver.Page {
	page := &fakeapiserver.Page{}
	for _, status := range all {
		page.Items, page.Keys = append(page.Items, status), append(page.Keys, status.Name)
	}
	return page
}
