package wellbehaved

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// bareFor is how long a child that was made again has no owner before that counts: its maker may set it in a request of its own.
const bareFor = time.Minute

// remade follows children that a controller makes again, and whether they have an owner as before. Without it, nothing removes them with the owner. Those with a drawn name are not told from others.
type remade struct {
	owned   map[string]*ownedChild      // by key: the last that a controller has made, with an owner
	bare    map[kinds.UID]*bareChild    // those that are there without any, as long as that owner is
	changed map[kinds.UID]time.Duration // when somebody else has last changed what may be an owner: it may say that it wants to be none
}

// ownedChild is an object that a controller has made with a controlling owner.
type ownedChild struct {
	owner metav1.OwnerReference
	by    string
	made  reports.Evidence
	gone  *reports.Evidence // the first time; nil until then
}

// bareChild is one that it has made again without an owner.
type bareChild struct {
	before *ownedChild
	key    string
	made   reports.Evidence
}

func newRemade() remade {
	return remade{owned: map[string]*ownedChild{}, bare: map[kinds.UID]*bareChild{}, changed: map[kinds.UID]time.Duration{}}
}

func (s *remade) committed(o *Options, r *sim.Record, x *write) *reports.Violation {
	m := meta(r.Obj)
	if Bookkeeping(r.Key) {
		return nil
	}
	if m.GetDeletionTimestamp() != nil || r.Detail == "DELETED" {
		return s.leaves(r, m.GetUID())
	}
	if r.Detail == "MODIFIED" {
		if x.role == Outside {
			s.changed[m.GetUID()] = r.At
		}
		if len(m.GetOwnerReferences()) > 0 {
			delete(s.bare, m.GetUID())
		}
		return nil
	}
	before := s.owned[r.Key]
	if x.role != Controller || x.request == nil || m.GetGenerateName() != "" || o.excepted(NameOrphan, x.name, r.Key) {
		delete(s.owned, r.Key)
		return nil
	}
	key := strings.Clone(r.Key)
	if ref := metav1.GetControllerOf(m); ref != nil {
		s.owned[key] = &ownedChild{owner: *ref, by: x.name, made: reports.Because(r, "%s makes %s for %s %s (RV %d)", x.name, key, ref.Kind, ref.Name, r.RV)}
		return nil
	}
	if len(m.GetOwnerReferences()) == 0 && before != nil && before.gone != nil && before.by == x.name {
		s.bare[m.GetUID()] = &bareChild{before, key, reports.Because(r, "%s makes %s again, without an owner (RV %d)", x.name, key, r.RV)}
	}
	return nil
}

// leaves notes that an object goes: a child, or the owner of some.
func (s *remade) leaves(r *sim.Record, uid kinds.UID) *reports.Violation {
	if c := s.owned[r.Key]; c != nil && c.gone == nil && r.Detail == "DELETED" {
		e := reports.Because(r, "%s is gone (RV %d)", r.Key, r.RV)
		c.gone = &e
	}
	v := s.judge(func(child kinds.UID, c *ownedChild) bool { return child == uid || c.owner.UID == uid }, r.At)
	maps.DeleteFunc(s.bare, func(child kinds.UID, c *bareChild) bool { return child == uid || c.before.owner.UID == uid })
	maps.DeleteFunc(s.owned, func(_ string, c *ownedChild) bool { return c.owner.UID == uid })
	return v
}

// judge returns the first child of those that are meant that has had no owner for long, if nobody has changed that of the one before since.
func (s *remade) judge(meant func(child kinds.UID, before *ownedChild) bool, now time.Duration) *reports.Violation {
	for _, uid := range slices.SortedFunc(maps.Keys(s.bare), func(a, b kinds.UID) int { return cmp.Compare(s.bare[a].made.Step, s.bare[b].made.Step) }) {
		c := s.bare[uid]
		if now-c.made.At < bareFor || s.changed[c.before.owner.UID] > c.before.made.At || !meant(uid, c.before) {
			continue
		}
		owner := c.before.owner.Kind + " " + c.before.owner.Name
		return &reports.Violation{Key: c.key, Message: fmt.Sprintf("%s has made %s again without an owner: the one before had the controlling owner %s, which is still there. Nothing removes what it has made with it",
			c.before.by, c.key, owner), Because: []reports.Evidence{c.before.made, *c.before.gone, c.made}}
	}
	return nil
}

// end returns what is so when all is over.
func (s *remade) end(now time.Duration) *reports.Violation {
	return s.judge(func(kinds.UID, *ownedChild) bool { return true }, now)
}
