package wellbehaved

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// taken is how a server refuses a create of a name that is there.
const taken = " already exists"

// recreates follows the creates that are refused since the faults stopped because their name is taken, by what the same request of the same client has made. Whoever creates first and takes that for an answer may do
// so as often as it likes. But who waits twice as long each time has failed: it does not see what it has made, and never will.
type recreates struct {
	o     *Options
	sent  map[sentBy]creating
	made  map[string]*recreated // by what it is
	order []string              // of those that were refused
}

// creating is a create.
type creating struct {
	client          sim.ActorID
	path, body, key string
}

// recreated is what a create has made, and the same one since then.
type recreated struct {
	creating
	made    reports.Evidence
	refused []reports.Evidence
	differs bool // from what was sent first
}

func newRecreates(o *Options) recreates {
	return recreates{o, map[sentBy]creating{}, map[string]*recreated{}, nil}
}

func (c *recreates) record(w property.World, r *sim.Record) {
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if q := c.o.Sent(r.Actor, r.N); q != nil && q.Method == http.MethodPost && c.o.Role(r.Actor) == Controller && !Bookkeeping(r.Key) {
			id := sentAsOf(r.Actor, q)
			if key := keyOf(r.Key, q.Path, id.name); key != "" {
				c.sent[at] = creating{r.Actor, q.Path, q.Body, key}
			}
		}
	case fakeapiserver.KindCommit:
		if r.Detail == "MODIFIED" && !deleted(r.Obj) {
			return
		}
		delete(c.made, r.Key) // who makes another one has to wait for the end of one that is being deleted
		x := c.o.writeOf(w)
		if n, is := c.sent[sentBy{x.client, x.number}]; is && r.Detail == "ADDED" && n.key == r.Key {
			c.made[n.key] = &recreated{creating: n, made: reports.Because(r, "%s makes %s (RV %d)", x.name, r.Key, r.RV)}
		}
	case fakeapiserver.KindResponse:
		n, is := c.sent[at]
		delete(c.sent, at)
		if _, calm := c.o.Calm(); !is || !calm || c.o.Probing() || !strings.HasPrefix(r.Detail, "409 ") || !strings.HasSuffix(r.Detail, taken) {
			return
		}
		x := c.made[n.key]
		if x == nil || x.client != n.client || x.path != n.path || x.body != n.body && !sameOwners(x.body, n.body) {
			return
		}
		x.differs = x.differs || x.body != n.body
		if len(x.refused) == 0 && !slices.Contains(c.order, n.key) {
			c.order = append(c.order, n.key)
		}
		x.refused = append(x.refused, reports.Because(r, "%s sends POST %s for %s, and is told: %s", clientName(w, r.Actor), n.path, n.key, r.Detail))
	case c.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			for _, key := range c.order {
				if x := c.made[key]; x != nil && x.client == client {
					x.refused = nil // its queues are new
				}
			}
		}
	}
}

// sameOwners reports whether two creates are for the same owners, of which there are some. What else they say may have changed meanwhile. Of another owner, who waits for what the garbage collector has to do
// first fails as often.
func sameOwners(a, b string) bool {
	owners := func(body string) (all []string) {
		var object struct {
			Metadata struct{ OwnerReferences []struct{ UID string } }
		}
		if json.Unmarshal([]byte(body), &object) != nil {
			return nil
		}
		for _, o := range object.Metadata.OwnerReferences {
			all = append(all, o.UID)
		}
		return all
	}
	x := owners(a)
	return len(x) > 0 && slices.Equal(x, owners(b))
}

// keyOf returns the key of what a create of a resource makes, "" if the server draws its name or it is a subresource.
func keyOf(plural, path, name string) string {
	path, _, _ = strings.Cut(path, "?")
	before, is := strings.CutSuffix(path, "/"+plural)
	if !is || name == "" || strings.HasSuffix(name, "*") {
		return ""
	}
	if _, namespace, namespaced := strings.Cut(before, "/namespaces/"); namespaced {
		name = namespace + "/" + name
	}
	return plural + " " + name
}

// doublings are the waits, each twice as long as the one before, that a rate limiter explains and nothing else.
const doublings = 3

// doubles reports whether what was repeated came later each time, as a rate limiter puts off what fails.
func doubles(all []reports.Evidence) bool {
	n := 0
	for i := 2; i < len(all); i++ {
		before, wait := all[i-1].At-all[i-2].At, all[i].At-all[i-1].At
		if before < time.Second || wait < before*19/10 || wait > before*21/10 {
			n = 0
		} else if n++; n >= doublings {
			return true
		}
	}
	return false
}

// end judges what has been refused until nothing had changed for long.
func (c *recreates) end(w property.World, since time.Duration) *reports.Violation {
	for _, key := range c.order {
		x := c.made[key]
		if x == nil || !endless(c.o, x.refused) || !doubles(x.refused) || c.o.excepted(NameEndless, clientName(w, x.client), key) {
			continue
		}
		how := "with the same request"
		if x.differs {
			how = "for the same owner"
		}
		return &reports.Violation{Key: key, Because: append([]reports.Evidence{x.made}, few(x.refused)...), Message: fmt.Sprintf(
			"%s creates %s again and again, although it has made it %s: %d times since the faults stopped at %v it was told that it exists, and it waits twice as long each time, as for what has failed. It does not see what it has made: its cache may have a selector, a namespace or a key that does not fit it",
			clientName(w, x.client), key, how, len(x.refused), span(since))}
	}
	return nil
}
