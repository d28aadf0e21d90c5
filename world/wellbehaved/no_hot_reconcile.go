package wellbehaved

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameHot = "NoHotReconcile"

// How many equal requests within hotSpan are a hot loop. client-go's exponential backoff makes 14 attempts in that time; who polls every second
// makes 30. Who reads ten times a second makes 300, and some more when its informers list anew.
const (
	hotSpan   = 30 * time.Second
	hotWrites = 90
	hotReads  = 400
)

// noHotReconcile checks that no controller repeats a request that changes nothing while it is told nothing new. A commit of anybody's, an event
// that reaches the controller, a fault that strikes it, and a new life all begin its counts anew. A reconcile that reads its cache only makes no request: those that the test tells of
// are counted like reads. Whose watches feed them is not known, so an event or a list of any controller's begins their counts anew.
func noHotReconcile(o *Options) property.Property {
	return property.Property{
		Name:      nameHot,
		Statement: "no controller sends one and the same request, or reconciles an object, again and again while nothing changes",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindCommit, fakeapiserver.KindFrame, fakeapiserver.KindPage, fakeapiserver.KindFault, o.Restarts, o.Reconciles.Begin},
		New: func() property.Checker {
			clients := map[sim.ActorID]map[string]*repeats{}
			reconciles := map[way]*repeats{}
			return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
				switch r.Kind {
				case fakeapiserver.KindCommit:
					if !Bookkeeping(r.Key) {
						clear(clients)
						clear(reconciles)
					}
				case fakeapiserver.KindFrame:
					if r.Detail != "BOOKMARK" {
						delete(clients, r.Actor)
						clear(reconciles)
					}
				case fakeapiserver.KindPage:
					clear(reconciles)
				case fakeapiserver.KindFault:
					clear(clients)
					clear(reconciles)
				case o.Reconciles.Begin:
					return o.reconciled(w, r, reconciles)
				case fakeapiserver.KindRequest:
					return o.repeated(w, r, clients)
				default:
					if id, ok := clientOf(w, r); ok {
						delete(clients, id)
					}
					clear(reconciles)
				}
				return nil
			}}
		},
	}
}

// repeats is a request that was made several times.
type repeats struct {
	first moment
	times int
	at    []time.Duration // of the last ones, in a ring
}

// again counts one more, and says when the oldest of the last ones was, and whether so many since then are hot.
func (s *repeats) again(r *sim.Record) (oldest time.Duration, hot bool) {
	last := s.times % len(s.at)
	oldest, s.at[last] = s.at[last], r.At
	s.times++
	return oldest, s.times > len(s.at) && r.At-oldest <= hotSpan
}

// reconciled counts a reconcile.
func (o *Options) reconciled(w property.World, r *sim.Record, reconciles map[way]*repeats) *reports.Violation {
	at := wayOf(w, r)
	s := reconciles[at]
	if s == nil {
		s = &repeats{first: momentOf(r), at: make([]time.Duration, hotReads)}
		reconciles[at] = s
	}
	oldest, hot := s.again(r)
	if !hot || o.excepted(nameHot, at.controller, at.key) {
		return nil
	}
	return &reports.Violation{
		Key: at.key, Message: fmt.Sprintf("%s reconciles %s %d times within %v; nobody has changed anything, and no controller has been told anything, since the first of %d",
			at.controller, at.key, hotReads+1, span(r.At-oldest), s.times),
		Because: []reports.Evidence{
			{Step: s.first.step, At: s.first.at, Text: "it is reconciled, and nothing changes from then on"},
			reports.Because(r, "it is reconciled for the %dth time", s.times),
		},
	}
}

// repeated counts a request.
func (o *Options) repeated(w property.World, r *sim.Record, clients map[sim.ActorID]map[string]*repeats) *reports.Violation {
	client := strings.TrimPrefix(w.Kernel().ActorName(r.Actor), "conn/")
	if strings.HasPrefix(r.Detail, "watch") || Bookkeeping(r.Key) || o.Role(r.Actor) != Controller {
		return nil
	}
	q := o.Sent(r.Actor, r.N)
	if q == nil {
		return nil
	}
	limit := hotWrites
	if q.Method == http.MethodGet {
		limit = hotReads
	}
	id := q.Method + " " + q.Path + "\x00" + q.Body
	if clients[r.Actor] == nil {
		clients[r.Actor] = map[string]*repeats{}
	}
	s := clients[r.Actor][id]
	if s == nil {
		s = &repeats{first: momentOf(r), at: make([]time.Duration, limit)}
		clients[r.Actor][id] = s
	}
	oldest, hot := s.again(r)
	if !hot || o.excepted(nameHot, client, objectOf(r)) {
		return nil
	}
	return &reports.Violation{
		Key: objectOf(r), Message: fmt.Sprintf("%s sends %s %s %d times within %v; nobody has changed anything, and it has been told nothing, since the first of %d",
			client, q.Method, q.Path, limit+1, span(r.At-oldest), s.times),
		Because: []reports.Evidence{
			{Step: s.first.step, At: s.first.at, Text: "it is sent, and nothing changes from then on"},
			reports.Because(r, "it is sent for the %dth time", s.times),
		},
	}
}

// objectOf returns the object of a request's record as a key, or else the plural, "" if it asks for no resource.
func objectOf(r *sim.Record) string {
	name := r.Detail[strings.LastIndex(r.Detail, " ")+1:]
	if r.Key == "" || strings.HasPrefix(r.Detail, "list") || name == "" || strings.HasSuffix(name, "/") {
		return strings.Clone(r.Key)
	}
	return r.Key + " " + name
}
