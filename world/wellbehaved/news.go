package wellbehaved

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// news is what has become of an object, and how clients have learned of it.
type news struct {
	key  string
	rv   int64
	gone bool
	told map[sim.ActorID]reports.Evidence
}

// gazette follows who learns of what.
type gazette struct {
	plurals map[sentBy]string  // by list in flight, and by watch that is open or asked for
	watches map[sentBy]bool    // which of them are
	scopes  map[sentBy]scope   // what they are restricted to
	of      map[string]*news   // the last of an object, by its key
	all     map[string][]*news // by plural
}

func newGazette() gazette {
	return gazette{map[sentBy]string{}, map[sentBy]bool{}, map[sentBy]scope{}, map[string]*news{}, map[string][]*news{}}
}

// scope is what a list or a watch is of.
type scope struct {
	namespace string // "" for all
	selects   bool   // some by their labels or fields
}

// tells reports whether a page or a bookmark says how an object is: of one that it may not select, only that it is gone, or what it has of it.
func (s scope) tells(n *news, r *sim.Record) bool {
	object := n.key[strings.Index(n.key, " ")+1:]
	if s.namespace != "" && !strings.HasPrefix(object, s.namespace+"/") {
		return false
	}
	page, is := r.Obj.(*fakeapiserver.Page)
	return n.gone || !s.selects || is && slices.Contains(page.Keys, object)
}

// put makes a change of an object the last one that is followed.
func (g *gazette) put(r *sim.Record) *news {
	n := g.of[r.Key]
	if n == nil {
		n = &news{key: strings.Clone(r.Key)}
		g.of[n.key] = n
		g.all[pluralOf(n.key)] = append(g.all[pluralOf(n.key)], n)
	}
	n.rv, n.gone, n.told = r.RV, r.Detail == "DELETED", map[sim.ActorID]reports.Evidence{}
	return n
}

// drop follows an object no longer.
func (g *gazette) drop(key string) {
	if n := g.of[key]; n != nil {
		delete(g.of, key)
		plural := pluralOf(n.key)
		g.all[plural] = slices.DeleteFunc(g.all[plural], func(other *news) bool { return other == n })
	}
}

// plural returns what a page or a frame is of, "" if that is not known.
func (g *gazette) plural(r *sim.Record) string {
	switch r.Kind {
	case fakeapiserver.KindPage:
		return g.plurals[pageOf(r)]
	case fakeapiserver.KindFrame:
		if r.Detail != "ERROR" {
			return g.plurals[sentBy{r.Actor, r.N}] // a bookmark has no key
		}
	}
	return ""
}

// record takes in requests, answers, pages, frames, the ends of watches and the lives of processes.
func (g *gazette) record(w property.World, r *sim.Record, restarts sim.Kind) {
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if a, is := r.Obj.(*fakeapiserver.Asked); is {
			g.plurals[at] = strings.Clone(r.Key)
			g.scopes[at] = scope{strings.Clone(a.Namespace), a.Selects()}
			if a.Watch {
				g.watches[at] = true
			}
		}
	case fakeapiserver.KindResponse:
		if !g.watches[at] || !strings.HasPrefix(r.Detail, "2") && r.Detail != "ok" {
			g.end(at)
		}
	case fakeapiserver.KindWatchClosed:
		g.end(at)
	case fakeapiserver.KindPage:
		if plural := g.plural(r); plural != "" && !strings.HasSuffix(r.Detail, " more") {
			g.listed(w, r, plural, g.scopes[pageOf(r)])
		}
		g.end(pageOf(r))
	case fakeapiserver.KindFrame:
		switch n := g.of[r.Key]; {
		case r.Detail == "BOOKMARK":
			g.listed(w, r, g.plural(r), g.scopes[at])
		case n != nil && r.RV >= n.rv:
			n.learns(r.Actor, func() reports.Evidence {
				return reports.Because(r, "%s is told so by its watch", clientName(w, r.Actor))
			})
		}
	case restarts:
		if client, ok := clientOf(w, r); ok {
			for q := range g.plurals { // order: each by itself
				if q.client == client {
					g.end(q)
				}
			}
			for _, all := range g.all { // order: each by itself
				for _, n := range all {
					if n.gone {
						n.learns(client, func() reports.Evidence {
							return reports.Because(r, "%s, which has not been told so, has %s: nothing tells it later", clientName(w, client), r.Detail)
						})
					}
				}
			}
		}
	}
}

func (g *gazette) end(at sentBy) {
	delete(g.plurals, at)
	delete(g.watches, at)
	delete(g.scopes, at)
}

// listed notes that a client knows how what it has asked for is at a revision.
func (g *gazette) listed(w property.World, r *sim.Record, plural string, of scope) {
	for _, n := range g.all[plural] {
		if r.RV < n.rv || !of.tells(n, r) {
			continue
		}
		n.learns(r.Actor, func() reports.Evidence {
			if n.gone {
				return reports.Because(r, "%s is told so by a list without it, whereupon informers hand their handlers a cache.DeletedFinalStateUnknown in place of the object", clientName(w, r.Actor))
			}
			return reports.Because(r, "%s is told so by a list", clientName(w, r.Actor))
		})
	}
}

func (n *news) learns(client sim.ActorID, how func() reports.Evidence) {
	if _, is := n.told[client]; !is {
		n.told[client] = how()
	}
}
