package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"

	"fmt"
	"time"
)

// Replica is one apiserver process: a watch cache per resource that follows the Store with a lag of its own, and the
// requests that it serves. It is the actor "replica/N".
type Replica struct {
	cluster *Cluster
	index   int
	name    string
	id      sim.ActorID
	caches  []*watchCache
	held    int // how many holds are on it: it applies nothing until it is 0
	faults  faultOffers
	lagging int           // how many of the holds are faults
	skew    time.Duration // how far its clock is ahead
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
	r.faults.set(r.cluster.kernel, r.id, want)
}

// applyFault has a fault hit the replica.
func (r *Replica) applyFault(f fault.Fault) {
	r.cluster.emitFault(f.Kind, r.name)
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

// Name is "replica/N".
func (r *Replica) Name() string { return r.name }

// Apply carries out a choice: applying the next event of a resource, or initialising its watch cache.
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

// Revision is what the replica's watch cache of a resource is at; 0 while it is not ready.
func (r *Replica) Revision(id store.ResourceID) int64 {
	if int(id) >= len(r.caches) || !r.caches[id].ready {
		return 0
	}
	return r.caches[id].rev
}

// Ready tells whether all watch caches are initialised.
func (r *Replica) Ready() bool {
	for _, c := range r.caches {
		if !c.ready {
			return false
		}
	}
	return true
}

// Hold stops the replica from applying anything until Release. Holds add up.
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

// Restart ends the process and starts it anew: every connection to it is reset, its watch caches are empty, and they are
// initialised from the Store by choice. Meanwhile it answers 429 (I107).
func (r *Replica) Restart() {
	for _, c := range r.caches {
		c.empty()
	}
	r.cluster.resetConnections(r)
	for _, c := range r.caches {
		c.offer()
	}
}

// reinitialise empties the watch caches of a living process, as it does itself when its watch on the Store is too old: its
// watches are closed, its connections stay (I107).
func (r *Replica) reinitialise() {
	for _, c := range r.caches {
		c.reinitialise()
	}
}
