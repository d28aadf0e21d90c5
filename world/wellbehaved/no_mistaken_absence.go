package wellbehaved

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameAbsence is the name of the property for which what controllers read from the API, not from their informers, fails for a while.
const NameAbsence = "NoMistakenAbsence"

// noMistakenAbsence checks that a controller does not take a read that fails for the answer that there is nothing: it then makes what is there, or deletes what belongs to it. It judges what a controller creates, deletes
// or changes, beside statuses and metadata, which may say that it could not read, once a get of its has failed, and does to nothing of that kind when it looks at everything and no get fails: a name may be another one each time.
// Nor does it so in a run that goes the same way up to that get, which is answered there.
func noMistakenAbsence(o *Options) property.Property {
	return property.Property{
		Name:      NameAbsence,
		Statement: "a controller does not take a read that fails for the answer that there is nothing",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindCommit},
		New: func() property.Checker {
			s := &absence{o: o, always: map[doneTo]bool{}, failed: map[sim.ActorID][]failedGet{}}
			return property.Checker{Record: s.record}
		},
	}
}

// doneTo is what a client does to objects of a resource.
type doneTo struct {
	client           sim.ActorID
	method, resource string
}

// absence follows what controllers write while their reads fail.
type absence struct {
	o      *Options
	always map[doneTo]bool             // what they write when none fails
	failed map[sim.ActorID][]failedGet // the last gets of a client that have failed
}

// maxFailed is how many of them are kept: as many as a client may have in flight when it sends what follows from one of them.
const maxFailed = 32

// failedGet is a get that has failed, with the name of its object.
type failedGet struct {
	reports.Evidence
	name string
}

// reason returns which get had failed when a request was sent. What was in flight then is not its reason. Of several, that is the one of the object whose name begins most like that of what is written, and the last one of these.
func (s *absence) reason(x *write, key string) (failed failedGet, is bool) {
	if x.request == nil {
		return failed, false
	}
	name, most := key[strings.LastIndexAny(key, " /")+1:], -1
	for _, e := range slices.Backward(s.failed[x.client]) {
		if like := commonPrefix(name, e.name); e.Step <= x.request.Step && like > most {
			failed, most, is = e, like, true
		}
	}
	return failed, is
}

// commonPrefix returns how long it is.
func commonPrefix(s, t string) (n int) {
	for n < min(len(s), len(t)) && s[n] == t[n] {
		n++
	}
	return n
}

func (s *absence) record(w property.World, r *sim.Record) *reports.Violation {
	client, resource := s.o.Blinded()
	if client == "" {
		clear(s.failed)
	}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if _, observed := s.o.Observed(); observed && client == "" {
			if q := s.o.Sent(r.Actor, r.N); q != nil && s.o.Role(r.Actor) == Controller {
				s.always[doneTo{r.Actor, q.Method, strings.Clone(r.Key)}] = true
			}
		}
	case fakeapiserver.KindResponse:
		if q := s.o.Sent(r.Actor, r.N); q != nil && client != "" && clientName(w, r.Actor) == client && q.Method == "GET" && strings.HasPrefix(r.Detail, "5") {
			before := s.failed[r.Actor]
			path, _, _ := strings.Cut(q.Path, "?")
			s.failed[r.Actor] = append(before[max(0, len(before)+1-maxFailed):], failedGet{reports.Because(r, "%s sends GET %s, which fails: %s", client, q.Path, r.Detail), path[strings.LastIndexByte(path, '/')+1:]})
		}
	case fakeapiserver.KindCommit:
		return s.committed(r, s.o.writeOf(w), resource)
	}
	return nil
}

func (s *absence) committed(r *sim.Record, x write, resource string) *reports.Violation {
	failed, is := s.reason(&x, r.Key)
	if !is || x.role != Controller || Bookkeeping(r.Key) || s.o.excepted(NameAbsence, x.name, r.Key) {
		return nil
	}
	if plural, _, _ := strings.Cut(r.Key, " "); s.always[doneTo{x.client, x.request.Method, plural}] || s.o.Anyway(x.request.Blindly(x.name, plural)) {
		return nil
	}
	what := ""
	switch {
	case r.Detail == "ADDED":
		what = "creates " + r.Key
	case r.Detail == "DELETED" || deleted(r.Obj) && !deleted(r.Old):
		what = "deletes " + r.Key
	default:
		for _, c := range changes(r.Old, r.Obj) {
			if !moves(c.value) && !strings.HasPrefix(c.field, "status.") && !strings.HasPrefix(c.field, "metadata.") {
				what = fmt.Sprintf("changes %s of %s to %s", c.field, r.Key, shown(c.value))
				break
			}
		}
	}
	if what == "" {
		return nil
	}
	return &reports.Violation{
		Key: strings.Clone(r.Key),
		Message: fmt.Sprintf(
			"%s %s when its get of %s fails, for a reason that passes: while it is answered, it does not. It takes the error for an answer: only apierrors.IsNotFound says that there is none, and any other error is one to be returned",
			x.name, what, resource),
		Because: []reports.Evidence{failed.Evidence, x.sends(), reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV)},
	}
}
