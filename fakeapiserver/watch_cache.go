package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"

	"time"
)

// freshTimeout is how long a read waits for the watch cache to reach a revision (S5).
const freshTimeout = 3 * time.Second

// watchCache is one Replica's cache of one resource: a view of a timeline up to some revision, and a window of the events
// before it. It follows the Store by choices, one event at a time, so that its lag is up to the strategy.
type watchCache struct {
	// behindSince is the stamp of the oldest event that is not applied. To `fifo` the whole backlog is that old, so a cache
	// that is not held catches up before anything newer happens.
	behindSince uint64
	replica     *Replica
	res         store.ResourceID
	// source is the timeline that the cache follows, view the one that requests see. They are the same until the Store is
	// restored to an older revision without the replica's notice.
	source, view *store.Timeline
	sourcePos    int64 // the next event to apply, in source
	pos          int64 // the same in view: its log ends here for this cache
	start        int64 // the first event of the window, in view
	rev          int64 // the view's revision: of the last event, or a later progress notification
	listRev      int64 // the revision at which the cache was initialised
	evictedRev   int64 // the newest event that fell out of the window
	compacted    int64 // events and exact revisions before this one were compacted away
	exactFrom    int64 // exact revisions before this one were dropped, following a compaction of the Store
	window       window
	progress     int64 // the Store's revision at the last progress request
	ready        bool

	next    sim.Choice // offered to the kernel: apply, or init when unready
	offered bool
	streams []*stream // open watches, in the order of opening
	waiters []*waiter // requests that wait for a revision, in the order of arrival
}

// sourceRevision returns the revision up to which a detached cache has read the Store's timeline.
func (c *watchCache) sourceRevision() int64 {
	if c.sourcePos < c.source.End() {
		return c.source.At(c.sourcePos).Revision() - 1
	}
	return c.replica.cluster.store.Revision()
}

func (c *watchCache) reinitialise() {
	waiting := c.waiters
	c.empty()
	for len(c.streams) > 0 {
		s := c.streams[0]
		c.removeStream(s)
		s.closeWith(closing{why: "the watch cache was reinitialised"})
	}
	for _, w := range waiting {
		w.then(false)
	}
	c.offer()
}

func (c *watchCache) removeStream(s *stream) {
	for i, have := range c.streams {
		if have == s {
			c.streams = append(c.streams[:i:i], c.streams[i+1:]...)
			return
		}
	}
}

// initialise fills the cache from the Store as it is now.
func (c *watchCache) initialise() {
	s := c.replica.cluster.store
	t := s.Timeline(c.res)
	c.source, c.view = t, t
	c.pos = t.End()
	c.sourcePos, c.start = c.pos, c.pos
	c.rev, c.listRev, c.evictedRev, c.compacted, c.progress = s.Revision(), s.Revision(), 0, 0, 0
	c.exactFrom, c.window = 0, newWindow(c.replica.cluster.options.History)
	c.ready = true
	c.wake()
	c.offer()
}

// empty makes the cache unready and drops its waiters, as a restart does.
func (c *watchCache) empty() {
	c.ready = false
	c.withdraw()
	for _, w := range c.waiters {
		w.timer.Stop()
	}
	c.waiters = nil
}

func (c *watchCache) withdraw() {
	if c.offered {
		c.replica.cluster.kernel.Withdraw(c.next)
		c.offered = false
	}
}

// offer offers the cache's next action to the kernel, unless one is offered already.
func (c *watchCache) offer() {
	r := c.replica
	if c.offered || r.held > 0 {
		return
	}
	switch {
	case !c.ready && r.cluster.leaderless > 0:
		return
	case !c.ready:
		c.next = r.cluster.kernel.Offer(r.id, KindInit, uint32(c.res))
	case c.behind():
		if c.behindSince == 0 {
			c.behindSince = r.cluster.kernel.NextStamp()
		}
		c.next = r.cluster.kernel.OfferSince(r.id, KindApply, uint32(c.res), c.behindSince)
	default:
		return
	}
	c.offered = true
}

func (c *watchCache) behind() bool {
	return c.sourcePos < c.source.End() || c.rev < c.progress
}

// requestProgress asks for the Store's revision, so that the cache of an idle resource can advance to it.
func (c *watchCache) requestProgress() {
	c.progress = c.replica.cluster.store.Revision()
	c.offer()
}

// applyNext applies the next event, or the progress when there is none.
func (c *watchCache) applyNext() {
	if c.sourcePos < c.source.End() {
		v := c.source.At(c.sourcePos)
		c.sourcePos++
		c.applyEvent(v)
	} else if c.rev < c.progress {
		c.rev = c.progress
		c.emit("", "PROGRESS")
		for _, s := range c.streams {
			s.wake() // a bookmark may have waited for it
		}
	}
	if len(c.waiters) > 0 {
		c.wake()
	}
	if !c.behind() {
		c.behindSince = 0
		c.replica.progressed()
	}
	c.offer()
}

func (c *watchCache) applyEvent(v *store.Version) {
	if c.view != c.source {
		if v.Revision() <= c.rev {
			return // after a restore, writes at revisions that the cache has already seen go unnoticed (k107457)
		}
		c.view.Adopt(v)
	}
	c.pos++
	c.rev = v.Revision()
	for start := c.window.add(c.start, c.pos-1, c.replica.cluster.kernel.Elapsed()); c.start < start; {
		c.evict()
	}
	c.emit(v.Entry().Display(), string(v.Event()))
	for _, s := range c.streams {
		s.wake()
	}
}

func (c *watchCache) emit(key, detail string) {
	r := c.replica
	rec := r.cluster.kernel.Record(r.id, KindApply)
	rec.Key, rec.RV, rec.Detail = key, c.rev, detail
	r.cluster.kernel.Emit(rec)
}

// trimBatch is how many events fall out of a window before memory is freed: few enough to bound it, many enough to make the
// cost negligible.
const trimBatch = 256

func (c *watchCache) evict() {
	c.evictedRev = c.view.At(c.start).Revision()
	c.start++
	for _, s := range c.streams {
		// A watch that still has to send the evicted event cannot continue (I105).
		if s.pos < c.start && s.closing == nil && s.seek() && s.pos < c.start {
			s.closeWith(closing{why: "too slow: the window moved past it"})
		}
	}
	if c.start%trimBatch == 0 {
		c.trim()
	}
}

func (c *watchCache) trim() {
	if c.view == c.source {
		c.replica.cluster.store.Trim(c.res)
		return
	}
	c.view.Trim(c.oldestRevision())
}

// compact drops the exact revisions before rev, and the events up to it.
func (c *watchCache) compact(rev int64) {
	rev = min(rev, c.rev)
	c.compacted = max(c.compacted, rev)
	for c.start < c.pos && c.view.At(c.start).Revision() <= rev {
		c.evict()
	}
}

// followCompaction drops the exact revisions that the Store has compacted. Watches are not affected.
func (c *watchCache) followCompaction(rev int64) {
	if c.ready {
		c.exactFrom = max(c.exactFrom, rev)
	}
}

// oldestRevision returns the oldest revision whose state and subsequent events the cache has.
func (c *watchCache) oldestRevision() int64 { return max(c.listRev, c.evictedRev) }

// oldestWatch returns the oldest revision that a watch may start from, as the real cache computes it from its ring (I100).
func (c *watchCache) oldestWatch() int64 {
	switch {
	case c.evictedRev == 0:
		return max(c.listRev, c.compacted)
	case c.start < c.pos:
		return max(c.view.At(c.start).Revision()-1, c.compacted)
	}
	return max(c.evictedRev, c.compacted)
}

// hasExact reports whether the state at an exact revision can be read from the cache (S11).
func (c *watchCache) hasExact(rev int64) bool {
	return rev >= max(c.oldestExact(), c.compacted, c.exactFrom) && rev <= c.rev
}

// oldestExact returns the oldest revision whose state is retained. The real cache keeps a snapshot with each event and, once
// its window is full, none from before the window, so a revision that can be listed exactly can also be watched from.
func (c *watchCache) oldestExact() int64 {
	full := c.pos-c.start >= c.window.capacity
	if c.start < c.pos && (full || c.evictedRev != 0) {
		return c.view.At(c.start).Revision()
	}
	return c.oldestRevision()
}

// whenFresh calls then once the cache is at rev or later, with false if that takes longer than freshTimeout. It returns the
// waiter, which can be stopped; nil if then was called at once.
func (c *watchCache) whenFresh(rev int64, then func(fresh bool)) *waiter {
	if c.rev >= rev {
		then(true)
		return nil
	}
	w := &waiter{cache: c, rev: rev, then: then}
	w.timer = c.replica.cluster.kernel.Clock().AfterFunc(freshTimeout, func() {
		c.forget(w)
		then(false)
	})
	c.waiters = append(c.waiters, w)
	c.requestProgress()
	return w
}

func (c *watchCache) forget(w *waiter) {
	for i, have := range c.waiters {
		if have == w {
			c.waiters = append(c.waiters[:i:i], c.waiters[i+1:]...)
			return
		}
	}
}

// wake answers the waiters whose revision the cache has reached.
func (c *watchCache) wake() {
	var ready []*waiter
	keep := c.waiters[:0:0]
	for _, w := range c.waiters {
		if w.rev <= c.rev {
			ready = append(ready, w)
		} else {
			keep = append(keep, w)
		}
	}
	c.waiters = keep
	for _, w := range ready {
		w.timer.Stop()
		w.then(true)
	}
}

// detach preserves the cache's state when the Store is restored to an older revision: it forks the old timeline, follows the
// new one, and adopts from it only versions newer than it has seen. What was restored and it has not read yet comes first; if
// that was compacted, the cache begins anew, as the real one does when etcd tells it so.
func (c *watchCache) detach() {
	if !c.ready {
		return
	}
	s := c.replica.cluster.store
	if next := c.source.After(c.rev); next < c.source.End() && c.source.At(next).Revision() <= s.Compacted() {
		c.reinitialise()
		return
	}
	c.view = c.view.Fork(c.oldestRevision(), c.rev)
	c.source = s.Timeline(c.res)
	c.sourcePos = c.source.After(c.rev)
	c.withdraw()
	c.offer()
}
