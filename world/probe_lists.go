package world

import (
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// lateLists bounds the lists of a seed that are answered late.
const lateLists = 2

// listing is what a client lists.
type listing struct{ client, resource string }

// noteListing notes what controllers list.
func (b *wellBehaved) noteListing(r *sim.Record) {
	a, is := r.Obj.(*fakeapiserver.Asked)
	if !is || a.Watch && !a.Streaming() || b.probing || wellbehaved.Bookkeeping(r.Key) || b.role(r.Actor) != wellbehaved.Controller {
		return
	}
	x := listing{b.nameOf(r.Actor), r.Key}
	if !slices.Contains(b.listings, x) {
		b.listings = append(b.listings, listing{x.client, strings.Clone(x.resource)})
	}
}

// lateStarts restarts all controllers, if they have not been, and then again while one resource is listed late by one of them, for the property NoHastyWrite. Which ones follows from the seed.
func (b *wellBehaved) lateStarts() {
	if !b.asked(wellbehaved.NameHasty) || len(b.listings) == 0 || !b.w.config.restarts || !b.crashable() || b.over() {
		return
	}
	b.conclude(probeLists)
	b.probing = true
	b.w.stopFaults()
	if b.restarted == 0 {
		b.restartAll() // what is written now is written at each start
	}
	first := int(b.w.seed % uint64(len(b.listings)))
	for n := range min(lateLists, len(b.listings)) {
		x := b.listings[(first+n)%len(b.listings)]
		late := fault.Fault{Kind: fault.ListSlow, Verb: "list", Resource: x.resource, From: b.w.kernel.Elapsed() + time.Millisecond, Duration: wellbehaved.LateList, Count: fault.Lasting}
		late.Until = late.From + wellbehaved.LateList
		stream := late
		stream.Kind, stream.Verb = fault.WatchOpenSlow, ""
		if !b.w.config.spared {
			b.injectInto(x.client, late, stream)
		}
		b.late, b.looked = x, false
		b.restartAll()
		b.late = listing{}
		b.w.stopFaults()
	}
}
