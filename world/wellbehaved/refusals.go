package wellbehaved

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// writing is a write that was sent: "secrets create default/a", what else a reader should know, and in which step.
type writing struct {
	what, note string
	step       uint64
}

// refused is an answer to one that is an error, and the step in which that was sent.
type refused struct {
	reports.Evidence
	sent  uint64
	words string
	by    sim.ActorID
}

// refusals follow which writes have failed the last time they were sent, by what they write.
type refusals struct {
	writes map[sentBy]writing // in flight
	failed map[string]refused
}

func newRefusals() refusals { return refusals{map[sentBy]writing{}, map[string]refused{}} }

// record takes in requests and answers.
func (s *refusals) record(w property.World, r *sim.Record) {
	switch at := (sentBy{r.Actor, r.N}); r.Kind {
	case fakeapiserver.KindRequest:
		if r.Obj == nil {
			s.writes[at] = writing{r.Key + " " + r.Detail, r.Note, r.Step}
		}
	case fakeapiserver.KindResponse:
		if q := s.writes[at]; !strings.HasPrefix(r.Detail, "2") && q.what != "" {
			s.failed[q.what] = refused{reports.Because(r, "%s had tried %s, and was told: %s", clientName(w, r.Actor), q.what+q.note, r.Detail), q.step, wordsOf(r.Detail), r.Actor}
		} else {
			delete(s.failed, q.what)
		}
		delete(s.writes, at)
	}
}

// lastOf returns how the write of a request has failed the last time it was sent.
func (s *refusals) lastOf(client sim.ActorID, number int64) (last refused, is bool) {
	last, is = s.failed[s.writes[sentBy{client, number}].what]
	return last, is
}

// tells reports whether a write may say that another one has failed, by a step or later, of which the next attempt may know nothing: it has the words of that, and nothing asks for it but that failure;
// or it changes nothing but a status, with no word of why. That is said only if it is taken back, for the same may be what the controller sees.
func (s *refusals) tells(r *sim.Record, x *write, since uint64) (is bool, may *said) {
	if r.Detail != "MODIFIED" {
		return false, nil
	}
	all, own := changes(r.Old, r.Obj), s.writes[sentBy{x.client, x.number}].what
	statusOnly := !slices.ContainsFunc(all, func(c change) bool { return !strings.HasPrefix(c.field, "status.") })
	for what, f := range s.failed { // order: one is enough, or it is the last
		if f.by != x.client || f.Step < since || what == own {
			continue
		}
		if f.words != "" && slices.ContainsFunc(all, func(c change) bool { return strings.Contains(unquoted(c.value), f.words) }) {
			return true, nil
		}
		if statusOnly && (may == nil || may.failed.Step < f.Step) {
			may = &said{failed: f.Evidence, key: strings.Clone(r.Key), obj: r.Obj, all: all}
		}
	}
	return false, may
}

// said is what a write of a status may say of another one that has failed.
type said struct {
	failed reports.Evidence // how that has failed
	key    string
	obj    any
	all    []change
	back   bool // something of it, other than a time or a number, is no longer so
}

// committed takes in a later write.
func (s *said) committed(r *sim.Record) {
	if s == nil || r.Key != s.key {
		return
	}
	later := changes(s.obj, r.Obj)
	s.back = r.Detail == "DELETED" || slices.ContainsFunc(s.all, func(c change) bool {
		return !moves(c.value) && slices.ContainsFunc(later, func(l change) bool { return l.field == c.field })
	})
}

// takenBack reports whether it is no longer said.
func (s *said) takenBack() bool { return s != nil && s.back }
