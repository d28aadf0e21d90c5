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
		Kinds:     []sim.Kind{fakeapiserver.KindFrame, fakeapiserver.KindFault, fakeapiserver.KindCommit, o.Restarts},
		New: func() property.Checker {
			s := &outdated{o: o, made: map[string]reports.Evidence{}}
			return property.Checker{Record: s.record, End: func(property.World) *reports.Violation { return s.found() }}
		},
	}
}

// outdated follows what controllers make, and delete when the run restarts them.
type outdated struct {
	o      *Options
	is     *reports.Evidence           // the object
	made   map[string]reports.Evidence // what its controller has made since then, until it begins anew, by key
	begun  *reports.Evidence           // when it has
	stale  *reports.Evidence           // the list without it, until its client is told of it
	losses []loss
}

// loss is what has been deleted, and may be made again as it was, sooner or later.
type loss struct {
	key, does, why string // the message is what its controller does, how that is a loss, and why
	because        []reports.Evidence
	obj            any
	as             string // what is in it in place of what was, since it was made again; "" before
	made           reports.Evidence
}

func (l *loss) violation(how string, because ...reports.Evidence) *reports.Violation {
	return &reports.Violation{Key: l.key, Message: l.does + ", and " + how + ". " + l.why, Because: append(l.because, because...)}
}

func (s *outdated) found() *reports.Violation {
	if len(s.losses) == 0 {
		return nil
	}
	if l := &s.losses[0]; l.as != "" {
		return l.violation("makes it again with another "+l.as, l.made)
	}
	return s.losses[0].violation("does not make it again")
}

func (s *outdated) record(w property.World, r *sim.Record) *reports.Violation {
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
		if s.stale != nil && pluralOf(r.Key) == pluralOf(t.Key) && clientName(w, r.Actor) == t.Client && r.Detail != "BOOKMARK" {
			s.stale = nil
		}
	case fakeapiserver.KindCommit:
		return s.committed(r, s.o.writeOf(w), &t)
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok && clientName(w, client) == t.Client {
			e := reports.Because(r, "%s is %s", t.Client, r.Detail)
			s.begun, s.stale = &e, nil
		}
	}
	return nil
}

func (s *outdated) committed(r *sim.Record, x write, t *Outdated) *reports.Violation {
	if r.Key == t.Key && r.Detail == "ADDED" {
		e := reports.Because(r, "somebody has made %s (RV %d)", t.Key, r.RV)
		s.is, s.begun = &e, nil
		clear(s.made)
	}
	s.restore(r)
	if s.is == nil || x.role != Controller || x.request == nil || x.name != t.Client || Bookkeeping(r.Key) {
		return nil
	}
	if r.Detail != "ADDED" {
		return s.deletes(r, &x, t)
	}
	if s.begun == nil {
		s.made[r.Key] = reports.Because(r, "%s makes %s (RV %d)", x.name, r.Key, r.RV)
	}
	return nil
}

func (s *outdated) deletes(r *sim.Record, x *write, t *Outdated) *reports.Violation {
	made, did := s.made[r.Key]
	if !did || s.begun == nil || s.stale == nil || x.request.Method != http.MethodDelete || x.request.At < s.begun.At || r.Detail != "DELETED" && (!deleted(r.Obj) || deleted(r.Old)) ||
		s.o.Anyway(x.request.Hastily(x.name)) || s.o.excepted(NameStaleDelete, x.name, r.Key) {
		return nil
	}
	delete(s.made, r.Key)
	l := loss{
		key: strings.Clone(r.Key), obj: r.Obj,
		does: fmt.Sprintf("%s deletes %s %v after its start", x.name, r.Key, span(x.request.At-s.begun.At)),
		why: fmt.Sprintf("It had made it when %s was, which is there; but its list of %s was that of before, and with the list of now it does not. What its cache does not have it takes for gone: "+
			"before it deletes what cannot be had back, it has to ask the API, with a get that is not from the cache", t.Key, pluralOf(t.Key)),
		because: []reports.Evidence{*s.is, made, *s.begun, *s.stale, x.sends(), reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV)},
	}
	if slices.Contains(keeping, pluralOf(r.Key)) {
		return l.violation("what runs, or is stored, goes with it")
	}
	s.losses = append(s.losses, l)
	return nil
}

// restore takes in what is made again, or comes to be as it was.
func (s *outdated) restore(r *sim.Record) {
	if r.Detail == "DELETED" {
		return
	}
	for i := range s.losses {
		l := &s.losses[i]
		if pluralOf(l.key) != pluralOf(r.Key) || deleted(r.Obj) {
			continue
		}
		c := otherwise(l.obj, r.Obj)
		if c == nil {
			s.losses = slices.Delete(s.losses, i, i+1)
			return
		}
		if l.key == r.Key {
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
