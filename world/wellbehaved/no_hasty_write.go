package wellbehaved

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameHasty is the name of the property for which controllers are restarted while one of their lists is answered late.
const NameHasty = "NoHastyWrite"

// LateList is how much later than others one list of a process that begins is answered: longer than a former leader's Lease lasts.
const LateList = 20 * time.Second

// noHastyWrite checks that a controller that begins waits for its informers. One that does not acts on a cache that has not been filled: what it does not find there it makes once more, and what belongs to that
// it deletes. It judges what a controller writes while a resource that it has asked for has not been listed, and does not write when it is restarted and all lists are answered at once, nor in a run that goes the same
// way up to that list, which is answered at once there.
func noHastyWrite(o *Options) property.Property {
	return property.Property{
		Name:      NameHasty,
		Statement: "a controller that begins writes nothing because one of its informers has not listed yet",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, fakeapiserver.KindCommit, o.Restarts},
		New: func() property.Checker {
			s := &haste{gazette: newGazette(), o: o, begun: map[sim.ActorID]*beginning{}, always: map[sentAs]bool{}}
			return property.Checker{Record: s.record}
		},
	}
}

// beginning is a client's life that has just begun.
type beginning struct {
	reports.Evidence
	asked *reports.Evidence // for the resource that is listed late
	told  bool              // of it
}

// haste follows what controllers write when the run restarts them.
type haste struct {
	gazette
	o      *Options
	begun  map[sim.ActorID]*beginning
	always map[sentAs]bool // what is written when all lists are answered at once
}

func (s *haste) record(w property.World, r *sim.Record) *reports.Violation {
	plural := s.plural(r)
	s.gazette.record(w, r, s.o.Restarts)
	if s.o.Restarted() == 0 {
		return nil
	}
	client, resource := s.o.Late()
	b := s.begun[r.Actor]
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if a, is := r.Obj.(*fakeapiserver.Asked); is && b != nil && b.asked == nil && r.Key == resource && clientName(w, r.Actor) == client && (!a.Watch || a.Streaming()) {
			e := reports.Because(r, "%s asks for all %s, and is told of them only %v later", client, resource, LateList)
			b.asked = &e
		}
	case fakeapiserver.KindPage, fakeapiserver.KindFrame:
		if b != nil && plural == resource {
			b.told = true
		}
	case fakeapiserver.KindCommit:
		return s.committed(r, s.o.writeOf(w), resource)
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			s.begun[client] = &beginning{Evidence: reports.Because(r, "%s is %s", clientName(w, client), r.Detail)}
		}
	}
	return nil
}

func (s *haste) committed(r *sim.Record, x write, resource string) *reports.Violation {
	what := doesAny(r)
	b := s.begun[x.client]
	if x.role != Controller || x.request == nil || b == nil || x.request.At < b.At || what == "" || Bookkeeping(r.Key) {
		return nil
	}
	id := sentAsOf(x.client, x.request)
	if resource == "" {
		s.always[id] = true
		return nil
	}
	if b.asked == nil || b.told || s.always[id] || s.o.Anyway(x.request.Hastily(x.name)) || s.o.excepted(NameHasty, x.name, r.Key) {
		return nil
	}
	return &reports.Violation{
		Key: strings.Clone(r.Key),
		Message: fmt.Sprintf(
			"%s %s while its list of %s has not been answered, %v after its start: started while all lists are answered at once, it does not. It works on a cache that has not been filled. Before its first worker begins, it has to wait for each informer that a decision needs: cache.WaitForCacheSync, or HasSynced of its handler's registration",
			x.name, what, resource, span(x.request.At-b.At)),
		Because: []reports.Evidence{
			b.Evidence, *b.asked,
			x.sends(),
			reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
		},
	}
}

// doesAny says what a write does, "" if that is nothing but to set times.
func doesAny(r *sim.Record) string {
	if what := does(r); what != "" {
		return what
	}
	for _, c := range changes(r.Old, r.Obj) {
		if !isTime(c.value) {
			return "changes " + c.field + " of " + r.Key + " to " + shown(c.value)
		}
	}
	return ""
}
