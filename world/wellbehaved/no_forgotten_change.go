package wellbehaved

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameOverlooked is the name of the property for which informers list anew once more if it is in doubt.
const NameOverlooked = "NoForgottenChange"

const (
	// settled is by when a controller has to have done what there was to do when the faults stopped. One that writes later has a time of its own, or puts off a retry: it is not judged.
	settled = 2 * time.Minute
	// prompt is within what time of being told anew a controller writes if that is the reason, or of the answer to what it has written for the same reason.
	prompt = 2 * time.Second
)

// noForgottenChange checks that a controller has written what there is to write before the run has its informers list anew, which nobody does in a cluster. It judges the first write that anybody
// makes from then on, so that nobody else's can be its reason, and only if the controller had been told of everything that it watches: what its informers do not know is not its mistake.
func noForgottenChange(o *Options) property.Property {
	return property.Property{
		Name:      NameOverlooked,
		Statement: "what a change asks for is written before the run has the controller's informers list anew",
		Kinds:     append(o.Reconciles.kinds(), fakeapiserver.KindRequest, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, o.Restarts),
		New: func() property.Checker {
			s := &overlooked{
				o: o, underWay: newUnderWay[planned](o.Reconciles), due: map[way]time.Duration{}, causes: newCauses(),
				active: map[sim.ActorID]time.Duration{}, told: map[sim.ActorID]reports.Evidence{}, replied: map[sim.ActorID]time.Duration{}, refusals: newRefusals(),
				sightings: newSightings(), turns: turns{},
			}
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// planned is a reconcile that may come because the one before it has asked for it.
type planned struct {
	is bool
	of way
}

// overlooked follows what controllers are told, and when they write.
type overlooked struct {
	underWay[planned]
	causes
	sightings
	refusals
	turns  turns
	o      *Options
	due    map[way]time.Duration            // when something is to be reconciled again
	active map[sim.ActorID]time.Duration    // when a client has last written, or its process has begun
	told   map[sim.ActorID]reports.Evidence // the last that a client was told since its watches ended
	last   time.Duration                    // when somebody last changed something
	looked bool                             // they have come to an end
	since  uint64                           // in which step
	over   bool                             // somebody has written since then
	found  *reports.Violation
	said   *said // what was found may be
	doubt  *doubtful

	replied map[sim.ActorID]time.Duration // when a client had the answer to the last write that it may have sent because it was told anew
}

// doubtful is a count that a controller has changed only since its informers list anew: of what there is, if it stays as it is when they do so once more, and of how often it has looked, if not.
type doubtful struct {
	client     sim.ActorID
	key, field string
	violation  *reports.Violation
}

func (s *overlooked) end(property.World) *reports.Violation {
	if s.found == nil && s.doubt != nil && s.o.Confirmed() {
		return s.doubt.violation
	}
	if s.said.takenBack() {
		return nil
	}
	return s.found
}

func (s *overlooked) record(w property.World, r *sim.Record) *reports.Violation {
	if since, ok := s.o.Observed(); ok && !s.looked && r.At > since {
		s.looked, s.since = true, r.Step
	}
	s.follow(w, r)
	if plural := s.plural(r); plural != "" {
		s.tell(w, r, plural)
	}
	s.gazette.record(w, r, s.o.Restarts)
	s.refusals.record(w, r)
	switch r.Kind {
	case fakeapiserver.KindCommit:
		s.committed(w, r)
	case fakeapiserver.KindResponse:
		if q := s.o.Sent(r.Actor, r.N); q != nil && q.Method != http.MethodGet && s.promptly(r.Actor, q.At) {
			s.replied[r.Actor] = r.At
		}
	case s.o.Reconciles.Begin:
		at := wayOf(w, r)
		due, is := s.due[at]
		s.busy[r.Actor].of, s.busy[r.Actor].is = at, is && r.At >= due-prompt && r.At <= due+prompt
		delete(s.due, at)
	case s.o.Reconciles.End:
		by := s.ended(r)
		if at := wayOf(w, r); r.N >= 0 && (!s.looked || by != nil && by.is) { // else it goes on with what it was told anew
			s.due[at] = r.At + time.Duration(r.N)
		}
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			s.restarts(client, r.At)
		}
	}
	return nil
}

func (s *overlooked) restarts(client sim.ActorID, at time.Duration) {
	s.active[client] = at
	s.forget(client)
}

// tell notes that a client is told something of a resource.
func (s *overlooked) tell(w property.World, r *sim.Record, plural string) {
	s.sees(r, plural)
	if s.looked && !s.over && r.Detail != "BOOKMARK" { // of which no handler is told
		s.told[r.Actor] = reports.Because(r, "%s, whose watches the run has ended, is told of %s anew", clientName(w, r.Actor), plural)
	}
}

func (s *overlooked) committed(w property.World, r *sim.Record) {
	if Bookkeeping(r.Key) {
		return
	}
	x := s.o.writeOf(w)
	if x.rewrites(r) {
		return
	}
	if d := s.doubt; d != nil && d.client == x.client && d.key == r.Key && slices.ContainsFunc(changes(r.Old, r.Obj), func(c change) bool { return c.field == d.field }) {
		s.doubt = nil
	}
	s.said.committed(r)
	if s.looked && !s.over {
		s.over = true
		s.found = s.judge(w, r, &x)
	}
	if by := s.sent[sentBy{x.client, x.number}]; by != nil {
		s.turns.committed(r, by.of)
	}
	s.loses(r, &x)
	s.active[x.client], s.last = r.At, r.At
	s.causes.committed(r, &x)
}

// promptly reports whether a client may have sent something because it was told anew. Its writes take time, and it may send one after the other.
func (s *overlooked) promptly(client sim.ActorID, at time.Duration) bool {
	told, is := s.told[client]
	return is && at <= max(told.At, s.replied[client])+prompt
}

func (s *overlooked) judge(w property.World, r *sim.Record, x *write) *reports.Violation {
	observed, _ := s.o.Observed()
	calm, _ := s.o.Calm()
	told := s.told[x.client]
	if x.role != Controller || x.request == nil || s.o.Behind(x.client) || s.active[x.client] > calm+settled || s.last > observed-settled || x.request.At < observed || !s.promptly(x.client, x.request.At) ||
		s.unseen(r, x) || s.o.excepted(NameOverlooked, x.name, r.Key) {
		return nil
	}
	tells, said := s.tells(r, x, s.since)
	if tells {
		return nil
	}
	if by := s.sent[sentBy{x.client, x.number}]; by != nil && by.is {
		return nil
	}
	what, count := does(r), ""
	if what == "" && said == nil { // it may count failures
		what, count = counting(r)
	}
	if what == "" {
		return nil
	}
	s.said = said
	v := s.violation(r, x, what, told)
	if count != "" {
		s.doubt = &doubtful{x.client, v.Key, count, v}
		s.o.Doubts()
		return nil
	}
	return v
}

func (s *overlooked) violation(r *sim.Record, x *write, what string, told reports.Evidence) *reports.Violation {
	observed, _ := s.o.Observed()
	calm, _ := s.o.Calm()
	why := "It has overlooked a change, given up after a failure, or lost what it had put off; if it copies what is outside of the cluster, and looks at that seldom, except it"
	if reorders(r) {
		why = ofOrder
	}
	var turns []reports.Evidence
	if by := s.sent[sentBy{x.client, x.number}]; by != nil {
		if own, other := s.turns.taken(r, by.of); other != nil {
			why = fmt.Sprintf("The reconciles of %s and of %s write it in turns: each takes it for its own object's", by.of.key, other.by.key)
			turns = []reports.Evidence{own.told(r.Key), other.told(r.Key)}
		}
	}
	v := &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf(
		"%s %s only when its informers have listed anew, since the run has ended their watches: it had been told of everything, and nobody had changed anything for %v. %s",
		x.name, what, span(observed-max(calm, s.last)), why)}
	tried, is := s.lastOf(x.client, x.number)
	if v.Because = turns; turns == nil {
		v.Because = s.because(r, x, tried.sent)
	}
	if is {
		v.Because = append(v.Because, tried.Evidence)
	}
	if s.said != nil {
		v.Because = append(v.Because, s.said.failed)
	}
	v.Because = append(v.Because, told, x.sends(),
		reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV))
	return v
}

// noCounts are the last words of the names of fields whose numbers change with time, beside measures.
var noCounts = []string{"age", "at", "elapsed", "free", "left", "load", "rate", "ratio", "remaining", "since", "time", "timestamp", "uptime", "usage", "used"}

// counts reports whether a change is of a whole number that may count something, by its name.
func counts(c *change) bool {
	if _, err := strconv.ParseInt(strings.Trim(c.value, `"`), 10, 64); err != nil {
		return false
	}
	m := lastWord.FindStringSubmatch(c.field[strings.LastIndexByte(c.field, '.')+1:])
	return m != nil && !slices.Contains(measures, strings.ToLower(m[1])) && !slices.Contains(noCounts, strings.ToLower(m[1]))
}

// counting says what a write of nothing but times and numbers does, and of which field, if a number of it may count something; "" if none does.
func counting(r *sim.Record) (what, field string) {
	for _, c := range changes(r.Old, r.Obj) {
		if counts(&c) {
			return "changes " + c.field + " of " + r.Key + " to " + shown(c.value), c.field
		}
	}
	return "", ""
}
