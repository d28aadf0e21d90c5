package api

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// The timeouts that an informer asks for, in seconds: at least the first, less than the second (I25).
const (
	leastTimeout = 300
	mostTimeout  = 600
)

// deadConnection is how long it may take until a client learns that its connection is dead (watch-half-open).
const deadConnection = 45 * time.Second

// WatchDeadlines checks that watches end in time.
func WatchDeadlines(o Options) property.Property {
	return property.Property{
		Name:      "WatchDeadlines",
		Statement: "an informer asks for watches of 5 to 10 minutes, and a watch sends nothing after its time, which its client learns of",
		Kinds:     watchKinds,
		New: func() property.Checker {
			p := &watchDeadlines{options: o}
			return property.Checker{Record: p.record, End: p.end}
		},
	}
}

type watchDeadlines struct {
	openWatches
	options Options
}

func (p *watchDeadlines) record(w property.World, r *sim.Record) *reports.Violation {
	if r.Kind == fakeapiserver.KindFrame && r.Detail != string(watch.Error) {
		// The current state counts, too. An ERROR may have been on its way for as long as it takes.
		if ow := p.find(r); ow != nil && r.At > ow.deadline() {
			return ow.violation(w, r, "a %s comes %v after the watch was opened, and it was to end after %s", r.Detail, r.At-ow.since, ow.timeout())
		}
	}
	if ow := p.openWatches.record(w, r); ow != nil {
		ow.reached(r)
	}
	if r.Kind != fakeapiserver.KindRequest || !p.options.OneReflector {
		return nil
	}
	ow := p.find(r)
	if ow == nil {
		return nil
	}
	if s := ow.asked.Options.TimeoutSeconds; s == nil || *s < leastTimeout || *s >= mostTimeout {
		return &reports.Violation{
			Message: fmt.Sprintf("%s asks for a watch of %s that ends after %s, want %d to %d s", w.Kernel().ActorName(r.Actor), r.Key, ow.timeout(), leastTimeout, mostTimeout),
			Because: []reports.Evidence{reports.Because(r, "it asks: %s", r.Detail)},
		}
	}
	return nil
}

// deadline is when the server has ended the watch at the latest; the end of time if that is its own choice.
func (ow *openWatch) deadline() time.Duration {
	s := ow.asked.Options.TimeoutSeconds
	if s == nil || *s <= 0 || !ow.opened {
		return 1<<63 - 1
	}
	return ow.since + time.Duration(*s)*time.Second
}

// timeout describes how long the watch is to last.
func (ow *openWatch) timeout() string {
	if s := ow.asked.Options.TimeoutSeconds; s != nil {
		return fmt.Sprint(*s, " s")
	}
	return "a time of the server's choice"
}

// end judges the watches that are open once the faults have stopped.
func (p *watchDeadlines) end(w property.World) *reports.Violation {
	for id, all := range p.byConn {
		for _, ow := range all {
			if now := w.Kernel().Elapsed(); now-deadConnection > ow.deadline() {
				return &reports.Violation{
					Message: fmt.Sprintf("watch %d of %s over %s is open %v after it was to end", ow.id, ow.plural, w.Kernel().ActorName(sim.ActorID(id)), now-ow.deadline()),
					Because: []reports.Evidence{{Step: ow.step, At: ow.at, Text: fmt.Sprintf("it was opened %v into the run, for %s; its last event: %s", ow.since, ow.timeout(), ow.last)}},
				}
			}
		}
	}
	return nil
}
