package rest

import (
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver"
)

// deleteCollection deletes the objects of a list one by one and answers with the list. It stops at the first that cannot be
// deleted (S25).
func (c *call) deleteCollection(q url.Values) {
	page, o, lo, err := c.collection(q)
	if err != nil {
		c.fail(err)
		return
	}
	if s := c.deletesIn(); s != nil {
		request := c.writeRequest(nil)
		outcome, err := s.DeleteCollection(request.WriteOf(nil), &o)
		c.warnings = append(c.warnings, outcome.Warnings...)
		if err != nil {
			c.fail(err)
			return
		}
	}
	// With a revision, each delete gets that revision as a precondition: objects changed since are not deleted.
	for i := range page.Items {
		if err := c.deleteListed(page, i, o, lo); err != nil {
			c.fail(err)
			return
		}
	}
	c.answerList(page)
}

// collection returns what a deletecollection is about, and its options.
func (c *call) collection(q url.Values) (page *fakeapiserver.Page, o metav1.DeleteOptions, lo metav1.ListOptions, err error) {
	lo, err = listOptions(q)
	if err == nil {
		err = c.server.cluster.CheckListOptions(c.id, lo, false)
	}
	if err == nil {
		err = c.selectorError(lo)
	}
	if err != nil {
		return nil, o, lo, err
	}
	if o, err = c.deleteOptions(q, true); err != nil {
		return nil, o, lo, err
	}
	if unsafe := o.IgnoreStoreReadErrorWithClusterBreakingPotential; unsafe != nil && *unsafe {
		return nil, o, lo, apierrors.NewInvalid(deleteOptionsKind, "", field.ErrorList{field.Invalid(
			field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential"), true, "is not allowed with DELETECOLLECTION, try again after removing the option")})
	}
	if rv := lo.ResourceVersion; rv != "" && rv != "0" && lo.ResourceVersionMatch == "" {
		lo.ResourceVersionMatch = metav1.ResourceVersionMatchExact // the list as of N (S25)
	}
	page, err = c.server.cluster.ListNow(c.id, c.target.namespace, lo)
	return page, o, lo, err
}

func (c *call) deleteListed(page *fakeapiserver.Page, i int, o metav1.DeleteOptions, lo metav1.ListOptions) error {
	m := accessor(page.Items[i])
	live := c.server.live(c.id, m.GetNamespace(), m.GetName())
	if live == nil {
		return nil
	}
	if lo.ResourceVersion != "" && o.Preconditions == nil {
		rv := m.GetResourceVersion()
		o.Preconditions = &metav1.Preconditions{ResourceVersion: &rv}
	}
	_, _, err := c.remove(live, &o)
	return err
}
