package wellbehaved

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// NameDeposed is the name of the property for which Leases are lost.
const NameDeposed = "NoWriteAfterLease"

// reign is how long a replica whose Lease another one has taken may take to end what it is doing.
const reign = time.Minute

// noWriteAfterLease checks that a replica which has lost its Lease to another one writes no more. Where one writes that has never held any, writing asks for no Lease, and nothing is judged.
func noWriteAfterLease(o *Options) property.Property {
	return property.Property{
		Name:      NameDeposed,
		Statement: "no replica goes on writing when another one has taken its Lease",
		Kinds:     []sim.Kind{fakeapiserver.KindRequest, fakeapiserver.KindCommit, o.Restarts},
		New: func() property.Checker {
			s := &reigns{o: o, holds: map[string]sim.ActorID{}, wants: map[sim.ActorID]bool{}, held: map[sim.ActorID]bool{}, lost: map[sim.ActorID]reports.Evidence{}}
			return property.Checker{Record: s.record}
		},
	}
}

// reigns follows who holds which Lease.
type reigns struct {
	o     *Options
	holds map[string]sim.ActorID // who has taken a Lease last
	wants map[sim.ActorID]bool   // who has asked for Leases
	held  map[sim.ActorID]bool   // who has held one in this life
	lost  map[sim.ActorID]reports.Evidence
	free  bool // somebody who wants one has written without it
}

func (s *reigns) record(w property.World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if r.Key == "leases" {
			s.wants[r.Actor] = true
		}
	case fakeapiserver.KindCommit:
		x := s.o.writeOf(w)
		if x.role != Controller {
			return nil
		}
		if pluralOf(r.Key) == "leases" {
			s.takes(r, &x)
			return nil
		}
		return s.writes(r, &x)
	case s.o.Restarts:
		if client, ok := clientOf(w, r); ok { // it begins anew, without any
			delete(s.held, client)
			delete(s.lost, client)
		}
	}
	return nil
}

// takes notes that a Lease has another holder.
func (s *reigns) takes(r *sim.Record, x *write) {
	now := holderOf(r.Obj)
	if now == "" || r.Detail == "DELETED" || r.Detail == "MODIFIED" && now == holderOf(r.Old) && s.holds[r.Key] == x.client {
		return
	}
	if before, is := s.holds[r.Key]; is && before != x.client {
		s.lost[before] = reports.Because(r, "%s takes %s (RV %d)", x.name, r.Key, r.RV)
	}
	s.holds[strings.Clone(r.Key)] = x.client
	s.held[x.client] = true
	delete(s.lost, x.client)
}

func holderOf(obj any) string {
	holder, _, _ := unstructured.NestedString(content(obj), "spec", "holderIdentity")
	return holder
}

func (s *reigns) writes(r *sim.Record, x *write) *reports.Violation {
	if Bookkeeping(r.Key) || !s.wants[x.client] {
		return nil
	}
	if !s.held[x.client] {
		s.free = true
	}
	for _, client := range s.holds { // order: whether there is one
		if client == x.client {
			return nil
		}
	}
	lost, is := s.lost[x.client]
	if !is || s.free || x.request == nil || x.request.At-lost.At < reign || s.o.excepted(NameDeposed, x.name, r.Key) {
		return nil
	}
	return &reports.Violation{Key: strings.Clone(r.Key), Message: fmt.Sprintf("%s still writes %s, %v after its Lease was lost: %s. A replica that has lost it has to end, so that one leads at most",
		x.name, r.Key, span(x.request.At-lost.At), lost.Text), Because: []reports.Evidence{
		lost, x.sends(), reports.Because(r, "%s is %s (RV %d)", r.Key, r.Detail, r.RV),
	}}
}
