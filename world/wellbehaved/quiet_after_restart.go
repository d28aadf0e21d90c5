package wellbehaved

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameRestart is the name of the property for which the controllers are restarted after they were watched.
const NameRestart = "QuietAfterRestart"

// atStart is within what time of its process's start a controller writes what it finds to do: it may have to become the leader first.
const atStart = time.Minute

// quietAfterRestart checks that a controller which is restarted when all is done finds nothing to do. What it writes then it would have written before, had it looked: a filter of events, or something
// that it remembers, has kept it from that. It judges the first write that anybody makes from then on, so that nobody else's can be its reason, and not where a controller also writes after a further
// restart: there something is written at each start.
func quietAfterRestart(o *Options) property.Property {
	return property.Property{
		Name:      NameRestart,
		Statement: "when all is done, a controller that is restarted finds nothing to do",
		Kinds:     append(o.Reconciles.kinds(), fakeapiserver.KindRequest, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, o.Restarts),
		New: func() property.Checker {
			s := &restarted{o: o, causes: newCauses(), sightings: newSightings(), refusals: newRefusals(), due: map[way]time.Duration{}, active: map[sim.ActorID]time.Duration{}, started: map[string]reports.Evidence{}}
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// restarted follows what controllers write before they are restarted, and after.
type restarted struct {
	causes
	sightings
	refusals
	o       *Options
	due     map[way]time.Duration         // when something is to be reconciled again
	active  map[sim.ActorID]time.Duration // when a client has last written
	last    time.Duration                 // when somebody last changed something
	started map[string]reports.Evidence   // when a process has begun, by its name, which its client has
	at      time.Duration                 // of the first restart
	since   uint64                        // its step
	over    bool                          // somebody has written since then
	client  sim.ActorID                   // who has
	found   *reports.Violation
	said    *said // what was found may be
}

func (s *restarted) record(w property.World, r *sim.Record) *reports.Violation {
	times := s.o.Restarted()
	if plural := s.plural(r); plural != "" && times == 0 {
		s.sees(r, plural)
	}
	s.gazette.record(w, r, s.o.Restarts)
	s.refusals.record(w, r)
	if times == 1 && s.at == 0 {
		s.at, s.since = r.At, r.Step
	}
	switch r.Kind {
	case fakeapiserver.KindCommit:
		x := s.o.writeOf(w)
		if Bookkeeping(r.Key) || x.rewrites(r) || times > 0 && x.role == Controller && notesTimes(r) {
			return nil
		}
		s.said.committed(r)
		switch {
		case times == 0:
			s.active[x.client], s.last = r.At, r.At
			s.loses(r, &x)
		case times == 1 && !s.over:
			s.over, s.found = true, s.judge(r, &x)
		case times == 2 && x.role == Controller: // it may be another replica that is the leader
			s.found = nil
		}
		s.committed(r, &x)
	case s.o.Reconciles.Begin:
		delete(s.due, wayOf(w, r))
	case s.o.Reconciles.End:
		if r.N >= 0 {
			s.due[wayOf(w, r)] = r.At + time.Duration(r.N)
		}
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok && times == 0 {
			s.forget(client)
		}
		if times > 0 {
			name := strings.TrimPrefix(w.Kernel().ActorName(r.Actor), "process/") // its client is not known before its first request
			s.started[name] = reports.Because(r, "%s is %s, since the run restarts all controllers when nothing more happens", name, r.Detail)
		}
	}
	return nil
}

// notesTimes reports whether a write changes nothing but times. Who does that whenever it starts may have forgotten something all the same.
func notesTimes(r *sim.Record) bool {
	return r.Detail == "MODIFIED" && deleted(r.Obj) == deleted(r.Old) && !slices.ContainsFunc(changes(r.Old, r.Obj), func(c change) bool { return !isTime(c.value) })
}

func (s *restarted) judge(r *sim.Record, x *write) *reports.Violation {
	calm, _ := s.o.Calm()
	started, is := s.started[x.name]
	what := does(r)
	if x.role != Controller || x.request == nil || !is || x.request.At < started.At || x.request.At > started.At+atStart || s.active[x.client] > calm+settled || s.last > s.at-settled || what == "" ||
		s.follows[followed{x.client, pluralOf(r.Key)}] && s.unseen(r, x) || s.o.excepted(NameRestart, x.name, r.Key) {
		return nil
	}
	tells, said := s.tells(r, x, s.since)
	if tells {
		return nil
	}
	s.said = said
	for _, due := range s.due { // order: one is enough
		if due >= s.at-prompt && due <= r.At {
			return nil // it had asked to be called about now
		}
	}
	why := "A filter of events, something that it remembers, or a goroutine that waits for ever had kept it from that"
	if reorders(r) {
		why = ofOrder
	}
	v := &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf(
		"%s %s only once it is restarted: nobody had changed anything for %v, and a further restart has it write nothing. %s",
		x.name, what, span(s.at-max(calm, s.last)), why)}
	v.Because = s.because(r, x, 0)
	if said != nil {
		v.Because = append(v.Because, said.failed)
	}
	v.Because = append(v.Because, started, x.sends(),
		reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV))
	return v
}

func (s *restarted) end(property.World) *reports.Violation {
	if s.o.Restarted() < 2 || s.said.takenBack() {
		return nil
	}
	return s.found
}
