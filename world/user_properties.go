package world

import (
	"slices"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// properties returns the user's properties, which are judged in the test's process: each record that one of them looks at goes there with the step
// that caused it.
func (r *remote) properties() []property.Property {
	var kinds []sim.Kind
	for _, p := range r.w.o.properties {
		kinds = append(kinds, p.kinds...)
	}
	if len(kinds) == 0 {
		return nil
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	forward := func(w property.World, rec *sim.Record) *reports.Violation {
		if r.silent {
			return nil
		}
		k := w.Kernel()
		r.records.Byte(wire.DoRecord).Num(int64(k.Steps())).Duration(k.Elapsed()).Text(k.ActorName(rec.Actor)).Text(rec.Kind.String()).
			Text(rec.Key).Num(rec.RV).Num(rec.N).Text(rec.Detail)
		return nil
	}
	return []property.Property{{Name: "the test's own", Kinds: kinds, New: property.OnRecord(forward)}}
}

// endings has the user's properties judge what is left.
func (r *remote) endings() {
	if len(r.w.o.properties) > 0 && r.w.monitor.Violation() == nil {
		r.do(wire.DoEndings)
		r.rest()
	}
}
