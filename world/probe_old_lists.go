package world

import (
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/world/wellbehaved"
)

// oldLists makes an object of the test's anew, and restarts all controllers, of which one gets the list with the object as it was before, for the property NoStaleDelete. A list at resourceVersion "0" comes from a watch cache,
// which may be behind (kubernetes#59848). Which object and which controller follows from the seed.
func (b *wellBehaved) oldLists() {
	if !b.asked(wellbehaved.NameStaleDelete) || !b.w.config.restarts || !b.crashable() || b.over() {
		return
	}
	type pair struct {
		trier
		listing
	}
	var all []pair
	for _, t := range b.triers {
		for _, x := range b.listings {
			if x.resource == t.x.resource {
				all = append(all, pair{t, x})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	b.conclude(probeOldLists)
	b.w.stopFaults()
	p := all[int(b.w.seed%uint64(len(all)))]
	none := wellbehaved.Trial{}
	if p.there() && !p.goes(none) {
		return
	}
	b.outdated = wellbehaved.Outdated{Client: p.client, Key: p.x.key(), RV: b.w.cluster.Store().Revision()}
	if p.comes(none) {
		b.restartOutdated(p.listing)
	}
	b.outdated = wellbehaved.Outdated{}
}

// restartOutdated restarts all controllers, and has one know for a while only what there was of a resource before.
func (b *wellBehaved) restartOutdated(x listing) {
	list := fault.Fault{Kind: fault.ListStale, Resource: x.resource, Revision: b.outdated.RV, From: b.w.kernel.Elapsed() + time.Millisecond, Count: fault.Lasting}
	list.Until = list.From + wellbehaved.LateList
	watch := list
	watch.Kind, watch.Revision, watch.Duration = fault.WatchDelay, 0, wellbehaved.LateList
	if !b.w.config.spared {
		b.injectInto(x.client, list, watch)
	}
	b.old, b.looked = x, false
	b.restartAll()
	b.old = listing{}
	b.w.stopFaults()
	b.w.goOn(probeTime) // for what is to be made again
}
