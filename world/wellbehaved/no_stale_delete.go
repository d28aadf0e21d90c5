package wellbehaved

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameStaleDelete is the name of the property for which controllers are restarted while one of their lists is as it was before an object was made.
const NameStaleDelete = "NoStaleDelete"

// keeping are the resources whose objects stand for more than what they say: Pods that run, and what is stored.
var keeping = []string{"pods", "replicasets", "replicationcontrollers", "deployments", "statefulsets", "daemonsets", "jobs", "persistentvolumeclaims", "persistentvolumes", "namespaces"}

// noStaleDelete checks that a controller does not take for gone what its cache does not have yet. An object of the test's is made, and what controllers make for it; then they are restarted, and one of them gets the list with the
// object as it was before, and is told of it only LateList later. It judges what that controller deletes until then of what it has made since, and does not delete in a run that goes the same way up to that list, which is that of now there.
// What it makes again as it was is lost to nobody.
func noStaleDelete(o *Options) property.Property {
	return property.Property{
		Name:      NameStaleDelete,
		Statement: "no controller deletes for good what it has made for an object since a list is older than that",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindFault, fakeapiserver.KindWatchClosed, fakeapiserver.KindCommit, o.Restarts},
		New: func() property.Checker {
			s := &outdated{gazette: newGazette(), o: o, begun: map[sim.ActorID]reports.Evidence{}, made: map[string]reports.Evidence{}}
			return property.Checker{Record: s.record, End: func(property.World) *reports.Violation { return s.found() }}
		},
	}
}

// outdated follows what controllers make, and delete when the run restarts them.
type outdated struct {
	gazette
	o      *Options
	begun  map[sim.ActorID]reports.Evidence
	made   map[string]reports.Evidence // what controllers have made since the object was, by client and key
	is     *reports.Evidence           // the object
	stale  *reports.Evidence           // the list without it, until its client is told of it
	losses []loss
}

// loss is what has been deleted, and may be made again as it was, sooner or later.
type loss struct {
	*reports.Violation
	obj  any
	as   string // what is in it in place of what was, since it was made again; "" before
	made reports.Evidence
}

func (s *outdated) found() *reports.Violation {
	if len(s.losses) == 0 {
		return nil
	}
	l := s.losses[0]
	if l.as == "" {
		l.Message = fmt.Sprintf(l.Message, "does not make it again")
		return l.Violation
	}
	l.Message = fmt.Sprintf(l.Message, "makes it again with another "+l.as)
	l.Because = append(l.Because, l.made)
	return l.Violation
}

func (s *outdated) record(w property.World, r *sim.Record) *reports.Violation {
	plural := s.plural(r)
	s.gazette.record(w, r, s.o.Restarts)
	t := s.o.Outdated()
	if t.Key == "" {
		return nil
	}
	switch r.Kind {
	case fakeapiserver.KindFault:
		if r.Detail == string(fault.ListStale) && strings.TrimPrefix(r.Key, "conn/") == t.Client {
			e := reports.Because(r, "%s asks for all %s, and is told of those of before, as by an apiserver whose watch cache is behind (RV %d)", t.Client, pluralOf(t.Key), t.RV)
			s.stale = &e
		}
	case fakeapiserver.KindFrame:
		if s.stale != nil && plural == pluralOf(t.Key) && clientName(w, r.Actor) == t.Client && r.Detail != "BOOKMARK" {
			s.stale = nil
		}
	case fakeapiserver.KindCommit:
		return s.committed(r, s.o.writeOf(w), &t)
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			s.begun[client] = reports.Because(r, "%s is %s", clientName(w, client), r.Detail)
			s.stale = nil
		}
	}
	return nil
}

func (s *outdated) committed(r *sim.Record, x write, t *Outdated) *reports.Violation {
	if r.Key == t.Key && r.Detail == "ADDED" {
		e := reports.Because(r, "somebody has made %s (RV %d)", t.Key, r.RV)
		s.is = &e
		clear(s.made)
	}
	s.restore(r)
	if s.is == nil || x.role != Controller || x.request == nil || x.name != t.Client || Bookkeeping(r.Key) {
		return nil
	}
	if r.Detail != "ADDED" {
		return s.deletes(r, &x, t)
	}
	if !t.Restarted {
		s.made[r.Key] = reports.Because(r, "%s makes %s (RV %d)", x.name, r.Key, r.RV)
	}
	return nil
}

func (s *outdated) deletes(r *sim.Record, x *write, t *Outdated) *reports.Violation {
	made, did := s.made[r.Key]
	begun, is := s.begun[x.client]
	if !did || !is || s.stale == nil || x.request.Method != http.MethodDelete || x.request.At < begun.At || r.Detail != "DELETED" && (!deleted(r.Obj) || deleted(r.Old)) ||
		s.o.Anyway(x.request.Hastily(x.name)) || s.o.excepted(NameStaleDelete, x.name, r.Key) {
		return nil
	}
	delete(s.made, r.Key)
	v := &reports.Violation{
		Key: strings.Clone(r.Key),
		Message: fmt.Sprintf(
			"%s deletes %s %v after its start, and %%s. It had made it when %s was, which is there; but its list of %s was that of before, and with the list of now it does not. What its cache does not have it takes for gone: before it deletes what cannot be had back, it has to ask the API, with a get that is not from the cache",
			x.name, r.Key, span(x.request.At-begun.At), t.Key, pluralOf(t.Key)),
		Because: []reports.Evidence{
			*s.is, made, begun, *s.stale, x.sends(),
			reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
		},
	}
	if slices.Contains(keeping, pluralOf(r.Key)) {
		v.Message = fmt.Sprintf(v.Message, "what runs, or is stored, goes with it")
		return v
	}
	s.losses = append(s.losses, loss{Violation: v, obj: r.Obj})
	return nil
}

// restore takes in what is made again, or comes to be as it was.
func (s *outdated) restore(r *sim.Record) {
	if r.Detail == "DELETED" {
		return
	}
	for i := range s.losses {
		l := &s.losses[i]
		if pluralOf(l.Key) != pluralOf(r.Key) || deleted(r.Obj) {
			continue
		}
		c := otherwise(l.obj, r.Obj)
		if c == nil {
			s.losses = slices.Delete(s.losses, i, i+1)
			return
		}
		if l.Key == r.Key {
			l.as, l.made = c.field, reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV)
		}
	}
}

// otherwise returns what is not in the next object as it was in the one before; nil if that was alike. What the server writes, and a name that is drawn, is not looked at.
func otherwise(before, next any) *change {
	for _, c := range changes(before, next) {
		field, _, _ := strings.Cut(strings.TrimPrefix(c.field, "metadata."), "[")
		if strings.HasPrefix(c.field, "metadata.") && !strings.HasPrefix(field, "labels") && !strings.HasPrefix(field, "annotations") || strings.HasPrefix(c.field, "status.") || isTime(c.value) {
			continue
		}
		return &c
	}
	return nil
}
