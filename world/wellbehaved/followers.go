package wellbehaved

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// selection is what a client watches: a resource, or some of it.
type selection struct {
	client                            sim.ActorID
	plural, namespace, labels, fields string
}

// followers knows what clients watch, and have watched. A program may stop what follows a part of it, such as a tenant that has gone, and go on with the rest.
type followers struct {
	open map[sentBy]selection // the watches that are open, or asked for
	ever []selection          // what was watched
}

func newFollowers() followers { return followers{open: map[sentBy]selection{}} }

// watchKinds are those of the records that followers want to see.
var watchKinds = []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindWatchClosed}

func (f *followers) record(w property.World, r *sim.Record, restarts sim.Kind) {
	at := sentBy{r.Actor, r.N}
	switch r.Kind {
	case fakeapiserver.KindRequest:
		a, is := r.Obj.(*fakeapiserver.Asked)
		if !is || !a.Watch {
			return
		}
		s := selection{r.Actor, strings.Clone(r.Key), strings.Clone(a.Namespace), strings.Clone(a.Options.LabelSelector), strings.Clone(a.Options.FieldSelector)}
		f.open[at] = s
		if !slices.Contains(f.ever, s) {
			f.ever = append(f.ever, s)
		}
	case fakeapiserver.KindResponse:
		if !strings.HasPrefix(r.Detail, "2") && r.Detail != "ok" {
			delete(f.open, at)
		}
	case fakeapiserver.KindWatchClosed:
		delete(f.open, at)
	case restarts:
		if client, ok := clientOf(w, r); ok {
			for q := range f.open { // order: each by itself
				if q.client == client {
					delete(f.open, q)
				}
			}
		}
	}
}

// with returns what a client has watched in which an object may be.
func (f *followers) with(client sim.ActorID, key string) (all []selection) {
	plural, object, _ := strings.Cut(key, " ")
	for _, s := range f.ever {
		if s.client == client && s.plural == plural && (s.namespace == "" || strings.HasPrefix(object, s.namespace+"/")) {
			all = append(all, s)
		}
	}
	return all
}

// stopped reports whether something was watched, and nothing of it is any more.
func (f *followers) stopped(all []selection) bool {
	for _, s := range f.open { // order: one is enough
		if slices.Contains(all, s) {
			return false
		}
	}
	return len(all) > 0
}
