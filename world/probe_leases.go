package world

import (
	"slices"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

const (
	// leaseOutage is longer than a Lease lasts: 137 s where leaders are to outlive an update of the control plane.
	leaseOutage = 3 * time.Minute
	// leaseRounds is how often an object is deleted and made anew then. Of two replicas that want to do something about it, either may be the first.
	leaseRounds = 3
)

// noteCandidate notes which controllers ask for Leases.
func (b *wellBehaved) noteCandidate(r *sim.Record) {
	if r.Key != "leases" || b.role(r.Actor) != wellbehaved.Controller {
		return
	}
	if client := b.nameOf(r.Actor); !slices.Contains(b.candidates, client) {
		b.candidates = append(b.candidates, client)
	}
}

// leaders returns the controllers that hold Leases, as far as others ask for some.
func (b *wellBehaved) leaders() (all []string) {
	for _, client := range b.w.leases.last { // order: sorted below
		if len(b.candidates) > 1 && slices.Contains(b.candidates, client) && !slices.Contains(all, client) {
			all = append(all, client)
		}
	}
	slices.Sort(all)
	return all
}

// depose has those who lead fail to renew their Leases until others have taken these, and then deletes an object of the test's and makes it anew, for the property NoWriteAfterLease. Which object follows from the seed.
func (b *wellBehaved) depose() {
	if !b.asked(wellbehaved.NameDeposed) || len(b.triers) == 0 || b.over() {
		return
	}
	leaders := b.leaders()
	if len(leaders) == 0 {
		return
	}
	b.conclude(probeLeases)
	b.w.stopFaults()
	from := b.w.kernel.Elapsed() + time.Millisecond
	for _, client := range leaders {
		b.injectInto(client, fault.Fault{Kind: fault.Write500, Resource: "leases", From: from, Until: from + leaseOutage, Count: fault.Lasting})
	}
	b.w.goOn(leaseOutage + probeTime)
	t := b.triers[int(b.w.seed%uint64(len(b.triers)))]
	none := wellbehaved.Trial{}
	for range leaseRounds {
		if b.over() || t.there() && !t.goes(none) || !t.comes(none) {
			return
		}
	}
}
