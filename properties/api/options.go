package api

import (
	"strconv"
	"strings"

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

// request is a list or watch, as its record describes it.
type request struct {
	verb                                         string
	namespace, labels, fields, rv, continues, to string // to is the timeout in seconds
	streaming                                    bool
}

// parseRequest parses the Detail of a KindRequest.
func parseRequest(detail string) (q request) {
	rest := detail
	for first := true; rest != ""; first = false {
		var word string
		if word, rest, _ = strings.Cut(rest, " "); first {
			q.verb = word
			continue
		}
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "namespace":
			q.namespace = value
		case "rv":
			if s, err := strconv.Unquote(value); err == nil {
				value = s
			}
			q.rv = value
		case "continue":
			q.continues = value
		case "timeout":
			q.to = value
		case "sendInitialEvents":
			q.streaming = value == "true"
		}
	}
	q.labels, q.fields = selectorsOf(detail)
	return q
}

// selects reports whether the request has a selector.
func (q *request) selects() bool { return q.labels != "" || q.fields != "" }

// initial reports whether a watch begins with the current state, in the order of keys (I101).
func (q *request) initial() bool { return q.streaming || q.rv == "" || q.rv == "0" }

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
