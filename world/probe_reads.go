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

// failedReads bounds the resources of a seed whose gets fail.
const failedReads = 2

// noteRead notes what controllers get from the API.
func (b *wellBehaved) noteRead(r *sim.Record) {
	if verb, _, _ := strings.Cut(r.Detail, " "); verb != "get" || b.probing || wellbehaved.Bookkeeping(r.Key) || b.role(r.Actor) != wellbehaved.Controller {
		return
	}
	if _, is := r.Obj.(*fakeapiserver.Asked); is {
		return
	}
	if x := (listing{b.nameOf(r.Actor), r.Key}); !slices.Contains(b.reads, x) {
		b.reads = append(b.reads, listing{x.client, strings.Clone(x.resource)})
	}
}

// blindness has controllers look at everything while their gets of one resource fail, for the properties NoMistakenAbsence and NoFinalFailure. Which ones follows from the seed.
func (b *wellBehaved) blindness() {
	if !b.asked(wellbehaved.NameAbsence) && !b.asked(wellbehaved.NameFinal) || len(b.reads) == 0 || b.over() {
		return
	}
	b.conclude(probeReads)
	b.probing = true
	first := int(b.w.seed % uint64(len(b.reads)))
	for n := range min(failedReads, len(b.reads)) {
		if b.over() {
			return
		}
		x := b.reads[(first+n)%len(b.reads)]
		b.w.stopFaults()
		from := b.w.kernel.Elapsed() + time.Millisecond
		if !b.w.config.spared {
			b.injectInto(x.client, fault.Fault{Kind: fault.List500, Verb: "get", Resource: x.resource, From: from, Until: from + probeTime/2, Count: fault.Lasting})
		}
		b.blinded, b.looked = x, false
		b.listAnew()
		b.blinded = listing{}
	}
	b.w.stopFaults()
	b.w.goOn(probeTime)
	if b.says != nil && b.says() && b.w.config.restarts && b.crashable() && !b.over() {
		b.w.goOn(b.rest())
		b.listAnew()
		b.restartAll()
	}
}
