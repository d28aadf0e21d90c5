package fakeapiserver

import (
	"math"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// listPlan is how a list is to be answered.
type listPlan struct {
	filter
	// exact is the revision that must be shown; 0 for that of the watch cache once it is at least at notBefore.
	exact, notBefore int64
	// consistent reads go to the Store when the watch cache does not come up (RV "").
	consistent bool
	limit      int64
	from       string // the first key, of a continued list
	continued  bool
}

// serveList answers a list, or has it wait for the watch cache.
func (c *call) serveList() {
	p, err := c.planList()
	if err != nil {
		c.answer(err)
		return
	}
	cache := c.replica.caches[c.res]
	if !cache.ready {
		// Only an unfiltered list with a limit goes past a cache that is not there (I107).
		if p.limit <= 0 || p.selects() {
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

// unreadyRetrySeconds is the Retry-After while a watch cache is being filled: the real one grows it from 1 with the time it
// has been down, and a replica here is down for as long as the strategy likes.
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

// listFromStore answers what the watch cache cannot.
func (c *call) listFromStore(p listPlan) {
	c.answer(c.served(func() (err error) {
		c.page, err = c.client.cluster.store.page(c.res, p)
		return err
	}))
}

// ListNow is what a list would show that goes to the Store at once: for those inside the server, which wait for nobody.
func (c *Cluster) ListNow(id ResourceID, namespace string, o metav1.ListOptions) (*Page, error) {
	if _, _, err := c.resource(id); err != nil {
		return nil, err
	}
	k := &call{client: &Client{cluster: c}, verb: verbList, res: id, namespace: namespace, options: o}
	p, err := k.planList()
	if err != nil {
		return nil, err
	}
	return c.store.page(id, p)
}

// page lists what a plan asks for, as far as history goes.
func (s *Store) page(id ResourceID, p listPlan) (*Page, error) {
	rev := s.revision
	switch {
	case p.exact > s.revision:
		return nil, errTooLarge(p.exact, s.revision)
	case p.exact > 0 && p.exact < s.compacted && p.continued:
		return nil, errContinueExpired(encodeContinue(inconsistent, p.relative(p.from)))
	case p.exact > 0 && p.exact < s.compacted:
		return nil, errCompacted()
	case p.exact > 0:
		rev = p.exact
	case p.notBefore > s.revision:
		return nil, errTooLarge(p.notBefore, s.revision)
	}
	return buildPage(s.timelines[id], p, rev), nil
}

// planList checks a list's options and says how it is to be answered (S5, S9, I108, I109).
func (c *call) planList() (listPlan, error) {
	o := &c.options
	s := c.client.cluster.store
	f, err := newFilter(s.resources[c.res], c.namespace, o, false)
	if err != nil {
		return listPlan{}, err
	}
	if f.namespace == "" && f.fields != nil {
		// One namespace selected by field is listed like one named in the path.
		if ns, ok := f.fields.RequiresExactMatch("metadata.namespace"); ok {
			f.namespace = ns
		}
	}
	p := listPlan{filter: f, limit: o.Limit}
	if o.Continue == "" && f.single() {
		p.limit = 0
	}
	if _, bad := decodeContinue(o.Continue); o.Continue != "" && bad == nil && o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return p, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
	}
	rev, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return p, apierrors.NewBadRequest("invalid resource version: " + field.Invalid(field.NewPath("resourceVersion"), o.ResourceVersion, err.Error()).Error())
	}
	if o.ResourceVersion == "0" {
		p.limit = 0 // S9
	}
	switch {
	case o.Continue != "":
		return p.continueAt(o, s.revision)
	case o.ResourceVersionMatch == metav1.ResourceVersionMatchExact,
		o.ResourceVersionMatch == "" && o.Limit > 0 && rev > 0 && !f.single():
		p.exact = rev
	case o.ResourceVersion == "":
		p.notBefore, p.consistent = s.revision, true
	default:
		// A real Store is at revision 1 or more before anybody reads it: no list has the resourceVersion "0", which as a
		// question means any.
		p.notBefore = max(rev, 1)
	}
	return p, nil
}

func (p listPlan) continueAt(o *metav1.ListOptions, current int64) (listPlan, error) {
	t, err := decodeContinue(o.Continue)
	if err != nil {
		return p, apierrors.NewBadRequest("invalid continue token: " + err.Error())
	}
	p.continued = true
	p.from = t.Start
	if p.namespace != "" {
		p.from = p.namespace + "/" + t.Start
	}
	if t.Revision > 0 {
		p.exact = t.Revision
	} else {
		p.notBefore, p.consistent = current, true
	}
	return p, nil
}

// relative is a key as tokens carry it.
func (p *listPlan) relative(key string) string {
	if p.namespace != "" {
		return strings.TrimPrefix(key, p.namespace+"/")
	}
	return key
}

// buildPage lists what a plan asks for at a revision.
func buildPage(t *timeline, p listPlan, rev int64) *Page {
	page := &Page{Revision: rev, ResourceVersion: strconv.FormatInt(rev, 10)}
	if p.limit <= 0 && p.namespace == "" && !p.selects() {
		n := t.entries.Len()
		page.reserve(n, t.memos)
	}
	var seen, more int64
	t.walk(rev, p.namespace, p.from, func(v *version) bool {
		if p.limit > 0 && int64(len(page.Items)) >= p.limit {
			if more = 1; !p.selects() { // the rest is counted only where the count is told (S8)
				more = t.countFrom(rev, p.namespace, v.entry.key)
			}
			return false
		}
		seen++
		if !p.selects() || p.matches(v.obj) {
			page.Items = append(page.Items, v.obj)
			page.Keys = append(page.Keys, v.entry.key)
			if t.memos {
				page.Memos = append(page.Memos, v.memo)
			}
		}
		return true
	})
	if more > 0 {
		last := page.Keys[len(page.Keys)-1]
		page.Continue = encodeContinue(rev, p.relative(last)+"\x00")
		if !p.selects() {
			page.RemainingItemCount = &more
		}
	}
	return page
}

// reserve makes room for n items.
func (p *Page) reserve(n int, memos bool) {
	p.Items, p.Keys = make([]runtime.Object, 0, n), make([]string, 0, n)
	if memos {
		p.Memos = make([]*Memo, 0, n)
	}
}

// parseRevision reads a resourceVersion as the real server's storage does: empty is 0.
func parseRevision(text string) (int64, error) { return ParseRevision(text) }

// ParseRevision reads a resourceVersion: "" and "0" are 0. What is no number is an error in the words of the real server.
func ParseRevision(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, err
	}
	return int64(min(v, math.MaxInt64)), nil
}

func validateOptions(o *metav1.ListOptions, watching bool) error {
	in := internalversion.ListOptions{
		Watch: watching, ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
		Limit: o.Limit, Continue: o.Continue, SendInitialEvents: o.SendInitialEvents,
	}
	if errs := validation.ValidateListOptions(&in, true); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	return nil
}
