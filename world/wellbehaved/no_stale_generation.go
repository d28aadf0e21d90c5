package wellbehaved

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
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

// noStaleGeneration checks that a status says in the end that the current generation was observed (status.observedGeneration), if the controller that writes it has said so of an object
// which was as this one is, and was said to be as this one is said to be. Whoever waits for a controller, as tools that deploy do, waits for that. A controller may say so only of what it could carry out, or leave some objects alone: here it has no such reason.
func noStaleGeneration(o *Options) property.Property {
	return property.Property{
		Name:      nameGeneration,
		Statement: "a status says in the end that the current generation was observed, if it has done so when the object was alike",
		Kinds:     []sim.Kind{fakeapiserver.KindCommit},
		New: func() property.Checker {
			s := &generations{o: o, of: map[string]*observing{}, changed: map[kinds.UID]reports.Evidence{}, said: map[kinds.UID]reports.Evidence{}}
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// generations follows what statuses say of them.
type generations struct {
	o       *Options
	of      map[string]*observing          // by plural
	changed map[kinds.UID]reports.Evidence // the last change of metadata.generation
	said    map[kinds.UID]reports.Evidence // the last change of status.observedGeneration
}

// observing is what is known of a kind.
type observing struct {
	writers []sim.ActorID
	last    string                      // the name of the one that has written last
	other   bool                        // others write it, too, or a write of the status makes another generation: nothing can be said of the kind
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
	if !another && before == now {
		return nil
	}
	x := s.o.writeOf(w)
	if another {
		s.changed[m.GetUID()] = reports.Because(r, "%s makes it generation %d (RV %d)", whoMakes(&x), m.GetGeneration(), r.RV)
	}
	if before == now {
		return nil
	}
	plural := pluralOf(r.Key)
	k := s.of[plural]
	if k == nil {
		k = &observing{seen: map[string]reports.Evidence{}}
		s.of[strings.Clone(plural)] = k
	}
	if x.role != Controller || another {
		k.other = true
	}
	if k.last = x.name; !slices.Contains(k.writers, x.client) {
		k.writers = append(k.writers, x.client)
	}
	e := reports.Because(r, "%s writes status.observedGeneration = %d of %s, which is generation %d (RV %d)", x.name, now, r.Key, m.GetGeneration(), r.RV)
	s.said[m.GetUID()] = e
	if now == m.GetGeneration() {
		k.current = true
		if !deleted(r.Obj) {
			k.seen[asIs(r.Obj, m)] = e
		}
	}
	return nil
}

// observed returns what the status of an object says, 0 if that is nothing.
func observed(obj any) int64 {
	if meta(obj) == nil {
		return 0
	}
	if u, is := obj.(*unstructured.Unstructured); is {
		n, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration") // what is no number says nothing
		return n
	}
	status := reflect.Indirect(reflect.ValueOf(obj)).FieldByName("Status")
	if status.Kind() != reflect.Struct {
		return 0
	}
	if n := reflect.Indirect(status.FieldByName("ObservedGeneration")); n.IsValid() && n.CanInt() {
		return n.Int()
	}
	return 0
}

// asIs returns how an object is, and how it is said to be: all but what the server says of it, numbers and times of its status, and words for people. Where its status has any words, one number is as good as another: if
// it were too large for the controller, they would say so.
func asIs(obj any, m metav1.Object) string {
	var is, said []string
	var numbers []int // of is
	for _, c := range changes(nil, obj) {
		line := c.field + "=" + c.value
		switch part(c.field) {
		case "metadata":
		case "status":
			if isWord(&c) {
				said = append(said, line)
			}
		default:
			if n, err := strconv.ParseFloat(c.value, 64); err == nil && n != 0 {
				numbers = append(numbers, len(is))
			}
			is = append(is, line)
		}
	}
	if len(said) > 0 {
		for _, n := range numbers {
			is[n], _, _ = strings.Cut(is[n], "=")
		}
	}
	all := append(append(is, said...), text(m.GetLabels()), text(m.GetAnnotations()))
	return strings.ReplaceAll(strings.Join(all, "\n"), text(m.GetName()), `"its name"`)
}

// isWord reports whether a field of a status is a word, true or false: no number, time, or message.
func isWord(c *change) bool {
	var word string
	if json.Unmarshal([]byte(c.value), &word) != nil {
		return c.value == "true" || c.value == "false"
	}
	_, err := time.Parse(time.RFC3339Nano, word)
	return err != nil && !strings.HasSuffix(c.field, ".message")
}

func (s *generations) end(w property.World) *reports.Violation {
	since, ok := s.o.Observed()
	if !ok || len(s.of) == 0 {
		return nil
	}
	behind := map[string][]stored{} // in the Store's order, by plural, where none has said the current generation
	for _, at := range inOrder(w) {
		k := s.of[pluralOf(at.key)]
		changed, is := s.changed[at.obj.GetUID()]
		if k == nil || k.other || !is || changed.At > since-settled || deleted(at.obj) || !slices.ContainsFunc(k.writers, s.o.Runs) || s.o.excepted(nameGeneration, k.last, at.key) {
			continue
		}
		now := observed(at.obj)
		if now >= at.obj.GetGeneration() {
			continue
		}
		if like, is := k.seen[asIs(at.obj, at.obj)]; is {
			return s.violation(at, k.last, "Of the same object, or one like it, it has said its current generation", like)
		}
		if now > 0 && !k.current {
			plural := pluralOf(at.key)
			behind[plural] = append(behind[plural], at)
		}
	}
	for _, plural := range slices.Sorted(maps.Keys(behind)) {
		all := behind[plural]
		by := func(x stored) int64 { return x.obj.GetGeneration() - observed(x.obj) }
		if len(all) >= fewestBehind && !slices.ContainsFunc(all, func(x stored) bool { return by(x) != by(all[0]) }) {
			return s.violation(all[0], s.of[plural].last, fmt.Sprintf("It has never said the current generation of any of the %s", plural))
		}
	}
	return nil
}

func (s *generations) violation(at stored, by, why string, like ...reports.Evidence) *reports.Violation {
	uid := at.obj.GetUID()
	v := &reports.Violation{Key: at.key, Message: fmt.Sprintf(
		"%s leaves status.observedGeneration of %s at %d, and its generation is %d: whoever waits until it has been observed waits for ever. %s",
		by, at.key, observed(at.obj), at.obj.GetGeneration(), why)}
	if e, is := s.said[uid]; is {
		like = append(like, e)
	}
	v.Because = append(like, s.changed[uid])
	slices.SortStableFunc(v.Because, func(a, b reports.Evidence) int { return cmp.Compare(a.Step, b.Step) })
	v.Because = slices.Compact(v.Because)
	return v
}
