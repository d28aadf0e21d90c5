package wellbehaved

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameGeneration = "NoStaleGeneration"

// fewestBehind are the objects that say that an older generation was observed before that counts as a mistake, where none has ever said the current one.
const fewestBehind = 2

// awaited are the conditions for which tools wait, and which are judged anew with each generation. What others say may have happened once.
var awaited = []string{"Accepted", "Available", "Healthy", "Programmed", "Ready", "Reconciled", "ResolvedRefs", "Synced"}

// noStaleGeneration checks that a status says in the end that the current generation was observed (status.observedGeneration, or that of a condition), if the controller that writes it has said so of an object
// which was as this one is, and was said to be as this one is said to be. Whoever waits for a controller, as tools that deploy and kubectl wait do, waits for that. A controller may say so only of what it could carry out, or leave some objects alone: here it has no such reason.
func noStaleGeneration(o *Options) property.Property {
	return property.Property{
		Name:      nameGeneration,
		Statement: "a status says in the end that the current generation was observed, if it has done so when the object was alike",
		Kinds:     []sim.Kind{fakeapiserver.KindCommit},
		New: func() property.Checker {
			s := &generations{o: o, of: map[observedField]*observing{}, changed: map[kinds.UID]reports.Evidence{}, said: map[kinds.UID]map[string]reports.Evidence{}}
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// generations follows what statuses say of them.
type generations struct {
	o       *Options
	of      map[observedField]*observing
	changed map[kinds.UID]reports.Evidence            // the last change of metadata.generation
	said    map[kinds.UID]map[string]reports.Evidence // the last change of what a status says, by field
}

// observedField is a field with a generation, of a kind.
type observedField struct{ plural, field string }

// observing is what is known of a field.
type observing struct {
	writers []sim.ActorID
	last    string                      // the name of the one that has written last
	other   bool                        // others write it, too, or a write of the status makes another generation: nothing can be said of the field
	current bool                        // a status has said the current generation
	seen    map[string]reports.Evidence // by how the object was
}

func (s *generations) record(w property.World, r *sim.Record) *reports.Violation {
	m := meta(r.Obj)
	if m == nil || m.GetGeneration() == 0 || Bookkeeping(r.Key) {
		return nil
	}
	if r.Detail == "DELETED" {
		delete(s.changed, m.GetUID())
		delete(s.said, m.GetUID())
		return nil
	}
	old := meta(r.Old)
	another := old == nil || old.GetGeneration() != m.GetGeneration()
	before, now := observed(r.Old), observed(r.Obj)
	x := s.o.writeOf(w)
	if another {
		s.changed[m.GetUID()] = reports.Because(r, "%s makes it generation %d (RV %d)", whoMakes(&x), m.GetGeneration(), r.RV)
	}
	like := "" // filled in where it is needed
	for _, now := range now {
		if !slices.Contains(before, now) {
			s.wrote(r, m, &x, now, another)
		}
		k := s.of[observedField{pluralOf(r.Key), now.field}]
		if k == nil || k.other || x.role != Controller || now.generation != m.GetGeneration() || deleted(r.Obj) {
			continue
		}
		if like == "" {
			like = asIs(r.Obj, m)
		}
		if _, is := k.seen[like]; !is {
			k.seen[like] = reports.Because(r, "%s writes %s, which is generation %d, and leaves %s at that (RV %d)", x.name, r.Key, m.GetGeneration(), now.field, r.RV)
			if e := s.said[m.GetUID()][now.field]; e.Step == r.Step {
				k.seen[like] = e
			}
		}
	}
	return nil
}

// wrote notes that a field has changed.
func (s *generations) wrote(r *sim.Record, m metav1.Object, x *write, now observation, another bool) {
	k := s.observing(pluralOf(r.Key), now.field)
	k.other = k.other || x.role != Controller || another
	k.current = k.current || now.generation == m.GetGeneration()
	if k.last = x.name; !slices.Contains(k.writers, x.client) {
		k.writers = append(k.writers, x.client)
	}
	if s.said[m.GetUID()] == nil {
		s.said[m.GetUID()] = map[string]reports.Evidence{}
	}
	s.said[m.GetUID()][now.field] = reports.Because(r, "%s writes %s = %d of %s, which is generation %d (RV %d)", x.name, now.field, now.generation, r.Key, m.GetGeneration(), r.RV)
}

// observing returns what is known of a field of a kind.
func (s *generations) observing(plural, field string) *observing {
	k := s.of[observedField{plural, field}]
	if k == nil {
		k = &observing{seen: map[string]reports.Evidence{}}
		s.of[observedField{strings.Clone(plural), field}] = k
	}
	return k
}

// observation is what a field of a status says.
type observation struct {
	field      string
	generation int64
}

const inStatus = "status.observedGeneration"

// observed returns what the status of an object says of generations: first itself, 0 for nothing, and then its conditions, in their order.
func observed(obj any) []observation {
	all := []observation{{field: inStatus}}
	if meta(obj) == nil {
		return all
	}
	if u, is := obj.(*unstructured.Unstructured); is {
		status, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status") // what is something else says nothing
		fields, _ := status.(map[string]any)
		all[0].generation, _ = fields["observedGeneration"].(int64)
		conditions, _ := fields["conditions"].([]any)
		for _, c := range conditions {
			c, _ := c.(map[string]any)
			of, _ := c["type"].(string)
			if n, is := c["observedGeneration"].(int64); is {
				all = appendCondition(all, of, n)
			}
		}
		return all
	}
	status := reflect.Indirect(reflect.ValueOf(obj)).FieldByName("Status")
	if status.Kind() != reflect.Struct {
		return all
	}
	if n := reflect.Indirect(status.FieldByName("ObservedGeneration")); n.IsValid() && n.CanInt() {
		all[0].generation = n.Int()
	}
	conditions := status.FieldByName("Conditions")
	if conditions.Kind() != reflect.Slice || conditions.Type().Elem().Kind() != reflect.Struct {
		return all
	}
	for i := range conditions.Len() {
		c := conditions.Index(i)
		of, n := c.FieldByName("Type"), reflect.Indirect(c.FieldByName("ObservedGeneration"))
		if of.Kind() == reflect.String && n.IsValid() && n.CanInt() && n.Int() != 0 {
			all = appendCondition(all, of.String(), n.Int())
		}
	}
	return all
}

func appendCondition(all []observation, of string, generation int64) []observation {
	if !slices.Contains(awaited, of) {
		return all
	}
	return append(all, observation{"status.conditions[" + of + "].observedGeneration", generation})
}

// asIs returns how an object is, and how it is said to be: all but what the server says of it, numbers and times of its status, and words for people. Where its status has any words, one number is as good as another: if
// it were too large for the controller, they would say so.
func asIs(obj any, m metav1.Object) string {
	var is, said []string
	var numbers []int // of is
	leaves("", content(obj), func(field string, value any) {
		line := field + "=" + text(value)
		switch part(field) {
		case "metadata":
		case "status":
			if isWord(field, value) {
				said = append(said, line)
			}
		default:
			switch value.(type) {
			case int64, float64:
				if text(value) != "0" {
					numbers = append(numbers, len(is))
				}
			}
			is = append(is, line)
		}
	})
	if len(said) > 0 {
		for _, n := range numbers {
			is[n], _, _ = strings.Cut(is[n], "=")
		}
	}
	all := append(append(is, said...), text(m.GetLabels()), text(m.GetAnnotations()))
	return strings.ReplaceAll(strings.Join(all, "\n"), text(m.GetName()), `"its name"`)
}

// leaves calls f for each value that is neither a map nor a list, and for those that are empty, in the order of their paths.
func leaves(field string, value any, f func(field string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			leaves(strings.TrimPrefix(field+"."+name, "."), value[name], f)
		}
		if len(value) > 0 {
			return
		}
	case []any:
		for n := range value {
			leaves(fmt.Sprintf("%s[%d]", field, n), value[n], f)
		}
		if len(value) > 0 {
			return
		}
	}
	f(field, value)
}

// isWord reports whether a field of a status is a word, true or false: no number, time, or message.
func isWord(field string, value any) bool {
	word, is := value.(string)
	if !is {
		_, is := value.(bool)
		return is
	}
	_, err := time.Parse(time.RFC3339Nano, word)
	return err != nil && !strings.HasSuffix(field, ".message")
}

func (s *generations) end(w property.World) *reports.Violation {
	since, ok := s.o.Observed()
	if !ok || len(s.of) == 0 {
		return nil
	}
	behind := map[observedField][]stored{} // in the Store's order, where none has said the current generation
	for _, at := range inOrder(w) {
		changed, is := s.changed[at.obj.GetUID()]
		if !is || changed.At > since-settled || deleted(at.obj) {
			continue
		}
		like := ""
		for _, now := range observed(at.obj) {
			f := observedField{pluralOf(at.key), now.field}
			k := s.of[f]
			if now.generation >= at.obj.GetGeneration() || k == nil || k.other || !slices.ContainsFunc(k.writers, s.o.Runs) || s.o.excepted(nameGeneration, k.last, at.key) {
				continue
			}
			if like == "" {
				like = asIs(at.obj, at.obj)
			}
			if e, is := k.seen[like]; is {
				return s.violation(at, now, k.last, "Of the same object, or one like it, it has said its current generation", e)
			}
			if now.generation > 0 && !k.current {
				behind[f] = append(behind[f], at)
			}
		}
	}
	for _, f := range slices.SortedFunc(maps.Keys(behind), func(a, b observedField) int {
		return cmp.Or(cmp.Compare(a.plural, b.plural), cmp.Compare(a.field, b.field))
	}) {
		said := func(x stored) observation {
			all := observed(x.obj)
			return all[slices.IndexFunc(all, func(o observation) bool { return o.field == f.field })]
		}
		all := behind[f]
		by := func(x stored) int64 { return x.obj.GetGeneration() - said(x).generation }
		if len(all) >= fewestBehind && !slices.ContainsFunc(all, func(x stored) bool { return by(x) != by(all[0]) }) {
			return s.violation(all[0], said(all[0]), s.of[f].last, fmt.Sprintf("It has never said the current generation of any of the %s", f.plural))
		}
	}
	return nil
}

func (s *generations) violation(at stored, now observation, by, why string, like ...reports.Evidence) *reports.Violation {
	uid := at.obj.GetUID()
	v := &reports.Violation{Key: at.key, Message: fmt.Sprintf(
		"%s leaves %s of %s at %d, and its generation is %d: whoever waits until it has been observed waits for ever. %s",
		by, now.field, at.key, now.generation, at.obj.GetGeneration(), why)}
	if e, is := s.said[uid][now.field]; is {
		like = append(like, e)
	}
	v.Because = append(like, s.changed[uid])
	slices.SortStableFunc(v.Because, func(a, b reports.Evidence) int { return cmp.Compare(a.Step, b.Step) })
	v.Because = slices.Compact(v.Because)
	return v
}
