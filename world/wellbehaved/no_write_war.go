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

const nameWar = "NoWriteWar"

// warTurns and warSpan say when two writers are at war: a field has gone to and fro that often within that time. Twice may be two views of
// the world that meet; three times each is a habit.
const (
	warTurns = 6
	warSpan  = 5 * time.Minute
)

// noWriteWar checks that no two controllers undo one another's writes. A turn counts only as an answer to the turn before: whatever the test
// itself changes in between, or a process that starts or ends, may be what both follow, and all counts begin anew. So do those of an object that
// the cluster's own controllers change.
func noWriteWar(o *Options) property.Property {
	return property.Property{
		Name:      nameWar,
		Statement: "no field goes to and fro between the values of two writers",
		Kinds:     []sim.Kind{fakeapiserver.KindCommit, o.Restarts},
		New: func() property.Checker {
			wars := map[string]map[string][]turn{} // by object and field
			return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
				if r.Kind != fakeapiserver.KindCommit {
					clear(wars)
					return nil
				}
				x := o.writeOf(w)
				switch {
				case x.role == Outside:
					clear(wars)
					return nil
				case x.role != Controller || r.Detail != "MODIFIED" || Bookkeeping(r.Key) || o.excepted(nameWar, x.name, r.Key):
					delete(wars, r.Key)
					return nil
				}
				fields := wars[r.Key]
				if fields == nil {
					fields = map[string][]turn{}
					wars[strings.Clone(r.Key)] = fields
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
			}}
		},
	}
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
