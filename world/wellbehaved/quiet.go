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

const nameQuiet = "QuietAfterConvergence"

// Writes after convergence. One may be a retry that a backoff has put off for long, and two its status; creates of drawn names are as many as a
// late retry has children to make.
const (
	loudChanges = 3
	loudCreates = 10
)

// quietAfterConvergence checks that a controller has nothing left to write when all is done. Requests that change nothing are no writes.
func quietAfterConvergence(o *Options) property.Property {
	return property.Property{
		Name:      nameQuiet,
		Statement: "when nothing has changed from outside for long, no controller goes on changing the same field",
		Kinds:     []sim.Kind{fakeapiserver.KindCommit},
		New: func() property.Checker {
			made := map[string][]reports.Evidence{}  // by writer, object and field
			garbage := map[string]reports.Evidence{} // the last time that the garbage collector has deleted an object
			return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
				since, ok := o.Observed()
				if !ok || o.Probing() || Bookkeeping(r.Key) {
					return nil
				}
				x := o.writeOf(w)
				if o.Collects(x.client) { // it does nothing of its own accord: it answers to who makes what has no owner
					garbage[strings.Clone(r.Key)] = reports.Because(r, "the garbage collector has %s %s, which names no owner that is there (RV %d)", strings.ToLower(r.Detail), r.Key, r.RV)
					return nil
				}
				if x.role != Controller || o.excepted(nameQuiet, x.name, r.Key) {
					clear(made) // whoever writes now may be the reason for what others write
					return nil
				}
				what, verb, limit := r.Key, "changes", loudChanges
				all := []change{{field: "the object", value: strings.ToLower(r.Detail)}}
				switch r.Detail {
				case "MODIFIED":
					all = changes(r.Old, r.Obj)
				case "ADDED":
					verb = "creates"
					if m := meta(r.Obj); m != nil && m.GetGenerateName() != "" {
						what, limit = strings.TrimSuffix(r.Key, m.GetName())+m.GetGenerateName()+"…", loudCreates
					}
				case "DELETED":
					return nil // there is no end of deletions without creates
				}
				for _, c := range all {
					id := strings.Join([]string{x.who(), what, c.field, verb}, "\x00")
					made[id] = append(made[id], reports.Because(r, "%s %s %s of %s: %s (RV %d)", x.who(), verb, c.field, r.Key, shown(c.value), r.RV))
					if es := made[id]; len(es) >= limit {
						return loud(&x, verb, c, what, since, es, garbage[r.Key])
					}
				}
				return nil
			}}
		},
	}
}

func loud(x *write, verb string, c change, what string, since time.Duration, made []reports.Evidence, garbage reports.Evidence) *reports.Violation {
	hint, times := "", len(made)
	if garbage.Text != "" {
		made = slices.Insert(slices.Clone(made), len(made)-1, garbage)
		hint = ". The garbage collector takes it away each time: of the owners that its owner references name none is there. One in a namespace has to be in the object's own, and its uid has to be right"
	}
	if _, err := time.Parse(time.RFC3339Nano, strings.Trim(c.value, `"`)); err == nil {
		hint = fmt.Sprintf(". One that is to say that it is alive, or holds a lock, in an object of its own is excepted: simtest.Exception{Property: %q, Object: %q, Why: …}", nameQuiet, what)
	}
	return &reports.Violation{Key: strings.Clone(what), Because: made, Message: fmt.Sprintf(
		"%s %s %s of %s for the %s time since %v, and nobody else has changed anything: it does not come to rest%s", x.who(), verb, c.field, what, ordinal(times), span(since), hint)}
}

func ordinal(n int) string {
	if n == 3 {
		return "3rd"
	}
	return fmt.Sprintf("%dth", n)
}
