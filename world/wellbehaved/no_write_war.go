package wellbehaved

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameWar = "NoWriteWar"

// warTurns and warSpan say when two writers are at war: a field has gone to and fro that often within that time. Twice may be two views of
// the world that meet; three times each is a habit.
const (
	warTurns = 6
	warSpan  = 5 * time.Minute
)

// noWriteWar checks that no two controllers undo one another's writes. A turn counts only as an answer to the turn before: whatever the test
// itself changes in between, or a process that starts or ends, may be what both follow, and all counts begin anew. So do those of an object that
// the cluster's own controllers change, and of one that a controller changes which such a change has not reached: two that do the same work
// differ until both have heard of it.
func noWriteWar(o *Options) property.Property {
	return property.Property{
		Name:      nameWar,
		Statement: "no field goes to and fro between the values of two writers",
		Kinds:     slices.Concat(following, []sim.Kind{fakeapiserver.KindResponse, fakeapiserver.KindWatchClosed, fakeapiserver.KindCommit, o.Restarts}),
		New: func() property.Checker {
			s := &wars{gazette: newGazette(), o: o, turns: map[string]map[string][]turn{}, changed: map[string]time.Duration{}, watched: map[followed]string{}}
			return property.Checker{Record: s.record}
		},
	}
}

// wars follow whose turn it was.
type wars struct {
	gazette
	o       *Options
	turns   map[string]map[string][]turn // by object and field
	changed map[string]time.Duration     // when the test itself has changed an object, not long ago
	watched map[followed]string          // the namespace in which a process has watched all of a resource, "" for all
}

func (s *wars) record(w property.World, r *sim.Record) *reports.Violation {
	s.gazette.record(w, r, s.o.Restarts)
	switch r.Kind {
	case fakeapiserver.KindCommit:
		return s.committed(w, r)
	case fakeapiserver.KindRequest:
		if a, is := r.Obj.(*fakeapiserver.Asked); is && a.Watch && !a.Selects() {
			s.watched[followed{r.Actor, strings.Clone(r.Key)}] = strings.Clone(a.Namespace)
		}
	case s.o.Restarts:
		clear(s.turns)
		if client, ok := clientOf(w, r); ok {
			maps.DeleteFunc(s.watched, func(f followed, _ string) bool { return f.client == client })
		}
	}
	return nil
}

func (s *wars) committed(w property.World, r *sim.Record) *reports.Violation {
	x := s.o.writeOf(w)
	switch {
	case x.role == Outside:
		clear(s.turns)
		s.changed[s.put(r).key] = r.At
		return nil
	case x.role != Controller || r.Detail != "MODIFIED" || Bookkeeping(r.Key) || s.o.excepted(nameWar, x.name, r.Key) || s.behind(&x, r.At):
		delete(s.turns, r.Key)
		return nil
	}
	fields := s.turns[r.Key]
	if fields == nil {
		fields = map[string][]turn{}
		s.turns[strings.Clone(r.Key)] = fields
	}
	for _, c := range changes(r.Old, r.Obj) {
		turns := append(fields[c.field], turn{moment: momentOf(r), rv: r.RV, who: x.who(), value: c.value})
		if n := len(turns); n > 1 && turns[n-2].who == turns[n-1].who {
			turns = turns[n-1:]
		}
		turns = turns[max(0, len(turns)-warTurns):]
		if fields[c.field] = turns; atWar(turns) {
			return war(r.Key, c.field, turns)
		}
	}
	return nil
}

// behind reports whether a client has sent a write before its watch has told it of what the test had changed. It is not for ever: after as long as a war may take, the change is no reason any more.
func (s *wars) behind(x *write, at time.Duration) (is bool) {
	for key, changed := range s.changed { // order: one is enough, and each is forgotten by itself
		if at-changed > warSpan {
			delete(s.changed, key)
			s.drop(key)
			continue
		}
		plural, object, _ := strings.Cut(key, " ")
		namespace, watches := s.watched[followed{x.client, plural}]
		if !watches || namespace != "" && !strings.HasPrefix(object, namespace+"/") {
			continue
		}
		told, knows := s.of[key].told[x.client]
		is = is || !knows || x.request != nil && told.Step > x.request.Step
	}
	return is
}

// turn is a write of a field.
type turn struct {
	moment
	rv         int64
	who, value string
}

// atWar reports whether turns are those of two writers, each with one value.
func atWar(turns []turn) bool {
	if len(turns) < warTurns || turns[len(turns)-1].at-turns[0].at > warSpan || turns[0].value == turns[1].value {
		return false
	}
	for n := 2; n < len(turns); n++ {
		if a, b := &turns[n-2], &turns[n]; a.who != b.who || a.value != b.value {
			return false
		}
	}
	return true
}

func war(key, field string, turns []turn) *reports.Violation {
	a, b := &turns[0], &turns[1]
	v := &reports.Violation{Key: strings.Clone(key), Message: fmt.Sprintf("%s of %s goes to and fro: %s writes %s, %s writes %s, %d times within %v, and nothing else has changed that could be the reason",
		field, key, a.who, shown(a.value), b.who, shown(b.value), len(turns), span(turns[len(turns)-1].at-a.at))}
	for _, t := range turns {
		v.Because = append(v.Because, reports.Evidence{Step: t.step, At: t.at, Text: fmt.Sprintf("%s writes %s: %s (RV %d)", t.who, field, shown(t.value), t.rv)})
	}
	return v
}
