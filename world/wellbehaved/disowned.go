package wellbehaved

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// disowned follows what loses its owner because a request to delete that has not said what is to become of it. Of Jobs and ReplicationControllers an apiserver then takes nothing along, since it did so before
// there was a garbage collector, and warns of it; who wants that says so.
type disowned struct {
	o        *Options
	owners   map[kinds.UID]*unsaid    // those that were deleted so
	children map[kinds.UID]*ownerless // what has lost one, and is there
	judged   bool
	left     kinds.UID // of the first that was left when the controllers were watched; the run deletes what there is after that
	found    *reports.Violation
}

// unsaid is an object that a controller has deleted without a propagation policy, and whose children are to be orphaned.
type unsaid struct {
	key, by string
	sent    reports.Evidence
}

// ownerless is what has lost it.
type ownerless struct {
	key   string
	owner *unsaid
	lost  reports.Evidence
}

func newDisowned(o *Options) disowned {
	return disowned{o: o, owners: map[kinds.UID]*unsaid{}, children: map[kinds.UID]*ownerless{}}
}

func (s *disowned) committed(r *sim.Record, x *write) {
	s.judge()
	m, old := meta(r.Obj), meta(r.Old)
	if r.Detail == "DELETED" || len(m.GetOwnerReferences()) > 0 || m.GetDeletionTimestamp() != nil {
		delete(s.children, m.GetUID())
		if x.role != Outside && m.GetUID() == s.left {
			s.found = nil // it is not left for ever
		}
	}
	if old == nil || r.Detail != "MODIFIED" {
		return
	}
	orphans := func(m metav1.Object) bool {
		return slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents)
	}
	if x.role == Controller && x.request != nil && x.request.Method == http.MethodDelete && orphans(m) && !orphans(old) && !saysOrphan(x.request) && !s.o.excepted(NameOrphan, x.name, r.Key) {
		s.owners[m.GetUID()] = &unsaid{strings.Clone(r.Key), x.name, x.sends()}
		return
	}
	if !s.o.Collects(x.client) || len(m.GetOwnerReferences()) > 0 {
		return
	}
	for _, ref := range old.GetOwnerReferences() {
		if owner := s.owners[ref.UID]; owner != nil {
			s.children[m.GetUID()] = &ownerless{strings.Clone(r.Key), owner, reports.Because(r, "the garbage collector takes the owner reference out of %s, as it does when nothing is said (RV %d)", r.Key, r.RV)}
		}
	}
}

// saysOrphan reports whether a request to delete asks for what it gets, in whatever encoding.
func saysOrphan(q *Request) bool {
	_, query, _ := strings.Cut(q.Path, "?")
	for _, said := range []string{q.Body, query} {
		if strings.Contains(said, string(metav1.DeletePropagationOrphan)) || strings.Contains(said, "orphanDependents") {
			return true
		}
	}
	return strings.Contains(q.ContentType, "protobuf") && strings.Contains(q.Body, "\x18\x01") // orphanDependents, true
}

// judge looks for what is left when the controllers have had the time that they need.
func (s *disowned) judge() {
	since, ok := s.o.Observed()
	if s.judged || !ok {
		return
	}
	s.judged = true
	for _, uid := range slices.SortedFunc(maps.Keys(s.children), func(a, b kinds.UID) int { return cmp.Compare(s.children[a].lost.Step, s.children[b].lost.Step) }) {
		c := s.children[uid]
		if c.lost.At > since || s.o.excepted(NameOrphan, "", c.key) {
			continue
		}
		s.left, s.found = uid, &reports.Violation{Key: c.key, Message: fmt.Sprintf("%s is left without an owner: %s has deleted %s, which owned it, and has not said what is to become of its %s. Without a propagation policy "+
			"an apiserver takes nothing along of a Job or a ReplicationController, and warns of it: send PropagationPolicy Background (or Orphan, if it is to stay)", c.key, c.owner.by, c.owner.key, kindOf(c.key)),
			Because: []reports.Evidence{c.owner.sent, c.lost}}
		return
	}
}

// end returns what is left.
func (s *disowned) end() *reports.Violation {
	s.judge()
	return s.found
}

// kindOf names objects of a record's key in a sentence.
func kindOf(key string) string {
	p := pluralOf(key)
	return strings.ToUpper(p[:1]) + p[1:]
}
