package wellbehaved

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// stale is how a server refuses a write whose resourceVersion is not the newest.
const stale = "the object has been modified; please apply your changes to the latest version and try again"

// conflicts follows the writes that are refused as stale since the faults stopped. An object that nobody changes has one newest version: whoever has been told of it, and still sends another one,
// takes it from somewhere else than from what it is told. Its reconcile fails for ever, whether anybody tells of that or not. The other reasons for a 409 (a name that is taken, a field that
// is somebody else's) may be there for as long as they like.
type conflicts struct {
	o       *Options
	news    gazette                          // of lists and watches, not of objects
	told    map[sim.ActorID]map[string]int64 // up to which revision a client has been told of a plural
	sent    map[sentBy]target                // in flight
	refused map[target][]refusal
	order   []target // of refused
}

// target is what a client writes: "plural namespace/name", with the subresource.
type target struct {
	client sim.ActorID
	object string
}

// refusal is a conflict.
type refusal struct {
	what    reports.Evidence
	told    int64
	follows bool // the client lists or watches the resource
}

func newConflicts(o *Options) conflicts {
	return conflicts{o, newGazette(), map[sim.ActorID]map[string]int64{}, map[sentBy]target{}, map[target][]refusal{}, nil}
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
		if q := c.o.Sent(r.Actor, r.N); calm && q != nil && (q.Method == http.MethodPut || q.Method == http.MethodPatch) && !Bookkeeping(r.Key) && c.o.Role(r.Actor) == Controller {
			c.sent[at] = target{r.Actor, objectOf(r)}
		}
	case fakeapiserver.KindResponse:
		to, is := c.sent[at]
		delete(c.sent, at)
		switch {
		case !is || c.o.Probing():
		case strings.HasPrefix(r.Detail, "409 ") && strings.HasSuffix(r.Detail, stale):
			c.refuse(w, r, to)
		case strings.HasPrefix(r.Detail, "2"):
			delete(c.refused, to)
		}
	case fakeapiserver.KindCommit:
		c.forget(func(to target) bool { return isOf(to.object, r.Key) })
	case c.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			delete(c.told, client)
			c.forget(func(to target) bool { return to.client == client })
		}
	}
	c.news.record(w, r, c.o.Restarts)
}

// forget begins the counts of some targets anew.
func (c *conflicts) forget(is func(target) bool) {
	for to := range c.refused { // order: each by itself
		if is(to) {
			delete(c.refused, to)
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

func (c *conflicts) refuse(w property.World, r *sim.Record, to target) {
	if !slices.Contains(c.order, to) {
		c.order = append(c.order, to)
	}
	told, follows := c.told[to.client][pluralOf(to.object)]
	c.refused[to] = append(c.refused[to], refusal{reports.Because(r, "%s writes %s, and is told: %s", clientName(w, r.Actor), to.object, r.Detail), told, follows})
}

// isOf reports whether what is written is an object, or a subresource of it.
func isOf(target, key string) bool {
	rest, is := strings.CutPrefix(target, key)
	return is && (rest == "" || rest[0] == '/')
}

// fewestConflicts are the conflicts in a row that no chance explains.
const fewestConflicts = 3

// end judges what has been refused until nothing had changed for long.
func (c *conflicts) end(w property.World, since time.Duration) *reports.Violation {
	if len(c.refused) == 0 {
		return nil
	}
	objects := inOrder(w)
	for _, to := range c.order {
		for _, s := range objects {
			if !isOf(to.object, s.key) {
				continue
			}
			if v := c.judge(w, to, s, since); v != nil {
				return v
			}
		}
	}
	return nil
}

// judge judges what a client has written of an object that is there.
func (c *conflicts) judge(w property.World, to target, s stored, since time.Duration) *reports.Violation {
	newest, err := strconv.ParseInt(s.obj.GetResourceVersion(), 10, 64)
	if err != nil || c.o.excepted(NameEndless, clientName(w, to.client), s.key) {
		return nil
	}
	var all []reports.Evidence
	for _, x := range c.refused[to] {
		if !x.follows || x.told >= newest {
			all = append(all, x.what)
		}
	}
	if len(all) < fewestConflicts || !endless(c.o, all) {
		return nil
	}
	return &reports.Violation{Key: s.key, Because: few(all), Message: fmt.Sprintf(
		"%s writes %s with a resourceVersion that is not the newest, again and again: %d times since the faults stopped at %v it was told that the object has been modified. Nobody has changed it since, and the newest is RV %d, so what it writes is not what it is told",
		clientName(w, to.client), to.object, len(all), span(since), newest)}
}
