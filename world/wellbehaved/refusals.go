package wellbehaved

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// writing is a write that was sent: "secrets create default/a", and in which step.
type writing struct {
	what string
	step uint64
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
			s.writes[at] = writing{r.Key + " " + r.Detail, r.Step}
		}
	case fakeapiserver.KindResponse:
		if q := s.writes[at]; !strings.HasPrefix(r.Detail, "2") && q.what != "" {
			s.failed[q.what] = refused{reports.Because(r, "%s had tried it, and was told: %s", clientName(w, r.Actor), r.Detail), q.step, wordsOf(r.Detail), r.Actor}
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

// tells reports whether a write may say that another one has failed, by a step or later: it has the words of that, or changes nothing but a status. Nothing asks for it but that failure, of which the
// next attempt may know nothing.
func (s *refusals) tells(r *sim.Record, x *write, since uint64) bool {
	if r.Detail != "MODIFIED" {
		return false
	}
	all, own := changes(r.Old, r.Obj), s.writes[sentBy{x.client, x.number}].what
	statusOnly := !slices.ContainsFunc(all, func(c change) bool { return !strings.HasPrefix(c.field, "status.") })
	for what, f := range s.failed { // order: one is enough
		if f.by != x.client || f.Step < since || what == own {
			continue
		}
		if statusOnly || f.words != "" && slices.ContainsFunc(all, func(c change) bool { return strings.Contains(unquoted(c.value), f.words) }) {
			return true
		}
	}
	return false
}
