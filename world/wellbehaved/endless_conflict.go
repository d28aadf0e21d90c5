package wellbehaved

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// How a server refuses a write whose resourceVersion is not the newest, and one that has none, of a resource that requires it.
const (
	stale       = "the object has been modified; please apply your changes to the latest version and try again"
	versioned   = "resourceVersion: Invalid value: "
	unversioned = ": must be specified for an update"
)

// conflicts follows the writes that are refused for their resourceVersion since the faults stopped. An object that nobody changes has one newest version: whoever has been told of it, and still
// sends another one, takes it from somewhere else than from what it is told. Who sends none, where one is required, never has a write accepted. Its reconcile fails for ever, whether anybody
// tells of that or not. The other reasons for a 409 or a 422 (a name that is taken by another object, a field that is somebody else's, an object that is not valid) may be there for as long as they like.
type conflicts struct {
	o       *Options
	news    gazette                          // of lists and watches, not of objects
	told    map[sim.ActorID]map[string]int64 // up to which revision a client has been told of a plural
	newest  map[string]int64                 // of an object
	sent    map[sentBy]target                // in flight
	refused map[target][]refusal
	order   []target // of refused
}

// target is what a client writes: an object, or below it "/status".
type target struct {
	client              sim.ActorID
	object, subresource string
}

func (to target) String() string { return to.object + to.subresource }

// refusal is a conflict.
type refusal struct {
	what    reports.Evidence
	missing bool // there was no resourceVersion
	newest  int64
}

func newConflicts(o *Options) conflicts {
	return conflicts{o, newGazette(), map[sim.ActorID]map[string]int64{}, map[string]int64{}, map[sentBy]target{}, map[target][]refusal{}, nil}
}

func (c *conflicts) record(w property.World, r *sim.Record) {
	_, calm := c.o.Calm()
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindPage, fakeapiserver.KindFrame:
		if plural := c.news.plural(r); plural != "" && c.o.Role(r.Actor) == Controller {
			c.learns(r.Actor, plural, r.RV)
		}
	case fakeapiserver.KindRequest:
		if to, changes := c.o.changing(r); changes && calm {
			c.sent[at] = to
		}
	case fakeapiserver.KindResponse:
		to, is := c.sent[at]
		delete(c.sent, at)
		switch {
		case !is || c.o.Probing():
		case strings.HasPrefix(r.Detail, "409 ") && strings.HasSuffix(r.Detail, stale):
			c.refuse(w, r, to, false)
		case strings.HasPrefix(r.Detail, "422 ") && strings.Contains(r.Detail, versioned) && strings.Contains(r.Detail, unversioned):
			c.refuse(w, r, to, true)
		case strings.HasPrefix(r.Detail, "2"):
			delete(c.refused, to)
		}
	case fakeapiserver.KindCommit:
		if c.newest[strings.Clone(r.Key)] = r.RV; calm {
			if x := c.o.writeOf(w); !x.rewrites(r) {
				c.changed(r.Key)
			}
		}
	case c.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			delete(c.told, client)
			maps.DeleteFunc(c.refused, func(to target, _ []refusal) bool { return to.client == client })
		}
	}
	c.news.record(w, r, c.o.Restarts)
}

// changed begins the counts of what is stale anew: an object has another newest version.
func (c *conflicts) changed(key string) {
	for to, all := range c.refused { // order: each by itself
		if to.object == key {
			c.refused[to] = slices.DeleteFunc(all, func(x refusal) bool { return !x.missing })
		}
	}
}

// learns notes up to which revision a client knows a resource.
func (c *conflicts) learns(client sim.ActorID, plural string, rv int64) {
	if c.told[client] == nil {
		c.told[client] = map[string]int64{}
	}
	c.told[client][plural] = max(c.told[client][plural], rv)
}

func (c *conflicts) refuse(w property.World, r *sim.Record, to target, missing bool) {
	if !slices.Contains(c.order, to) {
		c.order = append(c.order, to)
	}
	newest := c.newest[to.object]
	if told, follows := c.told[to.client][pluralOf(to.object)]; follows && told < newest && !missing {
		return // its cache is late
	}
	c.refused[to] = append(c.refused[to], refusal{reports.Because(r, "%s writes %s, and is told: %s", clientName(w, r.Actor), to, r.Detail), missing, newest})
}

// fewestConflicts are the conflicts in a row that no chance explains.
const fewestConflicts = 3

// end judges what has been refused until nothing had changed for long.
func (c *conflicts) end(w property.World, since time.Duration) *reports.Violation {
	if len(c.refused) == 0 {
		return nil
	}
	there := map[string]bool{}
	for _, s := range inOrder(w) {
		there[s.key] = true
	}
	for _, to := range c.order {
		if !there[to.object] || c.o.excepted(NameEndless, clientName(w, to.client), to.object) {
			continue
		}
		if v := c.judge(w, to, since); v != nil {
			return v
		}
	}
	return nil
}

// judge judges what a client has written of an object that is there.
func (c *conflicts) judge(w property.World, to target, since time.Duration) *reports.Violation {
	var late, without []reports.Evidence
	var newest int64
	for _, x := range c.refused[to] {
		if x.missing {
			without = append(without, x.what)
		} else {
			late, newest = append(late, x.what), x.newest
		}
	}
	is := func(all []reports.Evidence) bool { return len(all) >= fewestConflicts && endless(c.o, all) }
	switch {
	case is(late):
		return &reports.Violation{Key: to.object, Because: few(late), Message: fmt.Sprintf(
			"%s writes %s with a resourceVersion that is not the newest, again and again: %d times since the faults stopped at %v it was told that the object has been modified. Nobody has changed it since, and the newest is RV %d, so what it writes is not what it is told",
			clientName(w, to.client), to, len(late), span(since), newest)}
	case is(without):
		return &reports.Violation{Key: to.object, Because: few(without), Message: fmt.Sprintf(
			"%s writes %s without a resourceVersion, again and again: %d times since the faults stopped at %v it was told that there must be one. No retry changes that: write what was read, with its resourceVersion, or send a patch",
			clientName(w, to.client), to, len(without), span(since))}
	}
	return nil
}
