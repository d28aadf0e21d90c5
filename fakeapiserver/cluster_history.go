package fakeapiserver

import (
	"time"

	"github.com/informersim/informersim/fakeapiserver/store"
)

func (c *Cluster) floor(id store.ResourceID) int64 {
	low := c.store.Revision()
	for _, r := range c.replicas {
		if int(id) >= len(r.caches) {
			continue
		}
		if cache := r.caches[id]; cache.ready && cache.view == c.store.Timeline(id) {
			low = min(low, cache.oldestRevision())
		} else if cache.ready {
			low = min(low, cache.sourceRevision())
		}
	}
	return low
}

// Compact forgets every version before rev, in the Store and in every watch cache: lists at older revisions and watches
// from there get 410. rev ≤ 0 means the current revision.
func (c *Cluster) Compact(rev int64) error {
	if err := c.CompactStore(rev); err != nil {
		return err
	}
	for _, r := range c.replicas {
		for _, cache := range r.caches {
			if cache.ready {
				cache.compact(c.store.Compacted())
			}
		}
	}
	return nil
}

// compactionPollInterval is how long it takes a watch cache, at most, to notice that the Store was compacted: the real one looks
// every 15 seconds.
const compactionPollInterval = 15 * time.Second

// CompactStore forgets every version before rev in the Store alone. What watch caches hold is still served (S11): exact
// revisions until the caches notice, events for as long as their windows have them.
func (c *Cluster) CompactStore(rev int64) error {
	if rev <= 0 {
		rev = c.store.Revision()
	}
	if err := c.store.Compact(rev); err != nil {
		return err
	}
	r := c.kernel.Record(c.id, KindCompact)
	r.RV = c.store.Compacted()
	c.kernel.Emit(r)
	c.offerStoreFaults()
	compacted := c.store.Compacted()
	c.kernel.Clock().AfterFunc(compactionPollInterval, func() {
		for _, r := range c.replicas {
			for _, cache := range r.caches {
				cache.followCompaction(compacted)
			}
		}
	})
	return nil
}

// compactPeriodically compacts to where the Store was the last time.
func (c *Cluster) compactPeriodically() {
	if c.nextCompaction > c.store.Compacted() && c.nextCompaction <= c.store.Revision() {
		if err := c.CompactStore(c.nextCompaction); err != nil {
			c.kernel.Fail(err)
			return
		}
	}
	c.nextCompaction = c.store.Revision()
	c.kernel.Clock().AfterFunc(c.options.CompactEvery, c.compactPeriodically)
}

// Restore puts the Store back to an older revision; see Store.Restore. Without a bump replicas notice nothing: they go on
// serving what they hold, and miss writes until the revision is past what they have seen (k107457). With a bump they find
// their position compacted, and initialise anew.
func (c *Cluster) Restore(rev, bump int64) error {
	if err := c.store.Restore(rev, bump); err != nil {
		return err
	}
	r := c.kernel.Record(c.id, KindRestore)
	r.RV = c.store.Revision()
	c.kernel.Emit(r)
	for _, f := range c.onRestore {
		f()
	}
	c.offerStoreFaults()
	for _, rep := range c.replicas {
		if bump > 0 {
			rep.reinitialise()
			continue
		}
		for _, cache := range rep.caches {
			cache.detach()
		}
	}
	return nil
}
