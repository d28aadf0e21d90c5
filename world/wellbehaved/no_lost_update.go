package wellbehaved

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

const nameLost = "NoLostUpdate"

// noLostUpdate checks that no update takes back what others have written meanwhile. An update sends the whole object; with the resourceVersion that
// was read the server refuses one that is late, and without it everything in the object is as old as the cache that it is from. A field counts only if
// the controller has never written it: what it has set itself, or in an object that it has made, it may set again. A patch replaces lists in the same way.
func noLostUpdate(o *Options) property.Property {
	return property.Property{
		Name:      nameLost,
		Statement: "no update takes back, unseen, what others have changed in fields that are not the controller's",
		Kinds:     slices.Concat(following, []sim.Kind{fakeapiserver.KindCommit, fakeapiserver.KindResponse, o.Reconciles.Sends}),
		New: func() property.Checker {
			s := &updates{o: o, known: map[followed]int64{}, sent: map[sentBy]int64{}, plurals: map[sentBy]string{}, senders: senders{}, objects: map[string]*authors{}}
			return property.Checker{Record: s.record}
		},
	}
}

// updates follows who has written which field, and how far each client has been told.
type updates struct {
	o       *Options
	known   map[followed]int64
	sent    map[sentBy]int64  // what the client knew when it sent an update that is in flight
	plurals map[sentBy]string // by list in flight
	senders senders
	objects map[string]*authors
}

// authors are those who have written an object.
type authors struct {
	made   author
	fields map[string]*authored
	lists  map[string][]elementChange // by field
	rules  map[string][]author        // by list, who says what all of it is to be
	// versions are the last ones, oldest first.
	versions []version
}

// authored is the last change of a field.
type authored struct {
	moment
	rv            int64
	value, before string
	by, byBefore  author
	all           []author // who has ever changed it
}

func (s *updates) record(w property.World, r *sim.Record) *reports.Violation {
	at := sentBy{r.Actor, r.N}
	s.senders.follow(w, r, s.o.Reconciles)
	switch r.Kind {
	case fakeapiserver.KindRequest:
		switch verb, _, _ := strings.Cut(r.Detail, " "); verb {
		case "update", "patch":
			s.sent[at] = s.known[followed{r.Actor, r.Key}]
		case "list", "get":
			s.plurals[at] = strings.Clone(r.Key)
		}
	case fakeapiserver.KindResponse:
		delete(s.sent, at)
		delete(s.plurals, at)
	case fakeapiserver.KindPage:
		at = pageOf(r)
		s.told(r, s.plurals[at])
		delete(s.plurals, at)
	case fakeapiserver.KindFrame:
		s.told(r, pluralOf(r.Key))
	case fakeapiserver.KindCommit:
		return s.committed(w, r)
	}
	return nil
}

// told notes how far a client has been told of a resource. Of several watches, the one that is ahead counts.
func (s *updates) told(r *sim.Record, plural string) {
	if f := (followed{r.Actor, strings.Clone(plural)}); r.RV > s.known[f] {
		s.known[f] = r.RV
	}
}

func (s *updates) committed(w property.World, r *sim.Record) (lost *reports.Violation) {
	if Bookkeeping(r.Key) {
		return nil
	}
	x := s.o.writeOf(w)
	by := s.senders.author(&x)
	a := s.objects[r.Key]
	if a == nil || r.Detail != "MODIFIED" {
		a = &authors{made: by, fields: map[string]*authored{}, lists: map[string][]elementChange{}, rules: map[string][]author{}}
		a.keeps(r, &x)
		s.objects[strings.Clone(r.Key)] = a
		return nil
	}
	known, late := s.sent[sentBy{x.client, x.number}]
	late = late && x.role == Controller && !s.o.excepted(nameLost, x.name, r.Key)
	patched, late := late && replaces(&x, r.Old), late && unconditional(&x, r.Old)
	before := changes(r.Obj, r.Old)
	for n, c := range changes(r.Old, r.Obj) {
		f := a.fields[c.field]
		if f == nil {
			f = &authored{by: a.made}
			a.fields[c.field] = f
		}
		if lost == nil && late && f.rv > known && f.before == c.value && !f.byBefore.is(by) && !by.among(f.all) {
			lost = takenBack(r, &x, by, c, f, known)
		}
		*f = authored{momentOf(r), r.RV, c.value, before[n].value, by, f.by, append(f.all, by)}
	}
	for _, c := range listChanges(r.Old, r.Obj) {
		a.rule(by, &c, known)
		if lost == nil && (patched || late) {
			lost = a.lostElement(r, &x, by, &c, known)
		}
		a.note(r, by, &c)
	}
	if lost == nil && patched {
		lost = a.misplaced(r, &x, by, known)
	}
	a.keeps(r, &x)
	return lost
}

// unconditional reports whether a request replaces an object, whatever has become of it. One that has the live object's resourceVersion does not, in JSON or
// protobuf.
func unconditional(x *write, old any) bool {
	live := meta(old)
	return live != nil && x.request != nil && x.request.Method == "PUT" && !strings.Contains(x.request.Body, live.GetResourceVersion())
}

func takenBack(r *sim.Record, x *write, by author, c change, f *authored, known int64) *reports.Violation {
	me, other := by.beside(f.by), f.by.beside(by)
	return &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf("%s takes back what %s has written: %s of %s was %s, and is %s again. Its update has no resourceVersion, with which the server "+
		"would have refused it", me, other, c.field, r.Key, shown(f.value), shown(c.value)), Because: []reports.Evidence{
		{Step: f.step, At: f.at, Text: fmt.Sprintf("%s writes %s of %s: %s (RV %d)", other, c.field, r.Key, shown(f.value), f.rv)},
		{Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s, which %s, sends %s %s", me, knew(r.Key, known), x.request.Method, x.request.Path)},
		reports.Because(r, "%s is as it was before: %s is %s (RV %d)", r.Key, c.field, shown(c.value), r.RV),
	}}
}
