package wellbehaved

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// turns follows what the reconciles of several objects write of one: two that each want it for themselves overwrite each other whenever they are called.
type turns map[string]map[string][]wrote // by object and field, the last write of each way

// wrote is what a reconcile has written of a field.
type wrote struct {
	moment
	by           way
	field, value string
	rv           int64
}

// told is the evidence of that, for an object.
func (x *wrote) told(key string) reports.Evidence {
	return reports.Evidence{Step: x.step, At: x.at, Text: fmt.Sprintf("the reconcile of %s writes %s of %s: %s (RV %d)", x.by.key, x.field, key, shown(x.value), x.rv)}
}

// committed notes what a reconcile has written.
func (t turns) committed(r *sim.Record, by way) {
	if by.key == "" {
		return
	}
	fields := t[r.Key]
	if r.Detail != "MODIFIED" || fields == nil {
		fields = map[string][]wrote{}
		t[strings.Clone(r.Key)] = fields
	}
	for _, c := range changes(r.Old, r.Obj) {
		others := slices.DeleteFunc(fields[c.field], func(x wrote) bool { return x.by == by })
		fields[c.field] = append(others, wrote{momentOf(r), by, c.field, c.value, r.RV})
	}
}

// taken returns the write that a reconcile repeats, and that of another object which has come in between; nil if there is none.
func (t turns) taken(r *sim.Record, by way) (own, other *wrote) {
	if by.key == "" {
		return nil, nil
	}
	for _, c := range changes(r.Old, r.Obj) {
		own, other = nil, nil
		for n := range t[r.Key][c.field] { // in the order of their steps
			switch w := &t[r.Key][c.field][n]; {
			case w.by == by && w.value == c.value:
				own = w
			case own != nil && w.by.controller == by.controller && w.value != c.value:
				other = w
			}
		}
		if other != nil {
			return own, other
		}
	}
	return nil, nil
}
