package world

import (
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
)

// probeTime is how long a round of failures may take: more than a backoff that has been reset.
const probeTime = 2 * time.Minute

// maxProbed bounds the objects of one client whose writes are made to fail.
const maxProbed = 3

// probed is an object that a client writes whenever it looks.
type probed struct{ client, resource, namespace, name string }

// noteWrite notes what a controller has written since its informers notified it of all that there is, although nothing had changed: what it writes
// whenever it looks can be made to fail whenever one likes.
func (b *wellBehaved) noteWrite(r *sim.Record) {
	verb, object, _ := strings.Cut(r.Detail, " ")
	if !b.watching || b.probing || verb != "update" && verb != "patch" || r.Key == "leases" || r.Key == "events" || b.role(r.Actor) != wellbehaved.Controller {
		return
	}
	object, _, _ = strings.Cut(object, " ")
	namespace, name, namespaced := strings.Cut(object, "/")
	if !namespaced {
		namespace, name = "", object
	}
	p := probed{strings.TrimPrefix(b.w.kernel.ActorName(r.Actor), "conn/"), strings.Clone(r.Key), strings.Clone(namespace), strings.Clone(name)}
	n := 0
	for _, known := range b.writes {
		if known.client == p.client {
			n++
		}
	}
	if n < maxProbed && !slices.Contains(b.writes, p) {
		b.writes = append(b.writes, p)
	}
}

// probe has the controllers write once more, several times, and lets the first attempts fail, for the property NoGrowingBackoff.
func (b *wellBehaved) probe() {
	b.probing = b.asked(wellbehaved.NameBackoff) && len(b.writes) > 0
	if !b.probing {
		return
	}
	for range wellbehaved.ProbeRounds {
		if b.w.monitor.Violation() != nil || b.w.kernel.Err() != nil {
			return
		}
		soon := b.w.kernel.Elapsed() + time.Millisecond
		for _, p := range b.writes {
			f := fault.Fault{Kind: fault.Write500, Target: p.client, Resource: p.resource, Namespace: p.namespace, Name: p.name, From: soon, Count: wellbehaved.ProbeFailures}
			if err := b.w.cluster.Inject(f); err != nil {
				b.w.kernel.Fail(err)
				return
			}
		}
		b.inject(fault.Fault{Kind: fault.Watch410, From: soon, Count: -1})
		b.w.goOn(probeTime)
	}
}
