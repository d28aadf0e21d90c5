package api

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// Options say of the clients what records do not.
type Options struct {
	// OneReflector means that each connection is one informer's, and makes no requests for anybody else. Otherwise those who follow a
	// resource over the same connection, with the same selection, cannot be told apart: they are judged together, with the benefit of
	// the doubt.
	OneReflector bool
	// Restarts are the kinds of records that say that a client starts over: of an informer "i1", the connection "conn/i1"; of any other
	// actor, all of them.
	Restarts []sim.Kind
	// Ignores reports whether a connection is not judged; nil for none.
	Ignores func(sim.ActorID) bool
}

// All returns the properties for such clients.
func All(o Options) []property.Property {
	return []property.Property{ListIsAtOneRevision(), WatchOrdered(), WatchUnique(), WatchReliable(), WatchFilter(), WatchDeadlines(o), NoRelistOnEOF(o), WatchResumes(o)}
}

// asked returns what a KindRequest asks for, nil if it is neither a list nor a watch.
func asked(r *sim.Record) *fakeapiserver.Asked {
	a, _ := r.Obj.(*fakeapiserver.Asked)
	return a
}

// OfBrokenServer reports whether a record is a fault with which the fake server breaks its own rules, by request: what it does to that
// connection is then no finding.
func OfBrokenServer(r *sim.Record) bool {
	s := fault.SpecOf(fault.Kind(r.Detail))
	return s != nil && s.Tier == fault.Broken
}

// refused reports whether a response is an error: its Detail is "ok", or in HTTP begins with the code.
func refused(r *sim.Record) bool { return r.Detail != "ok" && !strings.HasPrefix(r.Detail, "2") }

// connOf returns the connection of an informer.
func connOf(w property.World, actor sim.ActorID) (sim.ActorID, bool) {
	return w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(actor))
}
