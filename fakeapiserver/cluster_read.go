package fakeapiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// ListNow lists from the Store at once, without a choice, for components inside the server.
func (c *Cluster) ListNow(id store.ResourceID, namespace string, o metav1.ListOptions) (*Page, error) {
	if _, err := c.resource(id); err != nil {
		return nil, err
	}
	k := &call{client: &Client{cluster: c}, verb: verbList, res: id, namespace: namespace, options: o}
	p, err := k.planList()
	if err != nil {
		return nil, err
	}
	if want, have := max(p.exact, p.notBefore), c.store.Revision(); want > have { // a watch cache, which answers here in a real server, has waited for it
		return nil, errTooLarge(want, have)
	}
	return c.storePage(id, p)
}

// storePage answers a list plan from the Store's history.
func (c *Cluster) storePage(id store.ResourceID, p listPlan) (*Page, error) {
	revision, compacted := c.store.Revision(), c.store.Compacted()
	rev := revision
	switch {
	case p.exact > revision:
		return nil, errStoreTooLarge(p.exact, revision)
	case p.exact > 0 && p.exact < compacted && p.continued:
		return nil, errContinueExpired(encodeContinue(inconsistent, p.relativeKey(p.from)))
	case p.exact > 0 && p.exact < compacted:
		return nil, errCompacted()
	case p.exact > 0:
		rev = p.exact
	case p.notBefore > revision:
		return nil, errStoreTooLarge(p.notBefore, revision)
	}
	return buildPage(c.store.Timeline(id), p, rev), nil
}

// CheckListOptions returns the error that a list or watch with these options gets whatever the state, nil if there is none.
func (c *Cluster) CheckListOptions(id store.ResourceID, o metav1.ListOptions, watch bool) error {
	r, err := c.resource(id)
	if err == nil {
		if watch {
			asStreamingList(&o)
		}
		_, err = newFilter(r, "", &o, watch, &selectors{})
	}
	return err
}
