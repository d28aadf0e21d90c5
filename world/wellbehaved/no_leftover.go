package wellbehaved

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameLeftover = "NoLeftover"

// habit is how often a controller has to have removed what it had made for an object that went, before leaving it counts as a mistake.
const habit = 2

// noLeftover checks that a controller which removes what it has made for an object, once that goes, does so each time. What was made for what is known by its name, as long as only one object can be
// meant. What has owner references is the garbage collector's.
func noLeftover(o *Options) property.Property {
	return property.Property{
		Name:      nameLeftover,
		Statement: "what a controller has made for an object, and removes when that goes, it removes each time",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, fakeapiserver.KindCommit, o.Restarts},
		New: func() property.Checker {
			s := &leftovers{
				gazette: newGazette(), o: o, entries: map[string]*principal{}, named: map[string][]*principal{}, children: map[kinds.UID]*madeFor{}, removed: map[relation]*removals{},
				deletes: map[sentBy]string{}, failed: map[string]reports.Evidence{},
			}
			o.Keeps(nameLeftover, s.keeps)
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// leftovers follows what controllers make for objects from outside.
type leftovers struct {
	gazette
	o        *Options
	entries  map[string]*principal   // by key
	named    map[string][]*principal // by name and by uid
	children map[kinds.UID]*madeFor
	removed  map[relation]*removals
	deletes  map[sentBy]string           // what is to be deleted, by request in flight
	failed   map[string]reports.Evidence // the last request to delete an object, if it failed
}

// principal is an object from outside, for which something may be made.
type principal struct {
	key  string
	obj  any // as it was last
	rv   int64
	made bool              // something is made for it
	gone *reports.Evidence // nil while it is there
}

// relation is how what is made is called: after the object's name or uid.
type relation struct{ owner, child, name string }

// madeFor is something that a controller has made for an object.
type madeFor struct {
	key    string
	of     *principal
	how    relation
	client sim.ActorID
	by     string
	made   reports.Evidence
}

// removals are those of one relation.
type removals struct {
	client sim.ActorID // the last one's
	last   reports.Evidence
	of     []map[string]string // the objects that had gone, with what was made for them, by their fields
}

func (s *leftovers) record(w property.World, r *sim.Record) *reports.Violation {
	s.gazette.record(w, r, s.o.Restarts)
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if strings.HasPrefix(r.Detail, "delete ") {
			s.deletes[at] = objectOf(r)
		}
	case fakeapiserver.KindResponse:
		if key, is := s.deletes[at]; is && !strings.HasPrefix(r.Detail, "2") && !strings.HasPrefix(r.Detail, "404") {
			s.failed[key] = reports.Because(r, "%s, which was to delete %s, is told: %s", clientName(w, r.Actor), key, r.Detail)
		}
		delete(s.deletes, at)
	case fakeapiserver.KindCommit:
		s.committed(w, r)
	}
	return nil
}

func (s *leftovers) committed(w property.World, r *sim.Record) {
	m := meta(r.Obj)
	if m == nil || Bookkeeping(r.Key) {
		return
	}
	x := s.o.writeOf(w)
	p := s.entries[r.Key]
	switch {
	case r.Detail == "DELETED":
		if p != nil {
			e := reports.Because(r, "%s is gone (RV %d)", p.key, r.RV)
			p.gone = &e
			s.put(r)
		}
		s.goes(r, &x, m.GetUID())
	case r.Detail == "MODIFIED":
		if p != nil {
			p.obj = r.Obj
		}
	case x.role == Controller:
		if p != nil {
			s.forget(p)
		}
		s.makes(r, &x)
	default:
		if p == nil {
			p = &principal{key: strings.Clone(r.Key)}
			s.entries[p.key] = p
		} else {
			s.forget(p)
			s.entries[p.key] = p
		}
		p.obj, p.gone = r.Obj, nil
		for _, name := range []string{m.GetName(), string(m.GetUID())} {
			name = strings.Clone(name)
			s.named[name] = append(s.named[name], p)
		}
	}
}

// forget forgets by which names an object is found.
func (s *leftovers) forget(p *principal) {
	delete(s.entries, p.key)
	s.gazette.drop(p.key)
	m := meta(p.obj)
	for _, name := range []string{m.GetName(), string(m.GetUID())} {
		s.named[name] = slices.DeleteFunc(s.named[name], func(q *principal) bool { return q == p })
	}
}

func (s *leftovers) makes(r *sim.Record, x *write) {
	m := meta(r.Obj)
	if x.request == nil || m.GetGenerateName() != "" || len(m.GetOwnerReferences()) > 0 || s.o.excepted(nameLeftover, x.name, r.Key) {
		return
	}
	of := s.meant(r.Key)
	if len(of) != 1 {
		return
	}
	for p, how := range of { // order: there is one
		s.children[m.GetUID()] = &madeFor{
			key: strings.Clone(r.Key), of: p, how: how, client: x.client, by: x.name, made: reports.Because(r, "%s makes %s for %s, as its name says (RV %d)", x.name, r.Key, p.key, r.RV),
		}
	}
}

// meant returns the objects that an object may have been made for, by its name: it is theirs, or has it, or a uid, between dashes, dots and its ends.
func (s *leftovers) meant(key string) map[*principal]relation {
	plural, object, _ := strings.Cut(key, " ")
	slash := strings.LastIndex(object, "/")
	namespace, name := object[:max(slash, 0)], object[slash+1:]
	starts := []int{0}
	for n := range name {
		if name[n] == '-' || name[n] == '.' {
			starts = append(starts, n+1)
		}
	}
	all := map[*principal]relation{}
	for i, from := range starts {
		for j := i; j < len(starts); j++ {
			to := len(name)
			if j+1 < len(starts) {
				to = starts[j+1] - 1
			}
			for _, p := range s.named[name[from:to]] {
				if p.key == key {
					continue
				}
				called, in := name[:from]+"*"+name[to:], namespace
				if m := meta(p.obj); m.GetNamespace() == namespace {
					in = "its namespace"
				} else if string(m.GetUID()) != name[from:to] {
					continue // in another namespace, a name may be another one's
				}
				all[p] = relation{pluralOf(p.key), plural, in + "/" + called}
			}
		}
	}
	return all
}

// goes notes that something is gone that was made for an object.
func (s *leftovers) goes(r *sim.Record, x *write, uid kinds.UID) {
	c := s.children[uid]
	if c == nil {
		return
	}
	delete(s.children, uid)
	if x.role != Controller || x.request == nil || x.request.Method != http.MethodDelete || c.of.gone == nil && meta(c.of.obj).GetDeletionTimestamp() == nil {
		return
	}
	all := s.removed[c.how]
	if all == nil {
		all = &removals{}
		s.removed[c.how] = all
	}
	all.client, all.last, all.of = x.client, reports.Because(r, "as elsewhere, %s deletes %s, since %s goes (RV %d)", x.name, c.key, c.of.key, r.RV), append(all.of, pairOf(c.of.obj, r.Obj))
}

func (s *leftovers) end(w property.World) *reports.Violation {
	for _, c := range s.left(w) {
		return s.violation(w, c, s.removed[c.how])
	}
	return nil
}

// keeps returns the keys of what is left, and of what that was made for.
func (s *leftovers) keeps(w property.World) (keys []string) {
	for _, c := range s.left(w) {
		keys = append(keys, c.key, c.of.key)
	}
	return keys
}

// left returns what was made for what is gone, and would have been removed elsewhere.
func (s *leftovers) left(w property.World) (left []*madeFor) {
	calm, _ := s.o.Calm()
	if _, ok := s.o.Observed(); !ok {
		return nil
	}
	live := all(w)
	for _, uid := range slices.SortedFunc(maps.Keys(s.children), func(a, b kinds.UID) int { return strings.Compare(s.children[a].key, s.children[b].key) }) {
		c := s.children[uid]
		is, there := live[uid]
		done := s.removed[c.how]
		if !there || is.obj.GetDeletionTimestamp() != nil || len(is.obj.GetOwnerReferences()) > 0 || c.of.gone == nil || c.of.gone.At > calm ||
			done == nil || len(done.of) < habit || !s.o.Runs(done.client) || unlike(pairOf(c.of.obj, is.obj), done.of) {
			continue
		}
		another := false
		for p := range s.meant(c.key) { // order: whether there is one
			another = another || p.gone == nil
		}
		if !another {
			left = append(left, c)
		}
	}
	return left
}

func (s *leftovers) violation(w property.World, c *madeFor, done *removals) *reports.Violation {
	v := &reports.Violation{Key: c.key, Because: []reports.Evidence{c.made, *c.of.gone}, Message: fmt.Sprintf(
		"%s is left: %s, for which %s had made it, has been gone for %v. Of others that went, %d times, it has removed what it had made", c.key, c.of.key, c.by,
		span(w.Kernel().Elapsed()-c.of.gone.At), len(done.of))}
	if n := s.gazette.of[c.of.key]; n != nil {
		if told, is := n.told[c.client]; is {
			v.Because = append(v.Because, told)
		}
	}
	if failed, is := s.failed[c.key]; is {
		v.Because = append(v.Because, failed)
		v.Message += "; here it was told that its request had failed"
	}
	v.Because = append(v.Because, done.last)
	slices.SortStableFunc(v.Because, func(a, b reports.Evidence) int { return int(int64(a.Step) - int64(b.Step)) })
	return v
}

// fieldsOf returns what somebody has said of an object, by field, with "*" for its name.
func fieldsOf(obj any) map[string]string {
	all, name := map[string]string{}, meta(obj).GetName()
	for _, f := range flat("", content(obj)) {
		if first, rest, _ := strings.Cut(f.field, "."); first != "status" && (first != "metadata" || strings.HasPrefix(rest, "labels.") || strings.HasPrefix(rest, "annotations.")) {
			all[f.field] = strings.ReplaceAll(f.value, name, "*")
		}
	}
	return all
}

// pairOf returns that of an object and of what was made for it.
func pairOf(of, child any) map[string]string {
	all := fieldsOf(of)
	for field, value := range fieldsOf(child) { // order: a map of them
		all["made: "+field] = value
	}
	return all
}

// unlike reports whether an object has another value in a field in which the others repeat theirs: it may say that what was made for it is to stay.
func unlike(of map[string]string, others []map[string]string) bool {
	names := maps.Clone(of)
	for _, o := range others {
		maps.Copy(names, o)
	}
	for name := range names { // order: whether there is one
		values := map[string]bool{}
		for _, o := range others {
			values[o[name]] = true
		}
		if !values[of[name]] && len(values) < len(others) {
			return true
		}
	}
	return false
}
