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

// Compact discards every version before rev, in the Store and in every watch cache: lists at older revisions and watches
// from them get 410. rev ≤ 0 means the current revision.
func (c *Cluster) Compact(rev int64) error {
	if err := c.CompactStore(rev); err != nil {
		return err
	}
	for _, r := range c.replicas {
		for _, cache := range r.caches {
			if cache.ready {
				cache.compact(c.store.Compacted())
				cache.trim() // which eviction does only now and then
			}
		}
	}
	return nil
}

// compactionPollInterval is how long a watch cache takes to notice a compaction of the Store: the real one polls every 15
// seconds.
const compactionPollInterval = 15 * time.Second

// CompactStore discards every version before rev in the Store alone. Watch caches still serve their own (S11): exact
// revisions until they notice the compaction, events while their windows hold them.
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

// compactPeriodically compacts to the Store's revision at the previous call.
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

// Restore resets the Store to an older revision; see Store.Restore. Without a bump replicas do not notice: they keep serving
// their stale state, and miss writes until the revision passes what they have seen (k107457); one that has not got to the older
// revision reads on from where it is. With a bump they find their position compacted, and reinitialise.
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
