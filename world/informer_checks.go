package world

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/informersim/informersim/sim"
)

// informerChecks are the properties of clients that follow a resource, as seen at the API: that they resume where they were,
// and do not relist without need. Followers with the same client, resource, namespace and selectors cannot be told apart and are
// judged together, with the benefit of the doubt: what one of several may legitimately have done is not an error.
type informerChecks struct {
	followers map[string]*follower
	// processes counts starts and ends of processes, after which followers start over.
	processes int
}

// follower is every follower of the same selection.
type follower struct {
	processes int
	// How often a follower began: with a streaming list, or with a watch from a list's revision.
	begun int
	// How often it had to: a request failed, was refused, or was canceled.
	excused int
	watches map[int64]*followed // requests for a watch that have not ended
	listed  map[string]bool     // the revisions of lists from which no watch has begun
	ended   *followed           // the last watch that ended cleanly and was not resumed

	needless int // beginnings after a watch that could have been resumed
}

// followed is a watch.
type followed struct {
	from      string // where it began; "" for a streaming list
	rv        int64  // of the last event
	events    int    // after the initial ones
	initial   bool
	malformed bool // it received an error
}

// words parses a request's description.
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

// watch notes a request for a watch, and returns the property that it breaks, if any.
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
		message = fmt.Sprintf("a watch begins at %d again, although the one before it began there and delivered %d events up to %d: it must resume from the last", next.rv, f.ended.events, f.ended.rv)
		property = "WatchResumes"
		f.ended = nil
	default:
		f.ended, f.needless = nil, 0
	}
	return property, message
}

// begin notes that a follower begins while others are active, and returns the property that this breaks, if any.
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
		return "", "" // it may be another informer that happened to start now
	}
	return "NoRelistOnEOF", fmt.Sprintf("it relists, for the second time, after a watch that ended cleanly and had delivered %d events up to %d: "+
		"a watch from there would do", e.events, e.rv)
}

// failed notes a request that was answered with an error.
func (f *follower) failed(n int64) {
	delete(f.watches, n)
	f.excused++
}

// closed notes how a watch ended.
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
