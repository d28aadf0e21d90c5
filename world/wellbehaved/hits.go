package wellbehaved

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// hit is an object that a deletion has hit which was meant for the one before, as it seems: of that nothing had changed, and the next one is another in what somebody says of it.
type hit struct {
	v      *reports.Violation
	client sim.ActorID
	by     string
	uid    kinds.UID // of the one that the run has made as this one was; "" before
	lives  int       // that its client has begun since
}

// suspect notes a hit that only the run can judge: whether the client lets the next one be.
func (s *blind) suspect(r *sim.Record, x *write, known *seen, now any, because []reports.Evidence) {
	var field *change
	for _, c := range changes(known.last, now) {
		if first, rest, _ := strings.Cut(c.field, "."); first != "status" && (first != "metadata" || strings.HasPrefix(rest, "labels.") || strings.HasPrefix(rest, "annotations.")) {
			field = &c
			break
		}
	}
	if field == nil {
		return // it is made anew as it was
	}
	key := strings.Clone(r.Key)
	s.hits[key] = &hit{client: x.client, by: x.name, v: &reports.Violation{Key: key, Because: because, Message: fmt.Sprintf(
		"%s deletes %s, uid %s, of which it had not been told: it knew the one before, uid %s. The next one is another one, whose %s is %s", x.name, key, meta(now).GetUID(), known.uid, field.field, shown(field.value))}}
	s.o.Remakes(key, now)
}

// follows notes what becomes of hits. What somebody makes or changes in other resources afterwards may be why the next one is to stay.
func (s *blind) follows(r *sim.Record, x *write) {
	m := meta(r.Obj)
	if s.o.Probing() {
		h := s.hits[r.Key]
		switch {
		case h == nil:
		case r.Detail == "ADDED" && x.role == Outside && h.uid == "":
			h.uid = m.GetUID()
			h.v.Because = append(h.v.Because, reports.Because(r, "somebody makes it once more as it was, uid %s (RV %d), and it stays", h.uid, r.RV))
		case x.role != Outside && m.GetUID() == h.uid && (r.Detail == "DELETED" || deleted(r.Obj)):
			delete(s.hits, r.Key) // it is not wanted
		}
		return
	}
	if r.Detail == "ADDED" {
		delete(s.hits, r.Key)
	}
	if x.role == Controller || r.Detail == "DELETED" || x.rewrites(r) {
		return
	}
	maps.DeleteFunc(s.hits, func(key string, _ *hit) bool { return pluralOf(key) != pluralOf(r.Key) })
}

// lives notes that a client begins another life, or has ended one.
func (s *blind) lives(client sim.ActorID) {
	for _, h := range s.hits { // order: each by itself
		if h.client == client && h.uid != "" {
			h.lives++
		}
	}
}

// end returns a hit of what is let be.
func (s *blind) end() *reports.Violation {
	for _, key := range slices.Sorted(maps.Keys(s.hits)) {
		if h := s.hits[key]; h.uid != "" && h.lives > 0 {
			h.v.Message += fmt.Sprintf(", and %s lets that be: made once more as it was, it is not deleted, not even in another life of %s. %s", h.by, h.by, noPrecondition)
			return h.v
		}
	}
	return nil
}
