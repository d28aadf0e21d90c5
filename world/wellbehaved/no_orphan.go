package wellbehaved

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameOrphan is the name of the property for which it is seen how children are made again that the run deletes.
const NameOrphan = "NoOrphan"

// knewFor is how long a controller has known that an owner is gone when a child that it then makes is an orphan, and no reconcile that was
// under way: one that has waited for answers, or for a cache, ever since does not count, however long that was.
const knewFor = time.Minute

// noOrphan checks that no object has an owner that is gone. Children of an owner that is deleted are the garbage collector's: without one they
// are nobody's mistake, and only a child that is made for an owner whose end its maker has known for long is an orphan. Where one runs, so is what it has left.
func noOrphan(o *Options) property.Property {
	return property.Property{
		Name:      NameOrphan,
		Statement: "no controller makes a child for an owner that it knows to be gone, none is left behind, and one that is made again has the owner that it had",
		Kinds:     append(o.Reconciles.kinds(), fakeapiserver.KindRequest, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, o.Restarts),
		New: func() property.Checker {
			s := &orphans{
				busyness: newBusyness(), underWay: newUnderWay[begun](o.Reconciles), o: o, departed: map[kinds.UID]*departed{}, watches: map[sentBy]string{},
				first: map[followed]bool{}, cached: map[sim.ActorID]time.Duration{}, remade: newRemade(), disowned: newDisowned(o),
			}
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// orphans follows which owners are gone, and who has been told.
type orphans struct {
	busyness
	underWay[begun]
	o        *Options
	departed map[kinds.UID]*departed
	watches  map[sentBy]string             // the plurals of those that are open, or asked for
	first    map[followed]bool             // of what a client has been told
	cached   map[sim.ActorID]time.Duration // when it was first told of the last of these
	remade   remade
	disowned disowned
}

// begun is when a reconcile began.
type begun struct{ at time.Duration }

// departed is an object that is gone.
type departed struct {
	key  string
	when reports.Evidence
	told map[sim.ActorID]reports.Evidence
}

func (s *orphans) record(w property.World, r *sim.Record) *reports.Violation {
	s.follow(w, r)
	if r.Kind == fakeapiserver.KindPage {
		s.tell(r, s.asked[pageOf(r)])
	}
	defer s.busyness.record(w, r, s.o.Restarts)
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case s.o.Reconciles.Begin:
		s.busy[r.Actor].at = r.At
	case s.o.Reconciles.End:
		s.ended(r)
	case fakeapiserver.KindRequest:
		if strings.HasPrefix(r.Detail, "watch") {
			s.watches[at] = strings.Clone(r.Key)
		}
	case fakeapiserver.KindResponse:
		if !strings.HasPrefix(r.Detail, "2") && r.Detail != "ok" {
			delete(s.watches, at)
		}
	case fakeapiserver.KindWatchClosed:
		delete(s.watches, at)
	case fakeapiserver.KindFrame:
		s.tell(r, s.watches[at])
		if m := meta(r.Obj); m != nil && r.Detail == "DELETED" {
			if d := s.departed[m.GetUID()]; d != nil {
				d.told[r.Actor] = reports.Because(r, "%s is told that it is gone", clientName(w, r.Actor))
			}
		}
	case fakeapiserver.KindCommit:
		return s.committed(w, r)
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok { // it has forgotten, and its watches are gone
			for _, d := range s.departed { // order: each by itself
				delete(d.told, client)
			}
			for q := range s.watches { // order: each by itself
				if q.client == client {
					delete(s.watches, q)
				}
			}
			for f := range s.first { // order: each by itself
				if f.client == client {
					delete(s.first, f)
				}
			}
		}
	}
	return nil
}

// tell notes that a client is told of a resource for the first time: somebody may have waited for that.
func (s *orphans) tell(r *sim.Record, plural string) {
	if f := (followed{r.Actor, strings.Clone(plural)}); plural != "" && !s.first[f] {
		s.first[f], s.cached[r.Actor] = true, r.At
	}
}

// knows returns for how long whoever sends a request had known what its client was told when it began, 0 if it may have waited since before that.
func (s *orphans) knows(x *write, told time.Duration) time.Duration {
	from := max(told, s.cached[x.client])
	if by := s.sent[sentBy{x.client, x.number}]; by != nil {
		return by.at - from
	}
	if !s.idled(x.client, told, x.request.At) {
		return 0
	}
	return x.request.At - from
}

func (s *orphans) committed(w property.World, r *sim.Record) *reports.Violation {
	m := meta(r.Obj)
	if m == nil {
		return nil
	}
	x := s.o.writeOf(w)
	if v := s.remade.committed(s.o, r, &x); v != nil {
		return v
	}
	s.disowned.committed(r, &x)
	if r.Detail == "DELETED" {
		key := strings.Clone(r.Key)
		s.departed[m.GetUID()] = &departed{key, reports.Because(r, "%s is gone (uid %s, RV %d)", key, m.GetUID(), r.RV), map[sim.ActorID]reports.Evidence{}}
		return nil
	}
	ref := metav1.GetControllerOf(m)
	if ref == nil {
		return nil
	}
	if old := meta(r.Old); old != nil && r.Detail != "ADDED" {
		if before := metav1.GetControllerOf(old); before != nil && before.UID == ref.UID {
			return nil // it had this owner before
		}
	}
	d := s.departed[ref.UID]
	if d == nil || x.role != Controller || x.request == nil || s.o.Probing() || s.o.excepted(NameOrphan, x.name, r.Key) {
		return nil
	}
	told, is := d.told[x.client]
	if !is || s.knows(&x, told.At) < knewFor || s.following(x.client, pluralOf(d.key)) != 1 {
		return nil
	}
	return &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf("%s makes %s for an owner that is gone: %s, as it has known for %v", x.name, r.Key, d.key, span(x.request.At-told.At)),
		Because: []reports.Evidence{d.when, told, x.sends(),
			reports.Because(r, "%s is %s (RV %d), and its controlling owner is uid %s", r.Key, r.Detail, r.RV, ref.UID)}}
}

// following returns how many watches of a resource a client has: of two, one may lag.
func (s *orphans) following(client sim.ActorID, plural string) int {
	n := 0
	for q, p := range s.watches { // order: a count
		if q.client == client && p == plural {
			n++
		}
	}
	return n
}

func (s *orphans) end(w property.World) *reports.Violation {
	since, ok := s.o.Observed()
	if !ok {
		return nil
	}
	if v := s.remade.end(w.Kernel().Elapsed()); v != nil || !s.o.Collected {
		return v
	}
	if v := s.disowned.end(); v != nil {
		return v
	}
	live := all(w)
	for _, c := range inOrder(w) {
		ref := metav1.GetControllerOf(c.obj)
		if ref == nil || c.obj.GetDeletionTimestamp() != nil || s.o.excepted(NameOrphan, "", c.key) {
			continue
		}
		d, owned := s.departed[ref.UID], false
		for _, other := range c.obj.GetOwnerReferences() {
			_, is := live[other.UID]
			owned = owned || is
		}
		if d == nil || owned || d.when.At > since {
			continue
		}
		return &reports.Violation{Key: c.key, Message: fmt.Sprintf("%s is left: its controlling owner %s has been gone for %v, and the garbage collector has not removed it",
			c.key, d.key, span(w.Kernel().Elapsed()-d.when.At)), Because: []reports.Evidence{d.when}}
	}
	return nil
}
