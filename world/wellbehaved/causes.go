package wellbehaved

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// outside is a change from outside.
type outside struct {
	key string
	reports.Evidence
}

// cached is the key of an object in a client's caches.
type cached struct {
	client sim.ActorID
	key    string
}

// causes follows what a controller's write may be the answer to.
type causes struct {
	gazette
	changed map[string]outside // the last change from outside, by "namespace/name"
	wrote   map[cached]uint64  // the step in which a client has sent its last write of an object
}

func newCauses() causes { return causes{newGazette(), map[string]outside{}, map[cached]uint64{}} }

// committed takes in a write.
func (s *causes) committed(r *sim.Record, x *write) {
	if x.role == Outside {
		key := strings.Clone(r.Key)
		s.put(r)
		s.changed[key[strings.Index(key, " ")+1:]] = outside{key, reports.Because(r, "%s commits %s of %s (RV %d)", x.name, r.Detail, key, r.RV)}
	}
	if x.request != nil {
		s.wrote[cached{x.client, strings.Clone(r.Key)}] = x.request.Step
	}
}

// because returns the change that a write most likely answers, and how its sender was told of that. It may have tried the write before, in vain: tried is the step, 0 for none.
func (s *causes) because(r *sim.Record, x *write, tried uint64) (all []reports.Evidence) {
	if c, is := s.cause(r, x, tried); is {
		all = append(all, c.Evidence)
		if e, is := s.heard(c.key, x.client); is {
			all = append(all, e)
		}
	}
	return all
}

// cause returns the last change from outside of what an object belongs to by its controlling owner, or of what has its name, itself included. A controller that was told of that, and has written the
// object since, has answered to it: then the last change of anything else that it was told of afterwards is more likely the one, first of all of what the object refers to. If
// it has tried the write since, it had its reason by then, if there is one.
func (s *causes) cause(r *sim.Record, x *write, tried uint64) (outside, bool) {
	object := r.Key[strings.Index(r.Key, " ")+1:]
	e, is := s.changed[object]
	if m := meta(r.Obj); m != nil {
		if ref := metav1.GetControllerOf(m); ref != nil {
			if of, has := s.changed[object[:strings.LastIndex(object, "/")+1]+ref.Name]; has && (!is || of.At > e.At) {
				e, is = of, true
			}
		}
	}
	why, wrote := "the last change of it from outside", s.wrote[cached{x.client, r.Key}]
	if told, has := s.heard(e.key, x.client); is && has && told.Step <= wrote { // what answers at once is sent in the step that tells
		since := "the last change from outside since " + x.name + " has last written it"
		later := s.later(r, x.client, max(wrote, e.Step), cmp.Or(tried, math.MaxUint64))
		if tried != 0 && later.key != "" {
			since += ", and before it tried to"
		} else if tried != 0 {
			later = s.later(r, x.client, max(wrote, e.Step), math.MaxUint64)
		}
		if later.key != "" {
			e, why = later, since
		}
	}
	e.Text = why + ": " + e.Text
	return e, is
}

// later returns the last change from outside after a step of which a client was told by another one, first of all of what an object refers to; one without a key if there is none.
func (s *causes) later(r *sim.Record, client sim.ActorID, after, by uint64) (later outside) {
	named, values := false, valuesOf(r)
	for _, c := range s.changed { // order: what the object names counts most, then the last one, and of those of one step the last key
		told, has := s.heard(c.key, client)
		names := values[c.key[strings.LastIndexAny(c.key, " /")+1:]]
		if has && told.Step <= by && c.Step > after && (names && !named || names == named && (c.Step > later.Step || c.Step == later.Step && c.key > later.key)) {
			later, named = c, names
		}
	}
	return later
}

// valuesOf returns what the fields of an object had as values before a change and have after it. What refers to another object has its name.
func valuesOf(r *sim.Record) map[string]bool {
	all := map[string]bool{}
	for _, obj := range []any{r.Old, r.Obj} {
		for _, f := range flat("", content(obj)) {
			all[strings.Trim(f.value, `"`)] = true
		}
	}
	return all
}

// heard returns how a client was told of the last change of an object from outside.
func (s *causes) heard(key string, client sim.ActorID) (e reports.Evidence, is bool) {
	if of := s.of[key]; of != nil {
		e, is = of.told[client]
	}
	return e, is
}

// does says what a write does, "" if that is nothing but to set times and numbers, which may differ whenever somebody looks.
func does(r *sim.Record) string {
	switch {
	case r.Detail == "ADDED":
		return "creates " + r.Key
	case r.Detail == "DELETED" || deleted(r.Obj) && !deleted(r.Old): // what has finalizers, or a grace period, is still there
		return "deletes " + r.Key
	}
	for _, c := range changes(r.Old, r.Obj) {
		if !moves(c.value) {
			return "changes " + c.field + " of " + r.Key + " to " + shown(c.value)
		}
	}
	return ""
}

// moves reports whether a value is one that each reconcile may change, whatever has happened: a time, or a number.
func moves(value string) bool {
	_, err := strconv.ParseFloat(strings.Trim(value, `"`), 64)
	return err == nil || isTime(value)
}

func isTime(value string) bool {
	_, err := time.Parse(time.RFC3339Nano, strings.Trim(value, `"`))
	return err == nil
}
