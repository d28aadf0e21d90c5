package fakeapiserver

import (
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// applyStoreFault applies a fault to the Store.
func (c *Cluster) applyStoreFault(f fault.Fault) error {
	rev := f.Revision
	c.spent.hit(f.Kind)
	switch f.Kind {
	case fault.LeaderLoss:
		c.emitFault(f.Kind, c.Name())
		c.loseLeader(f.Duration)
		return nil
	case fault.Restore, fault.RestoreBumped:
		if rev <= 0 {
			rev = c.store.Compacted()
		}
		bump := int64(0)
		if f.Kind == fault.RestoreBumped {
			bump = c.store.Revision() - rev + restoreBump
		}
		if err := c.Restore(rev, bump); err != nil {
			return err
		}
		c.emitFault(f.Kind, c.Name())
		return nil
	}
	if rev <= 0 {
		rev = c.store.Revision()
	}
	if rev > c.store.Compacted() {
		c.emitFault(f.Kind, c.Name())
	}
	return c.Compact(rev)
}

// restoreBump is how far past the last revision a bumped restore goes. etcd's documentation suggests a billion.
const restoreBump = 1_000_000_000

// loseLeader leaves the Store without a leader: every watch cache loses its watch of the Store and cannot reinitialise until
// there is a leader again; until then requests that need the Store fail (k111116). Writes through the Cluster's own methods
// are not affected.
func (c *Cluster) loseLeader(d time.Duration) {
	if c.leaderless == 0 {
		c.leaderLost = c.kernel.Elapsed()
	}
	c.leaderless++
	for _, r := range c.replicas {
		r.reinitialise()
	}
	c.offerStoreFaults()
	c.expireAfter(d, func() {
		if c.leaderless == 1 {
			c.findLeader()
		} else if c.leaderless > 1 {
			c.leaderless--
		}
	})
}

// findLeader gives the Store a leader again. The strategy may take it away after a time as long as the one without, and then once
// something happens to the Store, such as a write or a compaction: steps are many while all try again, so outages that were drawn by
// steps alone would leave no time in which anything is written.
func (c *Cluster) findLeader() {
	if c.leaderless == 0 {
		return
	}
	now := c.kernel.Elapsed()
	c.leaderless, c.leaderKept = 0, 2*now-c.leaderLost
	for _, r := range c.replicas {
		for _, cache := range r.caches {
			cache.offer()
		}
	}
	c.offerStoreFaults()
}

// stalestReplica returns the ready replica whose watch cache of the request's resource lags most.
func (c *Cluster) stalestReplica(k *call) *Replica {
	best := k.replica
	if best == nil {
		best = c.replicas[0]
	}
	if int(k.res) >= len(best.caches) {
		return best
	}
	for _, r := range c.replicas {
		if a, b := r.caches[k.res], best.caches[k.res]; a.ready && (!b.ready || a.rev < b.rev) {
			best = r
		}
	}
	return best
}

func (c *Cluster) emitFault(kind fault.Kind, target string) {
	r := c.kernel.Record(c.id, KindFault)
	r.Key, r.Detail = target, string(kind)
	c.kernel.Emit(r)
}

// StopFaults ends all faults: none is offered, none stays armed, and whatever stalls, lags or is held resumes.
func (c *Cluster) StopFaults() {
	c.disableFaults()
	c.endFaults()
}

// endFaults drops waiting faults and ends lasting ones.
func (c *Cluster) endFaults() {
	for _, s := range c.scheduled {
		s.timer.Stop()
	}
	c.scheduled, c.armed, c.triggers, c.stops = nil, nil, nil, c.stops+1
	c.findLeader()
	for _, r := range c.replicas {
		r.lagging, r.skew = 0, 0
		for r.held > 0 {
			r.Release()
		}
	}
	for _, cl := range c.clients {
		for _, k := range cl.calls {
			if k.state != stateOpen {
				k.clearFault()
				continue
			}
			s := k.watch
			if s.frameFault != nil {
				s.clearFrameFault()
			}
			if len(s.lateBookmarks) > 0 {
				s.sendLateBookmarks()
			}
			if s.blocked > 0 && (!s.dead || s.closing != nil) {
				s.resume() // a dead connection stays dead, but the client is told
			}
		}
	}
}

// expireAfter calls f after d to end a fault, unless faults are stopped first. If d is 0 the fault does not expire.
func (c *Cluster) expireAfter(d time.Duration, f func()) {
	if d <= 0 {
		return
	}
	stops := c.stops
	c.kernel.Clock().AfterFunc(d, func() {
		if c.stops == stops {
			f()
		}
	})
}
