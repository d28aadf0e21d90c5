package wellbehaved

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameBlind is the name of the property for which what a deletion has hit is made once more.
const NameBlind = "NoBlindDelete"

// noPrecondition is what is wrong with a deletion that hits the next object.
const noPrecondition = "Its request has no precondition (uid, or resourceVersion), with which the server would have refused it"

// noBlindDelete checks that no deletion hits the next object of a name. A request to delete names an object; without a precondition it means whatever is called so when it arrives. It is judged if
// its client had let another one of the name be until that changed in its status, labels or annotations, and the one that is hit, which no controller has made, has not changed so: who deletes
// whatever has a name, or as soon as it sees it, is right. It is also judged if nothing of the object had changed, since something else is the reason then, if others than controllers had made both, and its client lets the next one be once the run has
// made that once more as it was, when all is done.
func noBlindDelete(o *Options) property.Property {
	return property.Property{
		Name:      NameBlind,
		Statement: "no deletion that is meant for an object hits the next one of its name",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindCommit, o.Restarts},
		New: func() property.Checker {
			s := &blind{o: o, seen: map[sim.ActorID]map[string]*seen{}, busyness: newBusyness(), sent: map[sentBy]seen{}, made: map[kinds.UID]reports.Evidence{}, gone: map[kinds.UID]reports.Evidence{}, hits: map[string]*hit{}}
			return property.Checker{Record: s.record, End: func(property.World) *reports.Violation { return s.end() }}
		},
	}
}

// blind follows which objects clients have been told of.
type blind struct {
	busyness
	o    *Options
	seen map[sim.ActorID]map[string]*seen
	sent map[sentBy]seen                // what the client knew of the object that a request is to delete
	made map[kinds.UID]reports.Evidence // objects that no controller has made
	gone map[kinds.UID]reports.Evidence
	hits map[string]*hit // by key
}

// seen is an object that a client has been told of, how it was first, and how it was last.
type seen struct {
	key         string
	uid         kinds.UID
	rv          int64
	first, last any
	since       time.Duration    // when it was told of the first
	told        reports.Evidence // of the last
	// left says that the client had nothing to do, and had not tried to delete the object, before that changed; wanted that it has tried.
	left, wanted bool
	// let says that the client had nothing to do before it sent its first request to delete it.
	let bool
}

func (s *blind) record(w property.World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if known := s.seen[r.Actor][objectOf(r)]; known != nil && strings.HasPrefix(r.Detail, "delete ") {
			it := *known
			it.let = it.left || !it.wanted && s.idled(r.Actor, it.since, r.At)
			s.sent[sentBy{r.Actor, r.N}] = it
			known.wanted = true
		}
	case fakeapiserver.KindResponse:
		at := sentBy{r.Actor, r.N}
		if strings.HasPrefix(r.Detail, "2") && meta(r.Obj) != nil {
			rv, _ := strconv.ParseInt(meta(r.Obj).GetResourceVersion(), 10, 64)
			s.tell(w, r, rv, s.asked[at], r.Obj) // of its own write
		}
		delete(s.sent, at)
	case fakeapiserver.KindPage:
		if page, is := r.Obj.(*fakeapiserver.Page); is {
			for _, item := range page.Items {
				s.tell(w, r, r.RV, s.asked[pageOf(r)], item)
			}
		}
	case fakeapiserver.KindFrame:
		if r.Detail == "ADDED" || r.Detail == "MODIFIED" {
			s.tell(w, r, r.RV, pluralOf(r.Key), r.Obj)
		}
	case fakeapiserver.KindCommit:
		return s.committed(w, r)
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			delete(s.seen, client)
			s.lives(client)
		}
	}
	s.busyness.record(w, r, s.o.Restarts)
	return nil
}

// tell notes that a client is told of an object, as of a revision.
func (s *blind) tell(w property.World, r *sim.Record, rv int64, plural string, obj any) {
	m := meta(obj)
	if m == nil || plural == "" || s.o.Role(r.Actor) != Controller {
		return
	}
	key := plural + " " + strings.TrimPrefix(m.GetNamespace()+"/"+m.GetName(), "/")
	if s.seen[r.Actor] == nil {
		s.seen[r.Actor] = map[string]*seen{}
	}
	x := s.seen[r.Actor][key]
	if x != nil && rv < x.rv {
		return // a list from before
	}
	if x == nil || x.uid != m.GetUID() {
		x = &seen{key: key, uid: m.GetUID(), first: obj, since: r.At}
		s.seen[r.Actor][key] = x
	}
	x.left = x.left || !x.wanted && s.idled(r.Actor, x.since, r.At)
	x.rv, x.last, x.told = rv, obj, reports.Because(r, "%s is told of %s, uid %s, as it last was (RV %d)", clientName(w, r.Actor), key, m.GetUID(), rv)
}

func (s *blind) committed(w property.World, r *sim.Record) *reports.Violation {
	m := meta(r.Obj)
	if m == nil || Bookkeeping(r.Key) {
		return nil
	}
	x := s.o.writeOf(w)
	if s.follows(r, &x); s.o.Probing() {
		return nil
	}
	switch r.Detail {
	case "ADDED":
		if x.role != Controller {
			s.made[m.GetUID()] = reports.Because(r, "%s makes the next %s, uid %s (RV %d)", whoMakes(&x), r.Key, m.GetUID(), r.RV)
		}
		return nil
	case "DELETED":
		s.gone[m.GetUID()] = reports.Because(r, "%s, uid %s, is gone (RV %d)", r.Key, m.GetUID(), r.RV)
	}
	known, is := s.sent[sentBy{x.client, x.number}]
	next, fromOutside := s.made[m.GetUID()]
	before, went := s.gone[known.uid]
	deletes := is && known.key == r.Key && (r.Detail == "DELETED" || m.GetDeletionTimestamp() != nil) && x.role == Controller && x.request != nil && x.request.Method == http.MethodDelete
	if !deletes || !known.let || !fromOutside || !went || known.uid == m.GetUID() || conditional(x.request.Body, r) || s.o.excepted(NameBlind, x.name, r.Key) {
		return nil
	}
	now := r.Obj
	if r.Old != nil {
		now = r.Old
	}
	var field *change
	if known.left {
		field = s.turned(&known, now)
	}
	because := []reports.Evidence{known.told, before, next, {Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s sends DELETE %s", x.name, x.request.Path)},
		reports.Because(r, "which hits the next one (RV %d)", r.RV)}
	slices.SortStableFunc(because, func(a, b reports.Evidence) int { return int(int64(a.Step) - int64(b.Step)) })
	if field == nil {
		if _, both := s.made[known.uid]; both {
			s.suspect(r, &x, &known, now, because)
		}
		return nil
	}
	return &reports.Violation{Key: strings.Clone(r.Key), Because: because, Message: fmt.Sprintf("%s deletes %s, uid %s, of which it had not been told: it knew the one before, uid %s, whose %s had become %s. %s",
		x.name, r.Key, m.GetUID(), known.uid, field.field, shown(field.value), noPrecondition)}
}

// conditional reports whether the options of a delete, in whatever encoding, name the object that is hit, by its uid or resourceVersion.
func conditional(options string, r *sim.Record) bool {
	if strings.Contains(options, `"preconditions"`) || strings.Contains(options, string(meta(r.Obj).GetUID())) {
		return true
	}
	old := meta(r.Old)
	return old != nil && old.GetResourceVersion() != "" && strings.Contains(options, old.GetResourceVersion())
}

// turned returns what had changed of the object that a client knew, if that is not so of the one that it deletes; nil if nothing had, or all is.
func (s *blind) turned(known *seen, now any) *change {
	is := map[string]string{}
	for _, f := range flat("", content(now)) {
		is[f.field] = f.value
	}
	var field *change
	for _, c := range changes(known.first, known.last) {
		if !strings.HasPrefix(c.field, "status.") && !strings.HasPrefix(c.field, "metadata.labels.") && !strings.HasPrefix(c.field, "metadata.annotations.") {
			continue
		}
		value, set := is[c.field]
		if !set {
			value = "unset"
		}
		if value == c.value {
			return nil // this may be why, and then it is the same for both
		}
		if field == nil {
			field = &c
		}
	}
	return field
}

// whoMakes names the maker of an object.
func whoMakes(x *write) string {
	if x.name == "" {
		return "the cluster"
	}
	return x.name
}
