package fakeapiserver

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// serveList answers a list, or makes it wait for the watch cache.
func (c *call) serveList() {
	p, err := c.planList()
	if err != nil {
		c.answer(err)
		return
	}
	if c.single && p.consistent {
		c.listFromStore(p) // the real one's CacheDelegator.Get asks etcd then
		return
	}
	cache := c.replica.caches[c.res]
	if !cache.ready {
		// Only a get and an unfiltered list with a limit bypass a cache that is not ready (I107).
		if !c.single && (p.limit <= 0 || p.selects()) {
			c.answer(errUnready(unreadyRetrySeconds))
			return
		}
		c.listFromStore(p)
		return
	}
	need := p.notBefore
	if p.exact > 0 {
		need = p.exact
	}
	w := cache.whenFresh(need, func(fresh bool) { c.listFromCache(p, cache, need, fresh) })
	if c.state == stateServing {
		c.wait = w
	}
}

// unreadyRetrySeconds is the Retry-After while a watch cache is being filled. The real cache grows it from 1 with its downtime,
// which here is up to the strategy.
const unreadyRetrySeconds = 1

func (c *call) listFromCache(p listPlan, cache *watchCache, need int64, fresh bool) {
	switch {
	case fresh && p.exact == 0:
		c.page = buildPage(cache.view, p, cache.rev)
		c.answer(nil)
	case fresh && cache.hasExact(p.exact):
		c.page = buildPage(cache.view, p, p.exact)
		c.answer(nil)
	case fresh || p.consistent:
		c.listFromStore(p)
	default:
		c.answer(errTooLarge(need, cache.rev))
	}
}

// listFromStore answers a list that the watch cache cannot.
func (c *call) listFromStore(p listPlan) {
	c.answer(c.serve(func() (err error) {
		c.page, err = c.client.cluster.storePage(c.res, p)
		return err
	}))
}

// planList checks a list's options and plans its answer (S5, S9, I108, I109).
func (c *call) planList() (listPlan, error) {
	o := &c.options
	s := c.client.cluster.store
	f, err := newFilter(s.Resource(c.res), c.namespace, o, false, &c.client.selectors)
	if err != nil {
		return listPlan{}, err
	}
	if f.namespace == "" && f.fields != nil {
		// A namespace selected by field is listed like one in the path.
		if ns, ok := f.fields.RequiresExactMatch("metadata.namespace"); ok {
			f.namespace = ns
		}
	}
	p := listPlan{filter: f, limit: o.Limit}
	if o.Continue == "" && f.single() {
		p.limit = 0
	}
	if o.Continue != "" && o.ResourceVersion != "" && o.ResourceVersion != "0" {
		if _, err := decodeContinue(o.Continue); err == nil {
			return p, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
	}
	rev, err := store.ParseRevision(o.ResourceVersion)
	if err != nil {
		return p, apierrors.NewBadRequest("invalid resource version: " + field.Invalid(field.NewPath("resourceVersion"), o.ResourceVersion, err.Error()).Error())
	}
	if o.ResourceVersion == "0" {
		p.limit = 0 // S9
	}
	switch {
	case o.Continue != "":
		return p.continueAt(o, s.Revision())
	case o.ResourceVersionMatch == metav1.ResourceVersionMatchExact,
		o.ResourceVersionMatch == "" && o.Limit > 0 && rev > 0 && !f.single():
		p.exact = rev
	case asOf(c.fault) > 0:
		p.exact = asOf(c.fault)
	case o.ResourceVersion == "":
		p.notBefore, p.consistent = s.Revision(), true
	default:
		// A real etcd is at revision 1 or more before the first read: no list has the resourceVersion "0", which in a
		// request means any.
		p.notBefore = max(rev, 1)
	}
	return p, nil
}

// mayBeAsOf reports whether the list may be answered as of a revision that is past, by an apiserver whose watch cache of that resource is behind.
func (c *call) mayBeAsOf(rev int64) bool {
	if c.options.ResourceVersion != "0" || c.options.Continue != "" || c.client.cluster.store.Resource(c.res) == nil {
		return false
	}
	cache := c.client.cluster.stalestReplica(c).caches[c.res]
	return cache.ready && rev < cache.rev && cache.hasExact(rev)
}

// mayBeStale reports whether some replica may answer the list with stale state.
func (c *call) mayBeStale() bool {
	o := &c.options
	if o.Continue != "" || o.ResourceVersion == "" || c.client.cluster.store.Resource(c.res) == nil {
		return false
	}
	rev, err := store.ParseRevision(o.ResourceVersion)
	if err != nil {
		return false
	}
	cache := c.client.cluster.stalestReplica(c).caches[c.res]
	return cache.ready && rev <= cache.rev && cache.rev < c.client.cluster.store.Revision()
}
