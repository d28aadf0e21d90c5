package wellbehaved

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// Of the times that the run deletes such an object, the first one is for its makers to have made all that they make of one that the run has made. The second one they see, and the third one they do not.
const (
	watchedEnd = 2
	listedEnd  = 3
)

// overdue is for how long a controller may leave undone what it otherwise does at once.
const overdue = 20 * time.Minute

type (
	// effect is what a controller did to another object when its watch told it that one had gone.
	effect struct {
		client   sim.ActorID
		by       string // its name
		id       sentAs
		gone     *life // the object that it has deleted
		key      string
		field    string // of the object that it has changed
		before   any    // the object
		is       string // the field's value afterwards
		evidence []reports.Evidence
	}
	// life is an object, or one of those with a name that begins like its own.
	life struct {
		plural, namespace, name, drawn string
		many                           int // before it was deleted
	}
	// lostEnd is an object that the run deletes and makes anew several times.
	lostEnd struct {
		*deed
		times   int
		remade  bool
		judged  bool
		effects []*effect
		sent    map[sentAs]bool // since the last deletion
	}
)

// ends follows what controllers do about the end of the objects that the run deletes while they are probed. It shares what is known of deletions.
type ends struct {
	d   *deletions
	of  map[string]*lostEnd // by key
	now []string            // keys, in the order of their first deletions
}

func newEnds(d *deletions) ends { return ends{d: d, of: map[string]*lostEnd{}} }

func (s *ends) record(w property.World, r *sim.Record) *reports.Violation {
	for _, key := range s.now { // before anything is made anew: what admits it may change other objects, as a quota's status
		if v := s.judge(w, key, r.At); v != nil {
			return v
		}
	}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if q := s.d.o.Sent(r.Actor, r.N); q != nil && s.d.o.Role(r.Actor) == Controller {
			id := sentAsOf(r.Actor, q)
			for _, x := range s.of { // order: each by itself
				x.sent[id] = true
			}
		}
	case fakeapiserver.KindFrame:
		if e := s.of[r.Key]; e != nil && r.Detail == "DELETED" && r.RV >= s.d.gazette.of[r.Key].rv {
			e.watched[r.Actor] = true
		}
	case fakeapiserver.KindCommit:
		s.committed(w, r, s.d.o.writeOf(w))
	case s.d.o.Restarts:
		if client, ok := clientOf(w, r); ok { // what it does now, it does since it begins
			for _, x := range s.of { // order: each by itself
				x.effects = slices.DeleteFunc(x.effects, func(e *effect) bool { return e.client == client })
			}
		}
	}
	return nil
}

func (s *ends) committed(w property.World, r *sim.Record, x write) {
	if x.role == Controller && x.request != nil {
		s.note(w, r, &x)
	}
	e := s.of[r.Key]
	switch {
	case x.role != Outside:
		if r.Detail == "ADDED" && e != nil { // it is a controller's
			delete(s.of, r.Key)
			s.now = slices.DeleteFunc(s.now, func(key string) bool { return key == r.Key })
		}
	case r.Detail == "DELETED":
		if e == nil {
			key := strings.Clone(r.Key)
			e = &lostEnd{}
			s.of[key], s.now = e, append(s.now, key)
		}
		e.deed = newDeed(r, "deletes")
		e.remade, e.sent = false, map[sentAs]bool{}
		if e.times++; e.times == listedEnd {
			e.effects = slices.DeleteFunc(e.effects, func(f *effect) bool { return !f.undone(w) })
		}
	case r.Detail == "ADDED" && e != nil:
		e.remade = true
	}
}

// note notes what a controller does when its watch has told it of an end.
func (s *ends) note(w property.World, r *sim.Record, x *write) {
	for _, key := range s.now {
		e := s.of[key]
		if e.times != watchedEnd || e.remade || key == r.Key || !e.watched[x.client] || x.request.At > e.At+reaction || Bookkeeping(r.Key) {
			continue
		}
		f := effect{client: x.client, by: x.name, id: sentAsOf(x.client, x.request), key: strings.Clone(r.Key), evidence: []reports.Evidence{e.Evidence}}
		sends := fmt.Sprintf("%s, whose watch has told of that, sends %s %s", x.name, x.request.Method, x.request.Path)
		f.evidence = append(f.evidence, reports.Evidence{Step: x.request.Step, At: x.request.At, Text: sends})
		switch {
		case r.Detail == "DELETED" || deleted(r.Obj) && !deleted(r.Old):
			f.gone = lifeOf(r)
			f.gone.many = f.gone.count(w) + 1 // the commit has been made
			e.effects = append(e.effects, &f)
		case r.Detail == "MODIFIED":
			for _, c := range changes(r.Old, r.Obj) {
				if !isTime(c.value) {
					one := f
					one.before, one.field, one.is = r.Old, c.field, c.value
					e.add(&one)
				}
			}
		}
	}
}

// add adds a change of a field. Of several of one field, the first one says what it was, and the last one what it is.
func (e *lostEnd) add(f *effect) {
	for _, g := range e.effects {
		if g.key == f.key && g.field == f.field {
			g.is = f.is
			return
		}
	}
	e.effects = append(e.effects, f)
}

func lifeOf(r *sim.Record) *life {
	m := meta(r.Obj)
	l := &life{plural: strings.Clone(pluralOf(r.Key)), namespace: m.GetNamespace(), name: m.GetName()}
	if g := m.GetGenerateName(); g != "" && strings.HasPrefix(l.name, g) {
		l.drawn = g
	}
	return l
}

// count returns how many objects there are that one stands for, and that nobody has deleted.
func (l *life) count(w property.World) (n int) {
	for _, o := range inOrder(w) {
		if pluralOf(o.key) == l.plural && o.obj.GetNamespace() == l.namespace && o.obj.GetDeletionTimestamp() == nil && l.is(o.obj) {
			n++
		}
	}
	return n
}

func (l *life) is(m metav1.Object) bool {
	return m.GetName() == l.name || l.drawn != "" && m.GetGenerateName() == l.drawn
}

// undone reports whether all is as it was before a controller did something.
func (f *effect) undone(w property.World) bool {
	if f.gone != nil {
		return f.gone.count(w) >= f.gone.many
	}
	for _, o := range inOrder(w) {
		if o.key == f.key {
			return !slices.ContainsFunc(changes(f.before, o.obj), func(c change) bool { return within(f.field, c.field) || within(c.field, f.field) })
		}
	}
	return false
}

// within reports whether a field is a part of another one, or that itself.
func within(field, other string) bool {
	rest, is := strings.CutPrefix(field, other)
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// end judges what is gone for good.
func (s *ends) end(w property.World) *reports.Violation {
	for _, key := range s.now {
		if v := s.judge(w, key, w.Kernel().Elapsed()); v != nil {
			return v
		}
	}
	return nil
}

// judge returns what a controller has not done about the unseen end of an object, of which a list has told it, long before.
func (s *ends) judge(w property.World, key string, now time.Duration) *reports.Violation {
	e := s.of[key]
	if e.times != listedEnd || e.remade || e.judged || now < e.At+overdue {
		return nil
	}
	e.judged = true
	for _, f := range e.effects {
		learned, is := s.d.gazette.of[key].told[f.client]
		if !is || e.watched[f.client] || e.sent[f.id] || !s.d.o.Runs(f.client) || !f.undone(w) || s.d.o.excepted(NameDeletion, f.by, f.key) {
			continue
		}
		does, leaves := "deletes "+f.key, f.key+" is still there"
		if f.gone == nil {
			does, leaves = fmt.Sprintf("changes %s of %s to %s", f.field, f.key, shown(f.is)), "that is as it was before"
		}
		return &reports.Violation{
			Key: f.key,
			Message: fmt.Sprintf(
				"%s %s at once when its watch tells that %s has been deleted, and not when a list does: %s later, %s. No watch of its was open when somebody deleted it"+ofTombstones,
				f.by, does, key, span(now-e.At), leaves),
			Because: append(slices.Clone(f.evidence), e.Evidence, learned),
		}
	}
	return nil
}
