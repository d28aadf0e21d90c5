package fakeapiserver

import "time"

// strike has a fault hit the Store.
func (c *Cluster) strike(f Fault) error {
	rev := f.Revision
	switch f.Kind {
	case LeaderLoss:
		c.emitFault(f.Kind, c.Name())
		c.loseLeader(f.Duration)
		return nil
	case RestoreFault, RestoreBumped:
		if rev <= 0 {
			rev = c.store.compacted
		}
		bump := int64(0)
		if f.Kind == RestoreBumped {
			bump = c.store.revision - rev + restoreBump
		}
		if err := c.Restore(rev, bump); err != nil {
			return err
		}
		c.emitFault(f.Kind, c.Name())
		return nil
	}
	if rev <= 0 {
		rev = c.store.revision
	}
	if rev > c.store.compacted {
		c.emitFault(f.Kind, c.Name())
	}
	return c.Compact(rev)
}

// restoreBump is how far past the last revision a bumped restore goes. The real tools suggest a thousand million.
const restoreBump = 1_000_000_000

// loseLeader leaves the Store without a leader: every watch cache loses its watch of the Store and starts anew, which it cannot
// until there is a leader again; meanwhile what needs the Store fails (k111116). Who writes by the Cluster's own methods is not
// concerned.
func (c *Cluster) loseLeader(d time.Duration) {
	c.leaderless++
	for _, r := range c.replicas {
		r.reinitialise()
	}
	c.offerStoreFaults()
	c.until(d, func() {
		if c.leaderless == 1 {
			c.findLeader()
		} else if c.leaderless > 1 {
			c.leaderless--
		}
	})
}

// findLeader gives the Store a leader.
func (c *Cluster) findLeader() {
	if c.leaderless == 0 {
		return
	}
	c.leaderless = 0
	for _, r := range c.replicas {
		for _, cache := range r.caches {
			cache.offer()
		}
	}
	c.offerStoreFaults()
}

// strike has a fault hit the replica.
func (r *Replica) strike(f Fault) {
	r.cluster.emitFault(f.Kind, r.name)
	switch f.Kind {
	case ReplicaRestart:
		r.Restart()
	case ReplicaSkew:
		r.skew = f.Duration
		if f.Duration == 0 {
			r.skew = time.Minute
		}
	case ReplicaLag:
		r.Hold()
		r.lagging++
		r.cluster.until(f.Duration, func() {
			if r.lagging > 0 {
				r.lagging--
				r.Release()
				r.offerFaults()
			}
		})
	}
	r.offerFaults()
}
