package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"

	"fmt"
	"time"
)

// Replica is one apiserver process: it serves requests from one watch cache per resource, each of which follows the Store at
// its own lag. It is the actor "replica/N".
type Replica struct {
	cluster *Cluster
	index   int
	name    string
	id      sim.ActorID
	caches  []*watchCache
	held    int // number of holds; the replica applies nothing until it is 0
	faults  faultOffers
	lagging int           // how many of the holds come from faults
	skew    time.Duration // by how much its clock is ahead
	spent   spent         // since it last answered with nothing left to apply
}

func newReplica(c *Cluster, index int) *Replica {
	r := &Replica{cluster: c, index: index, name: fmt.Sprintf("replica/%d", index)}
	r.id = c.kernel.Register(r)
	return r
}

func (r *Replica) offerFaults() {
	want := r.cluster.enabled & fault.At(fault.OnReplica)
	if r.held > 0 {
		want &^= fault.SetOf(fault.ReplicaLag)
	}
	r.faults.set(r.cluster.kernel, r.id, r.spent.drawable(r.cluster, want))
}

// applyFault applies a fault to the replica.
func (r *Replica) applyFault(f fault.Fault) {
	r.cluster.emitFault(f.Kind, r.name)
	r.spent.hit(f.Kind)
	switch f.Kind {
	case fault.ReplicaRestart:
		r.Restart()
	case fault.ReplicaSkew:
		r.skew = f.Duration
		if f.Duration == 0 {
			r.skew = time.Minute
		}
	case fault.ReplicaLag:
		r.Hold()
		r.lagging++
		r.cluster.expireAfter(f.Duration, func() {
			if r.lagging > 0 {
				r.lagging--
				r.Release()
				r.offerFaults()
			}
		})
	}
	r.offerFaults()
}

// Name returns "replica/N".
func (r *Replica) Name() string { return r.name }

// Apply carries out a choice: it applies the next event of a resource, initialises its watch cache, or applies a fault.
func (r *Replica) Apply(c sim.Choice) {
	if c.Kind != KindApply && c.Kind != KindInit {
		r.faults.applied(c)
		r.cluster.drawFault(c.Kind, r.name)
		return
	}
	if int(c.Target) >= len(r.caches) {
		return
	}
	cache := r.caches[c.Target]
	cache.offered = false
	if c.Kind == KindInit {
		cache.initialise()
		cache.emit("", "INIT")
		return
	}
	cache.applyNext()
}

func (r *Replica) addResource(id store.ResourceID) {
	c := &watchCache{replica: r, res: id}
	c.initialise()
	r.caches = append(r.caches, c)
}

// Revision returns the revision of the replica's watch cache of a resource; 0 while it is not ready.
func (r *Replica) Revision(id store.ResourceID) int64 {
	if int(id) >= len(r.caches) || !r.caches[id].ready {
		return 0
	}
	return r.caches[id].rev
}

// Ready reports whether all watch caches are initialised.
func (r *Replica) Ready() bool {
	for _, c := range r.caches {
		if !c.ready {
			return false
		}
	}
	return true
}

// Hold stops the replica from applying anything until Release. Holds are counted.
func (r *Replica) Hold() {
	r.held++
	for _, c := range r.caches {
		c.withdraw()
	}
}

// Release undoes one Hold.
func (r *Replica) Release() {
	if r.held == 0 {
		return
	}
	if r.held--; r.held == 0 {
		for _, c := range r.caches {
			c.offer()
		}
	}
}

// Restart restarts the process: every connection to it is reset, its watch caches are emptied, and choices initialise them
// from the Store. Until then it answers 429 (I107).
func (r *Replica) Restart() {
	for _, c := range r.caches {
		c.empty()
	}
	r.cluster.resetConnections(r)
	for _, c := range r.caches {
		c.offer()
	}
}

// reinitialise empties the watch caches of a running process, as the real one does when its watch on the Store is too old:
// watches are closed, connections stay open (I107).
func (r *Replica) reinitialise() {
	for _, c := range r.caches {
		c.reinitialise()
	}
}
