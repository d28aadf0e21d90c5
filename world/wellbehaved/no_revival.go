package wellbehaved

import (
	"encoding/json"
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

// NameRevival is the name of the property for which what an apply or a create has brought back is deleted once more.
const NameRevival = "NoRevival"

// noRevival checks that nothing that is to change an object brings back what somebody else has deleted. An apply makes what is not there: one that is to note something in an object makes another one of its name, if the object
// has gone before it arrives. So does a create of what a cache no longer has, as that of controllerutil.CreateOrUpdate: one that a reconcile of that very object sends has not been asked for by any other. Whoever wants the object to be there
// makes it again when it is deleted once more, or in its next life.
func noRevival(o *Options) property.Property {
	return property.Property{
		Name:      NameRevival,
		Statement: "no apply or create brings back, unseen, an object that somebody else has deleted",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, fakeapiserver.KindCommit, o.Reconciles.Sends, o.Restarts},
		New: func() property.Checker {
			s := &revivals{gazette: newGazette(), o: o, theirs: map[string]*theirs{}, unaware: map[sentBy]bool{}, senders: senders{}, revived: map[string]*revival{}}
			return property.Checker{Record: s.record, End: s.end}
		},
	}
}

// revivals follows the objects that others than controllers have made and deleted.
type revivals struct {
	gazette
	o       *Options
	theirs  map[string]*theirs // by key
	unaware map[sentBy]bool    // the patches in flight of what their sender had not been told to be gone
	senders senders
	revived map[string]*revival
}

// theirs is an object that somebody else than a controller has made.
type theirs struct {
	made reports.Evidence
	gone *reports.Evidence // it is, since somebody else has deleted it
}

// revival is an object that was brought back.
type revival struct {
	key, by string
	created bool // by a create, not by an apply
	uid     kinds.UID
	client  sim.ActorID
	because []reports.Evidence
	asked   bool   // the run has asked for its deletion, which finalizers put off
	deleted uint64 // the step in which the run has deleted it, 0 if it has not
	lives   int    // that its maker has begun since
}

func (s *revivals) record(w property.World, r *sim.Record) *reports.Violation {
	s.gazette.record(w, r, s.o.Restarts)
	s.senders.follow(w, r, s.o.Reconciles)
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if strings.HasPrefix(r.Detail, "patch ") {
			n := s.gazette.of[objectOf(r)]
			if n == nil {
				return nil
			}
			_, told := n.told[r.Actor]
			s.unaware[at] = !n.gone || !told
		}
	case fakeapiserver.KindResponse:
		delete(s.unaware, at)
	case fakeapiserver.KindCommit:
		s.committed(r, s.o.writeOf(w))
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok {
			for _, x := range s.revived { // order: each by itself
				if x.client == client && x.deleted > 0 {
					x.lives++
				}
			}
		}
	}
	return nil
}

func (s *revivals) committed(r *sim.Record, x write) {
	m := meta(r.Obj)
	if m == nil || Bookkeeping(r.Key) {
		return
	}
	t, back := s.theirs[r.Key], s.revived[r.Key]
	switch {
	case r.Detail == "MODIFIED":
		if t != nil && x.role == Controller && deleted(r.Obj) && !deleted(r.Old) {
			s.drop(r.Key) // its own doing
		}
		if back != nil && back.uid == m.GetUID() && x.role == Outside && s.o.Probing() && deleted(r.Obj) {
			back.asked = true
		}
	case r.Detail == "DELETED" && back != nil:
		if back.uid == m.GetUID() && (x.role == Outside || back.asked) && s.o.Probing() {
			back.deleted = r.Step
			back.because = append(back.because, reports.Because(r, "the run deletes it once more (RV %d), and nobody makes it again", r.RV))
		} else if !s.o.Probing() {
			delete(s.revived, r.Key)
		}
	case r.Detail == "DELETED":
		if t != nil && x.role == Controller && m.GetDeletionTimestamp() == nil {
			s.drop(r.Key)
		} else if t != nil {
			e := reports.Because(r, "%s is gone (RV %d)", r.Key, r.RV)
			t.gone = &e
			s.put(r)
		}
	case x.role == Controller:
		if created, is := s.brings(r.Key, &x); is && t != nil && t.gone != nil && !s.o.excepted(NameRevival, x.name, r.Key) {
			sender := x.name
			if !created {
				sender += ", which has not been told so,"
			}
			s.revived[strings.Clone(r.Key)] = &revival{key: strings.Clone(r.Key), by: x.name, created: created, uid: m.GetUID(), client: x.client, because: []reports.Evidence{
				t.made, *t.gone, {Step: x.request.Step, At: x.request.At, Text: fmt.Sprintf("%s sends %s %s: %s", sender, x.request.Method, x.request.Path, shown(x.request.Body))},
				reports.Because(r, "which makes %s, uid %s (RV %d)", r.Key, m.GetUID(), r.RV),
			}}
			s.o.Revives(m.GetUID())
		} else {
			delete(s.revived, r.Key)
		}
		s.drop(r.Key)
	default:
		delete(s.revived, r.Key)
		s.theirs[strings.Clone(r.Key)] = &theirs{made: reports.Because(r, "%s makes %s, uid %s (RV %d)", whoMakes(&x), r.Key, m.GetUID(), r.RV)}
		s.put(r)
	}
}

// brings reports whether a request that makes an object may be meant for the one before, and whether it is a create.
func (s *revivals) brings(key string, x *write) (created, is bool) {
	at := sentBy{x.client, x.number}
	if x.request == nil {
		return false, false
	}
	if x.request.Method == http.MethodPost {
		return true, s.senders[at].key == key
	}
	return false, s.unaware[at] && notes(x.request)
}

// drop follows an object no longer.
func (s *revivals) drop(key string) {
	delete(s.theirs, key)
	s.gazette.drop(key)
}

// notes reports whether an apply says nothing of what an object is to be: it has labels, annotations, finalizers or a status only, and neither the uid of the one that it is for nor an owner.
func notes(q *Request) bool {
	var body map[string]any
	if q.Method != http.MethodPatch || !strings.HasPrefix(q.ContentType, "application/apply-patch") || json.Unmarshal([]byte(q.Body), &body) != nil {
		return false
	}
	for name := range body { // order: whether there is one
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			return false
		}
	}
	m, _ := body["metadata"].(map[string]any)
	return m["uid"] == nil && m["ownerReferences"] == nil && m["resourceVersion"] == nil
}

func (s *revivals) end(w property.World) *reports.Violation {
	if len(s.revived) == 0 {
		return nil
	}
	there := map[string]bool{}
	for _, o := range inOrder(w) {
		there[o.key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(s.revived)) {
		if x := s.revived[key]; x.deleted > 0 && x.lives > 0 && !there[key] {
			how, instead := "its apply makes what is not there", "An apply that has the uid of the object that it is for (metadata.uid) is refused instead, and so is any other patch"
			if x.created {
				how, instead = "its reconcile of that creates it", "An update or a patch is refused instead, which says that there is nothing left to do; controllerutil.CreateOrUpdate and CreateOrPatch make what the cache no longer has"
			}
			return &reports.Violation{Key: key, Because: x.because, Message: fmt.Sprintf(
				"%s brings back %s, which somebody else has deleted: %s. It does not want one: deleted once more, it is not made again, not even in another life of %s. %s", x.by, key, how, x.by, instead)}
		}
	}
	return nil
}
