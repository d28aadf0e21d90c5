package simtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/informersim/informersim/sim"
)

// informerChecks are the properties of what follows a resource, seen from the API: that it goes on where it was, and does not
// list again without need. Those with the same client, resource, namespace and selectors look alike and are judged together, in
// favour of the accused: what one of several may have done is no error.
type informerChecks struct {
	followers map[string]*follower
	// processes is how often a process has been started, or has ended: whoever follows something begins anew then.
	processes int
}

// follower is all that follows the same.
type follower struct {
	processes int
	// How often something began to follow: with a streaming list, or with a watch from where a list was.
	begun int
	// How often it had to: what failed, was refused, or was given up.
	excused int
	watches map[int64]*followed // requests for a watch that have not ended
	listed  map[string]bool     // the revisions of lists that no watch has begun from
	ended   *followed           // the watch that ended last, cleanly, and was not gone on with

	needless int // beginnings that followed a watch which could have been gone on with
}

// followed is a watch.
type followed struct {
	from      string // where it began; "" for a streaming list
	rv        int64  // of the last event
	events    int    // after the initial ones
	initial   bool
	malformed bool // it was told of an error
}

// words reads a request's description.
func words(detail string) map[string]string {
	m := map[string]string{}
	for i, w := range strings.Fields(detail) {
		name, value, has := strings.Cut(w, "=")
		switch {
		case i == 0:
			m["verb"] = name
		case has:
			if s, err := strconv.Unquote(value); err == nil {
				value = s
			}
			m[name] = value
		}
	}
	return m
}

func (c *informerChecks) follower(actor sim.ActorID, plural string, w map[string]string) *follower {
	key := fmt.Sprintf("%d %s %s %s %s", actor, plural, w["namespace"], w["labels"], w["fields"])
	f := c.followers[key]
	if f == nil || f.processes != c.processes {
		f = &follower{processes: c.processes, watches: map[int64]*followed{}, listed: map[string]bool{}}
		c.followers[key] = f
	}
	return f
}

// watch is told of a request for a watch, and says what is wrong with it.
func (f *follower) watch(n int64, w map[string]string) (property, message string) {
	from, streaming := w["rv"], w["sendInitialEvents"] == "true"
	next := &followed{initial: streaming || from == "" || from == "0"}
	next.rv, _ = strconv.ParseInt(from, 10, 64)
	if !streaming {
		next.from = from
	}
	before := len(f.watches)
	f.watches[n] = next
	switch {
	case next.initial || f.listed[from]:
		delete(f.listed, from)
		property, message = f.begin(before)
	case f.ended != nil && f.ended.from == from && f.ended.rv > next.rv:
		message = fmt.Sprintf("a watch begins at %d again, from where the one before it has had %d events up to %d: it is to go on there", next.rv, f.ended.events, f.ended.rv)
		property = "WatchGoesOn"
		f.ended = nil
	default:
		f.ended, f.needless = nil, 0
	}
	return property, message
}

// begin is told that something begins to follow while others do, how many.
func (f *follower) begin(others int) (property, message string) {
	e := f.ended
	needless := e != nil && f.begun > f.excused+others
	f.begun++
	f.ended = nil
	if !needless {
		return "", ""
	}
	f.excused++
	if f.needless++; f.needless == 1 {
		return "", "" // it may be another informer, that has come at this very moment
	}
	return "NoRelistOnEOF", fmt.Sprintf("it lists everything again after a watch that has ended cleanly and had shown %d events up to %d, for the second time: "+
		"a watch from there would do", e.events, e.rv)
}

// failed is told of a request that was answered with an error.
func (f *follower) failed(n int64) {
	delete(f.watches, n)
	f.excused++
}

// closed is told how a watch ended.
func (f *follower) closed(n int64, why string) {
	w := f.watches[n]
	if w == nil {
		return
	}
	delete(f.watches, n)
	clean := why == "timeout" || why == "fault watch-close" || why == "fault watch-eof"
	if clean && !w.initial && !w.malformed && w.events > 0 {
		f.ended = w
		return
	}
	f.excused++
	f.ended = nil
}
