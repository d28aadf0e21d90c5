package wellbehaved

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameReplacement is the name of the property for which objects are deleted and made anew, while the watches of them have ended, and controllers are restarted.
const NameReplacement = "NoLostReplacement"

// fresh is within what time of its start a controller does what there is to do.
const fresh = time.Minute

// noLostReplacement checks that a controller that does something for an object that somebody has deleted and made anew does so, too, if it learns of that from a list. For its informers the object has
// changed then, from one with a uid and a generation to one with another uid and, mostly, the same generation. That it still wants to do so is shown when it is restarted, long after.
func noLostReplacement(o *Options) property.Property {
	return property.Property{
		Name:      NameReplacement,
		Statement: "what a controller does for an object that is made anew, it does, too, when its watch has missed that",
		Kinds:     slices.Concat(following, []sim.Kind{fakeapiserver.KindResponse, fakeapiserver.KindWatchClosed, fakeapiserver.KindCommit, o.Restarts}),
		New: func() property.Checker {
			s := &replacements{gazette: newGazette(), o: o, gone: map[string]*deed{}, remade: map[string]*replacement{}, answers: map[sentAs]reply{}}
			return property.Checker{Record: s.record}
		},
	}
}

// replacement is an object that somebody has made anew.
type replacement struct {
	reports.Evidence
	uid     kinds.UID
	watched map[sim.ActorID]bool             // whose watch has told of the deletion
	told    map[sim.ActorID]reports.Evidence // who knows the new object, and how
	started map[sim.ActorID]reports.Evidence // who has been restarted since then
	done    map[sentAs]bool                  // what has been sent since then, or in an earlier life
}

// reply is what a controller did when its watch told of an object that was made anew.
type reply struct {
	answer
	key string
}

// replacements follows the objects that somebody makes anew while controllers are probed.
type replacements struct {
	gazette
	o       *Options
	gone    map[string]*deed        // by key
	remade  map[string]*replacement // by key
	answers map[sentAs]reply        // to a replacement of which a watch has told
}

func (s *replacements) record(w property.World, r *sim.Record) *reports.Violation {
	plural := s.plural(r)
	s.gazette.record(w, r, s.o.Restarts)
	if !s.o.Probing() {
		return nil
	}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if q := s.o.Sent(r.Actor, r.N); q != nil && s.o.Role(r.Actor) == Controller && !Bookkeeping(r.Key) && q.writes() {
			s.sent(w, r, q)
		}
	case fakeapiserver.KindPage:
		if page, is := r.Obj.(*fakeapiserver.Page); is && plural != "" {
			for n, key := range page.Keys {
				s.tell(w, r, plural+" "+key, page.Items[n], "a list")
			}
		}
	case fakeapiserver.KindFrame:
		if r.Detail == "DELETED" {
			if x := s.gone[r.Key]; x != nil {
				x.watched[r.Actor] = true
			} else if x := s.remade[r.Key]; x != nil {
				x.watched[r.Actor] = true
			}
		}
		s.tell(w, r, r.Key, r.Obj, "its watch")
	case fakeapiserver.KindCommit:
		return s.committed(r, s.o.writeOf(w))
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			for _, x := range s.remade { // order: each by itself
				if e, again := x.started[client]; again && e.At != r.At {
					continue // it has been judged
				}
				if _, told := x.told[client]; told {
					x.started[client] = reports.Because(r, "%s has %s", clientName(w, client), r.Detail)
				} else {
					x.watched[client] = true // it learns of what there is as it begins
				}
			}
		}
	}
	return nil
}

// tell notes that a client is told of an object.
func (s *replacements) tell(w property.World, r *sim.Record, key string, obj any, how string) {
	x, m := s.remade[key], meta(obj)
	if x == nil || m == nil || m.GetUID() != x.uid {
		return
	}
	if _, told := x.told[r.Actor]; !told {
		x.told[r.Actor] = reports.Because(r, "%s is told so by %s", clientName(w, r.Actor), how)
	}
}

// sent notes a write of a controller: in answer to a replacement, if its watch has just told of one.
func (s *replacements) sent(w property.World, r *sim.Record, q *Request) {
	id := sentAsOf(r.Actor, q)
	for _, key := range slices.Sorted(maps.Keys(s.remade)) {
		x := s.remade[key]
		told, is := x.told[r.Actor]
		if _, restarted := x.started[r.Actor]; !is || restarted {
			continue
		}
		if x.done[id] = true; x.watched[r.Actor] && r.At <= told.At+reaction {
			s.answers[id] = reply{answer{x.Evidence, reports.Because(r, "%s, whose watch has told of that, sends %s %s", clientName(w, r.Actor), q.Method, q.Path)}, key}
		}
	}
}

func (s *replacements) committed(r *sim.Record, x write) *reports.Violation {
	m := meta(r.Obj)
	if m == nil || Bookkeeping(r.Key) {
		return nil
	}
	if x.role == Outside {
		switch gone := s.gone[r.Key]; {
		case r.Detail == "DELETED":
			delete(s.remade, r.Key)
			s.gone[strings.Clone(r.Key)] = &deed{reports.Because(r, "somebody deletes %s, uid %s (RV %d)", r.Key, m.GetUID(), r.RV), map[sim.ActorID]bool{}}
		case r.Detail == "ADDED" && gone != nil:
			delete(s.gone, r.Key)
			s.remade[strings.Clone(r.Key)] = &replacement{
				Evidence: reports.Because(r, "somebody makes %s anew, uid %s (RV %d), after it was deleted at step %d", r.Key, m.GetUID(), r.RV, gone.Step), uid: m.GetUID(),
				watched: gone.watched, told: map[sim.ActorID]reports.Evidence{}, started: map[sim.ActorID]reports.Evidence{}, done: map[sentAs]bool{},
			}
		}
		return nil
	}
	if x.role != Controller || x.request == nil || s.o.excepted(NameReplacement, x.name, r.Key) {
		return nil
	}
	id := sentAsOf(x.client, x.request)
	did, knows := s.answers[id]
	what := does(r)
	if !knows || what == "" {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s.remade)) {
		n := s.remade[key]
		began, restarted := n.started[x.client]
		told := n.told[x.client]
		if !restarted || n.watched[x.client] || n.done[id] || x.request.At < began.At || x.request.At > began.At+fresh || did.key != key {
			continue
		}
		return &reports.Violation{
			Key: strings.Clone(r.Key),
			Message: fmt.Sprintf(
				"%s %s only when it is restarted: somebody had deleted %s and made it anew %v before, while no watch of its was open, so that a list told of the new object. When its watch tells of such a thing, %s sends %s %s at once. An informer tells of it as of an update, whose old object has another uid: a filter that compares generations only, such as predicate.GenerationChangedPredicate, drops it, and what is kept by name is kept of the object before",
				x.name, what, key, span(x.request.At-n.At), x.name, x.request.Method, x.request.Path),
			Because: []reports.Evidence{
				did.gone, did.sent, n.Evidence, told, began,
				x.sends(),
				reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
			},
		}
	}
	return nil
}
