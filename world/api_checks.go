package world

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"k8s.io/apimachinery/pkg/runtime"
)

// hotLoop is the number of identical lists or watches in a row, at one instant, that count as a tight loop.
const hotLoop = 1000

// apiChecks are the properties of every client at the API: those of etcd's watches (in order, no duplicate, no gap),
// lists that show the Store at one revision, and no request in a tight loop.
type apiChecks struct {
	w       *world
	found   *reports.Violation // the first
	clients map[sim.ActorID]*clientView
	log     map[string][]logged // commits by resource (plural), oldest first

	informers informerChecks
}

type logged struct {
	rv        int64
	namespace string
}

// clientView is what one client was observed to do.
type clientView struct {
	watches   map[int64]*watchView
	followers map[int64]*follower // of requests in flight
	pages     map[int64]string    // continue tokens of lists in flight
	last      string              // the last request, and how often it was repeated at this instant
	at        time.Duration
	times     int
}

// watchView is an open watch.
type watchView struct {
	plural, namespace string
	rv                int64 // of the last event; 0 if where it began is unknown
	gaps              bool  // a gap is an error: it has no selector and began at a revision
	initial           bool  // it still delivers synthetic events
}

// apiProperties combines the properties at the API, which track the same requests; a violation names the one that is broken.
func apiProperties(w *world) property.Property {
	return property.Property{
		Name: "API",
		Kinds: []sim.Kind{
			fakeapiserver.KindCommit, fakeapiserver.KindRestore, KindProcess, fakeapiserver.KindRequest, fakeapiserver.KindFrame, fakeapiserver.KindResponse,
			fakeapiserver.KindWatchClosed, fakeapiserver.KindPage,
		},
		New: func() property.Checker {
			c := newAPIChecks(w)
			return property.Checker{Record: func(_ property.World, r *sim.Record) *reports.Violation {
				c.record(r)
				return c.found
			}}
		},
	}
}

func newAPIChecks(w *world) *apiChecks {
	c := &apiChecks{w: w}
	c.forget()
	return c
}

// forget starts over: a restore gives the Store another history, and what was observed before it means nothing.
func (c *apiChecks) forget() {
	c.clients, c.log = map[sim.ActorID]*clientView{}, map[string][]logged{}
	c.informers.followers = map[string]*follower{}
}

func (c *apiChecks) record(r *sim.Record) {
	switch r.Kind {
	case fakeapiserver.KindCommit:
		plural, key, _ := strings.Cut(r.Key, " ")
		namespace, _, namespaced := strings.Cut(key, "/")
		if !namespaced {
			namespace = ""
		}
		c.log[plural] = append(c.log[plural], logged{r.RV, namespace})
	case fakeapiserver.KindRestore:
		c.forget()
	case KindProcess:
		c.informers.processes++
	case fakeapiserver.KindRequest:
		c.request(r)
	case fakeapiserver.KindFrame:
		c.frame(r)
	case fakeapiserver.KindResponse:
		if v := c.client(r.Actor); refused(r.Detail) && v.followers[r.N] != nil {
			v.followers[r.N].failed(r.N)
			delete(v.followers, r.N)
		}
	case fakeapiserver.KindWatchClosed:
		v := c.client(r.Actor)
		delete(v.watches, r.N)
		if f := v.followers[r.N]; f != nil {
			f.closed(r.N, r.Detail)
			delete(v.followers, r.N)
		}
	case fakeapiserver.KindPage:
		c.page(r)
	}
}

// refused reports whether the detail of a response is other than a success.
func refused(detail string) bool { return !strings.HasPrefix(detail, "2") }

func (c *apiChecks) client(id sim.ActorID) *clientView {
	v := c.clients[id]
	if v == nil {
		v = &clientView{watches: map[int64]*watchView{}, followers: map[int64]*follower{}, pages: map[int64]string{}}
		c.clients[id] = v
	}
	return v
}

func (c *apiChecks) request(r *sim.Record) {
	v := c.client(r.Actor)
	if what := r.Key + " " + r.Detail; what != v.last || r.At != v.at {
		v.last, v.at, v.times = what, r.At, 0
	}
	if v.times++; v.times == hotLoop && (strings.HasPrefix(r.Detail, "list") || strings.HasPrefix(r.Detail, "watch")) {
		c.fail("NoHotLoop", "", fmt.Sprintf("%s makes the request %q of %s %d times without waiting", c.w.kernel.ActorName(r.Actor), r.Detail, r.Key, v.times))
	}
	w := words(r.Detail)
	if w["verb"] != "watch" && w["verb"] != "list" || r.Actor == c.w.helpers {
		return
	}
	f := c.informers.follower(r.Actor, r.Key, w)
	v.followers[r.N] = f
	if w["verb"] == "list" {
		v.pages[r.N] = w["continue"]
		return
	}
	if property, message := f.watch(r.N, w); property != "" {
		c.broken(property, r, "of %s: %s", r.Key, message)
	}
	watch := &watchView{plural: r.Key, gaps: true}
	for _, word := range strings.Fields(r.Detail)[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "namespace":
			watch.namespace = value
		case "labels", "fields":
			watch.gaps = false
		case "rv":
			fmt.Sscanf(value, `"%d"`, &watch.rv)
		case "sendInitialEvents":
			watch.initial = value == "true"
		}
	}
	if watch.rv == 0 || watch.initial {
		watch.initial, watch.gaps = true, false
	}
	v.watches[r.N] = watch
}

func (c *apiChecks) frame(r *sim.Record) {
	c.followed(r)
	watch := c.client(r.Actor).watches[r.N]
	if watch == nil || r.RV == 0 || r.Detail == "ERROR" {
		return
	}
	if r.Detail == "BOOKMARK" {
		if r.RV < watch.rv && !watch.initial {
			c.broken("WatchOrdered", r, "a bookmark at %d follows an event at %d", r.RV, watch.rv)
		}
		watch.rv, watch.initial = max(watch.rv, r.RV), false
		return
	}
	if watch.initial {
		return // synthetic events come in the order of keys
	}
	switch {
	case r.RV < watch.rv:
		c.broken("WatchOrdered", r, "an event at %d follows one at %d", r.RV, watch.rv)
	case r.RV == watch.rv:
		c.broken("WatchUnique", r, "the event at %d comes twice", r.RV)
	case watch.gaps:
		if missed := c.missed(watch, r.RV); missed != 0 {
			c.broken("WatchReliable", r, "an event at %d follows one at %d; the one at %d is missing", r.RV, watch.rv, missed)
		}
	}
	watch.rv = r.RV
}

// followed updates the follower of a frame's watch.
func (c *apiChecks) followed(r *sim.Record) {
	f := c.client(r.Actor).followers[r.N]
	if f == nil || f.watches[r.N] == nil {
		return
	}
	w := f.watches[r.N]
	switch {
	case r.Detail == "ERROR":
		w.malformed = true
	case w.initial:
		w.initial = r.Detail != "BOOKMARK"
		w.rv = max(w.rv, r.RV)
	default:
		w.events++
		w.rv = max(w.rv, r.RV)
	}
}

// missed returns a commit before rv that the watch should have shown, 0 if there is none.
func (c *apiChecks) missed(watch *watchView, rv int64) int64 {
	all := c.log[watch.plural]
	for i := len(all) - 1; i >= 0 && all[i].rv > watch.rv; i-- {
		if all[i].rv < rv && (watch.namespace == "" || watch.namespace == all[i].namespace) {
			return all[i].rv
		}
	}
	return 0
}

// page compares every item with the Store at the list's revision, unless that is compacted.
func (c *apiChecks) page(r *sim.Record) {
	page, ok := r.Obj.(*fakeapiserver.Page)
	if !ok {
		return
	}
	c.listed(r, page)
	if len(page.Items) == 0 {
		return
	}
	id, ok := c.resourceOf(page.Items[0])
	if !ok {
		return
	}
	at := map[string]runtime.Object{}
	err := c.w.cluster.Store().Walk(id, page.Revision, "", func(key string, obj runtime.Object) bool {
		at[key] = obj
		return true
	})
	if err != nil {
		return // compacted, or a revision that this Store has yet to reach
	}
	for i, key := range page.Keys {
		if at[key] != page.Items[i] {
			c.broken("ListIsAtOneRevision", r, "the list at %d has %s in a state from another revision", page.Revision, key)
			return
		}
	}
}

// listed notes a list's revision, and compares a page with the revision at which its list began.
func (c *apiChecks) listed(r *sim.Record, page *fakeapiserver.Page) {
	number, _, _ := strings.Cut(strings.TrimPrefix(r.Detail, "request="), " ")
	n, err := strconv.ParseInt(number, 10, 64)
	v := c.client(r.Actor)
	f := v.followers[n]
	if err != nil || f == nil {
		return
	}
	began, _, _ := strings.Cut(v.pages[n], ":")
	delete(v.followers, n)
	delete(v.pages, n)
	if rv, err := strconv.ParseInt(began, 10, 64); err == nil && rv != page.Revision {
		c.broken("ListIsAtOneRevision", r, "a page is at %d, and the list began at %d", page.Revision, rv)
	}
	if page.Continue == "" {
		f.listed[page.ResourceVersion] = true
	}
}

func (c *apiChecks) resourceOf(obj runtime.Object) (store.ResourceID, bool) {
	r, err := c.w.mapper.resourceOf(obj)
	if err != nil {
		return 0, false
	}
	return c.w.cluster.FindResource(r.GroupResource())
}

func (c *apiChecks) broken(property string, r *sim.Record, format string, args ...any) {
	c.fail(property, r.Key, fmt.Sprintf("%s, request %d: ", c.w.kernel.ActorName(r.Actor), r.N)+fmt.Sprintf(format, args...))
}

func (c *apiChecks) fail(property, key, message string) {
	if c.found == nil {
		c.found = &reports.Violation{Property: property, Key: key, Message: message}
	}
}
