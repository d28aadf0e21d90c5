package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// followers follows who lists and then watches: where each is, and whether it goes on from there. Where several may share a connection
// (Options), those with the same resource, namespace and selectors are one follower here, and what one of several may rightly have done
// is no error.
type followers struct {
	options Options
	all     map[selection]*follower
	byConn  [][]*inFlight
	starts  int // of all clients, after which every follower starts over
}

// followerKinds are the records that followers needs, beside Options.Restarts.
var followerKinds = []sim.Kind{
	fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed,
	fakeapiserver.KindRestore,
}

// selection is what a follower follows.
type selection struct {
	conn                              sim.ActorID
	plural, namespace, labels, fields string
}

// inFlight is a request that a follower waits for.
type inFlight struct {
	id   int64
	by   *follower
	list *listing  // nil for a watch
	w    *followed // nil for a list
}

// listing is a request for a list.
type listing struct {
	step uint64
	at   time.Duration
	what string
}

// follower is every follower of one selection over one connection.
type follower struct {
	starts  int
	begun   int                 // how often one began: with a streaming list, or with a watch from a list's revision
	excused int                 // how often one had to: a request failed, was refused, or was canceled
	watches int                 // requests for a watch that have not ended
	listed  map[string]*listing // by revision, the first list from which no watch has begun
	unused  int                 // the lists from which no watch has begun
	ended   *followed           // the last watch that ended cleanly and was not resumed

	needless int // beginnings in a row after a watch that could have been resumed
}

// followed is a watch.
type followed struct {
	from      string // where it began; "" for a streaming list
	last, max int64  // the resourceVersion of the last event, and the greatest
	events    int    // after the initial ones
	initial   bool
	streaming bool
	malformed bool // it received an error
	step      uint64
	at        time.Duration // of its end
	why       string
}

// breach is what a follower does wrong.
type breach struct {
	needless, resumes bool
	message           string
	ended             *followed
	list              *listing // that it did again; nil if a request for a watch is all that it did
}

func (p *followers) forget() {
	p.all, p.byConn = map[selection]*follower{}, nil
}

func (p *followers) of(id sim.ActorID) *[]*inFlight {
	for int(id) >= len(p.byConn) {
		p.byConn = append(p.byConn, nil)
	}
	return &p.byConn[id]
}

// take removes a request in flight; nil if it is unknown.
func (p *followers) take(id sim.ActorID, n int64) *inFlight {
	all := p.of(id)
	for i, f := range *all {
		if f.id == n {
			*all = append((*all)[:i], (*all)[i+1:]...)
			return f
		}
	}
	return nil
}

// record follows a record, and returns what is wrong with a request, nil if nothing is.
func (p *followers) record(w property.World, r *sim.Record) *breach {
	switch r.Kind {
	case fakeapiserver.KindRestore:
		p.forget()
	case fakeapiserver.KindRequest:
		return p.request(r)
	case fakeapiserver.KindFrame:
		p.frame(r)
	case fakeapiserver.KindResponse:
		if refused(r) {
			if f := p.take(r.Actor, r.N); f != nil {
				f.failed()
			}
		}
	case fakeapiserver.KindWatchClosed:
		if f := p.take(r.Actor, r.N); f != nil && f.w != nil {
			f.closed(r)
		}
	case fakeapiserver.KindPage:
		p.page(r)
	default: // a restart
		id, ok := connOf(w, r.Actor)
		if !ok {
			p.starts++
			return nil
		}
		*p.of(id) = nil
		for key := range p.all { // order: a set is changed
			if key.conn == id {
				delete(p.all, key)
			}
		}
	}
	return nil
}

func (p *followers) request(r *sim.Record) *breach {
	q := asked(r)
	if q == nil || p.options.Ignores != nil && p.options.Ignores(r.Actor) {
		return nil
	}
	f, rv := p.follower(r, q), q.Options.ResourceVersion
	if !q.Watch {
		all := p.of(r.Actor)
		*all = append(*all, &inFlight{id: r.N, by: f, list: &listing{r.Step, r.At, r.Detail}})
		if p.options.OneReflector && q.Continue == "" {
			return f.begin(0, true, nil) // a list is a beginning, whatever comes of it
		}
		return nil
	}
	sent := &struct {
		inFlight
		watch followed
	}{inFlight{id: r.N, by: f}, followed{initial: q.Initial(), streaming: q.Streaming()}}
	next := &sent.watch
	sent.w = next
	next.last, _ = strconv.ParseInt(rv, 10, 64)
	next.max = next.last
	if !next.streaming {
		next.from = rv
	}
	others := f.watches
	f.watches++
	all := p.of(r.Actor)
	*all = append(*all, &sent.inFlight)
	switch {
	case next.initial:
		return f.begin(others, p.options.OneReflector, nil)
	case f.listed[rv] != nil && !f.mayResume(next, p.options.OneReflector):
		from := f.listed[rv]
		delete(f.listed, rv)
		f.unused--
		if p.options.OneReflector {
			return nil // the list was the beginning
		}
		return f.begin(others, false, from)
	case f.ended != nil && f.resumesWrongly(next, p.options.OneReflector):
		e := f.ended
		f.ended = nil
		return &breach{resumes: true, ended: e, message: fmt.Sprintf("a watch begins at rv=%d, although the one before it, from rv=%q, ended after %d events, the last of them at rv=%d: it must go on from there",
			next.last, e.from, e.events, e.last)}
	}
	f.ended, f.needless = nil, 0
	return nil
}

// mayResume reports whether a watch that begins at a revision that was listed may go on from where the last one ended, which is that revision, too. A program may
// list what it follows for another purpose: that list is older than the end, or others are that no watch has begun from.
func (f *follower) mayResume(next *followed, alone bool) bool {
	return !alone && f.ended != nil && next.last == f.ended.last && (f.listed[next.from].step < f.ended.step || f.unused > 1)
}

// resumesWrongly reports whether a watch begins elsewhere than where the last one ended. Of several followers, only the one whose watch
// began where the ended one had begun is known to be the same.
func (f *follower) resumesWrongly(next *followed, alone bool) bool {
	if alone {
		return next.last != f.ended.last
	}
	return f.ended.from == next.from && f.ended.max > next.last
}

func (p *followers) follower(r *sim.Record, q *fakeapiserver.Asked) *follower {
	key := selection{r.Actor, r.Key, q.Namespace, q.Options.LabelSelector, q.Options.FieldSelector}
	f := p.all[key]
	if f == nil || f.starts != p.starts {
		f = &follower{starts: p.starts, listed: map[string]*listing{}}
		p.all[key] = f
	}
	return f
}

// begin notes that a follower begins while others are active, from a list of its own if there was one.
func (f *follower) begin(others int, alone bool, from *listing) *breach {
	e := f.ended
	needless := e != nil && (alone || f.begun > f.excused+others)
	f.begun++
	f.ended = nil
	if !needless {
		return nil
	}
	f.excused++
	if f.needless++; f.needless == 1 && !alone {
		return nil // it may be another follower that happens to start now
	}
	return &breach{needless: true, ended: e, list: from, message: fmt.Sprintf("it lists again after a watch that ended cleanly and had delivered %d events, the last of them at rv=%d: a watch from there would do", e.events, e.last)}
}

// frame follows an event of a watch.
func (p *followers) frame(r *sim.Record) {
	for _, f := range *p.of(r.Actor) {
		if f.id != r.N || f.w == nil {
			continue
		}
		w := f.w
		switch {
		case r.Detail == string(watch.Error):
			w.malformed = true
		case w.initial:
			w.initial = r.Detail != string(watch.Bookmark) || w.streaming && !endsInitialEvents(r.Obj)
			w.last, w.max = r.RV, max(w.max, r.RV)
		default:
			w.events++
			w.last, w.max = r.RV, max(w.max, r.RV)
		}
		return
	}
}

// failed notes a request that was answered with an error.
func (f *inFlight) failed() {
	f.by.excused++
	if f.w != nil {
		f.by.watches--
	}
}

// closed notes how a watch ended.
func (f *inFlight) closed(r *sim.Record) {
	f.by.watches--
	w := f.w
	clean := r.Detail == "timeout" || r.Detail == "fault watch-close" || r.Detail == "fault watch-eof"
	if clean && !w.initial && !w.malformed && w.events > 0 {
		w.step, w.at, w.why = r.Step, r.At, r.Detail
		f.by.ended = w
		return
	}
	f.by.excused++
	f.by.ended = nil
}

// page notes the revision of a list that is complete.
func (p *followers) page(r *sim.Record) {
	number, _, _ := strings.Cut(strings.TrimPrefix(r.Detail, "request="), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return
	}
	if f, page := p.take(r.Actor, n), pageOf(r); f != nil && page != nil && page.Continue == "" {
		if p.options.OneReflector { // it watches from its last list, if from any
			clear(f.by.listed)
			f.by.unused = 0
		}
		f.by.unused++
		if f.by.listed[page.ResourceVersion] == nil {
			f.by.listed[page.ResourceVersion] = f.list
		}
	}
}

// onRequests returns the New of a property of followers.
func onRequests(o Options, judges func(*breach) bool) func() property.Checker {
	return func() property.Checker {
		p := &followers{options: o}
		p.forget()
		return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
			b := p.record(w, r)
			if b == nil || !judges(b) {
				return nil
			}
			because := []reports.Evidence{{Step: b.ended.step, At: b.ended.at, Text: fmt.Sprintf("a watch from rv=%q ended: %s", b.ended.from, b.ended.why)}}
			then := "but then"
			if b.list != nil {
				because = append(because, reports.Evidence{Step: b.list.step, At: b.list.at, Text: "but then: " + b.list.what})
				then = "and from there"
			}
			return &reports.Violation{
				Message: fmt.Sprintf("%s, following %s: %s", w.Kernel().ActorName(r.Actor), r.Key, b.message),
				Because: append(because, reports.Because(r, "%s: %s", then, r.Detail)),
			}
		}}
	}
}
