package wellbehaved

import (
	"maps"
	"strings"

	kinds "k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
)

// sightings follow which objects the informers of a client have seen, in its life.
type sightings struct {
	had     map[cached]kinds.UID // which object of a name a list or a watch has told a client of last
	follows map[followed]bool    // of which resources it has been told anything
	ends    map[string]ended     // the last object of a key that was deleted
}

// ended is an object that was deleted.
type ended struct {
	uid kinds.UID
	by  sim.ActorID
}

func newSightings() sightings {
	return sightings{map[cached]kinds.UID{}, map[followed]bool{}, map[string]ended{}}
}

// sees notes what a page of a list, or a frame, tells a client.
func (s *sightings) sees(r *sim.Record, plural string) {
	if f := (followed{r.Actor, plural}); !s.follows[f] {
		s.follows[followed{r.Actor, strings.Clone(plural)}] = true
	}
	if page, is := r.Obj.(*fakeapiserver.Page); is {
		for n, item := range page.Items {
			s.caches(r.Actor, plural+" "+page.Keys[n], item)
		}
	} else if r.Key != "" {
		s.caches(r.Actor, r.Key, r.Obj)
	}
}

func (s *sightings) caches(client sim.ActorID, key string, obj any) {
	if m := meta(obj); m != nil {
		s.had[cached{client, strings.Clone(key)}] = m.GetUID()
	}
}

// forget notes that a client's process has begun or ended: its caches are empty.
func (s *sightings) forget(client sim.ActorID) {
	maps.DeleteFunc(s.had, func(of cached, _ kinds.UID) bool { return of.client == client })
	maps.DeleteFunc(s.follows, func(f followed, _ bool) bool { return f.client == client })
}

// loses notes a deletion.
func (s *sightings) loses(r *sim.Record, x *write) {
	if m := meta(r.Obj); m != nil && r.Detail == "DELETED" {
		s.ends[strings.Clone(r.Key)] = ended{m.GetUID(), x.client}
	}
}

// unseen reports whether an object is made in place of one that somebody else has deleted before its maker was told of it. Nothing tells it of the deletion then: for its informers nothing has changed.
func (s *sightings) unseen(r *sim.Record, x *write) bool {
	last, is := s.ends[r.Key]
	return is && r.Detail == "ADDED" && last.by != x.client && s.had[cached{x.client, r.Key}] != last.uid
}
