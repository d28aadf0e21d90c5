package fakeapiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// serveWatch opens a watch, or makes it wait for the watch cache.
func (c *call) serveWatch() {
	o := &c.options
	if c.client.cluster.options.NoWatchList && o.SendInitialEvents != nil {
		c.answer(validateOptions(o, true, false))
		return
	}
	asStreamingList(o)
	f, err := newFilter(c.client.cluster.store.Resource(c.res), c.namespace, o, true, &c.client.selectors)
	if err != nil {
		c.answer(err)
		return
	}
	rev, err := store.ParseRevision(o.ResourceVersion)
	if err != nil {
		c.answer(errNoRevision(o.ResourceVersion, err)) // S2
		return
	}
	cache := c.replica.caches[c.res]
	if !cache.ready {
		c.answer(errUnready(unreadyRetrySeconds))
		return
	}
	s := &stream{call: c, cache: cache, filter: f, bookmarks: o.AllowWatchBookmarks, pos: cache.pos}
	if o.SendInitialEvents != nil && *o.SendInitialEvents {
		if o.ResourceVersion == "" {
			rev = c.client.cluster.store.Revision() // I103
		}
		w := cache.whenFresh(rev, func(fresh bool) {
			if fresh {
				s.start(rev, true)
			} else {
				s.refuse(errTooLarge(rev, cache.rev)) // S16
			}
		})
		if c.state == stateServing {
			c.wait = w
		}
		return
	}
	s.start(rev, false)
}

// asStreamingList turns a watch without a revision into a streaming list (I101, S15).
func asStreamingList(o *metav1.ListOptions) {
	if o.SendInitialEvents == nil && o.ResourceVersionMatch == "" && (o.ResourceVersion == "" || o.ResourceVersion == "0") {
		yes := true
		o.SendInitialEvents, o.ResourceVersionMatch = &yes, metav1.ResourceVersionMatchNotOlderThan
	}
}
