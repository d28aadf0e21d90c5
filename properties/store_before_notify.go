package properties

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/properties/api"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// StoreBeforeNotify checks that the Indexer is never behind the handlers (I62).
var StoreBeforeNotify = Property{
	Name:      "StoreBeforeNotify",
	Statement: "when a handler is notified of a change, the Indexer already reflects it or something newer",
	Kinds:     []sim.Kind{subjects.KindNotify, subjects.KindStored, subjects.KindHandler, subjects.KindRefused, fakeapiserver.KindFault, fakeapiserver.KindRestore},
	New: func() Checker {
		p := &storeBeforeNotify{}
		return Checker{Record: p.record}
	},
}

// storeBeforeNotify reads the Indexer at the moment of the notification, as a handler would. Once the store has been restored to the
// past, or has left something out, or a list was taken only in part (I112), the Indexer may go back while a handler is behind, even to the same object: what it holds is not
// compared from then on. A handler that was removed is told of no deletion, but of what it had taken before, as NothingAfterRemove says.
//
// A subject may tell what the Indexer held when its goroutine made the call (KindStored), which then counts as well.
type storeBeforeNotify struct {
	untrue  bool
	removed byActor[bool]
	called  byActor[held]
}

// held is what the Indexer held when a handler was called.
type held struct {
	known       bool // for the notification that is next
	rv, reached int64
}

func (p *storeBeforeNotify) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRestore:
		p.untrue = true
		return nil
	case fakeapiserver.KindFault:
		p.untrue = p.untrue || api.OfBrokenServer(r)
		return nil
	case subjects.KindRefused:
		p.untrue = p.untrue || r.Key == ""
		return nil
	case subjects.KindHandler:
		*p.removed.get(r.Actor) = r.Detail == "removed"
		return nil
	case subjects.KindStored:
		*p.called.get(r.Actor) = held{true, r.RV, r.N}
		return nil
	}
	if v := p.duringCall(w, r); v != nil {
		return v
	}
	inf := w.InformerOf(r.Actor)
	if inf == nil {
		return nil
	}
	actor := w.Kernel().ActorName(r.Actor)
	obj, has := inf.Get(r.Key)
	older := has && !p.untrue && subjects.RevisionOf(obj) < r.RV
	deletion := strings.HasPrefix(r.Detail, subjects.NotifyDelete)
	switch {
	case deletion && has && !p.untrue && any(obj) == r.Obj, deletion && older:
		return broken(r, fmt.Sprintf("handler %s was notified that %s was deleted, but the Indexer holds it at rv=%d", actor, r.Key, subjects.RevisionOf(obj)))
	case !deletion && older:
		return broken(r, fmt.Sprintf("handler %s was notified of %s at rv=%d, but the Indexer holds it at rv=%d", actor, r.Key, r.RV, subjects.RevisionOf(obj)))
	case !deletion && !has && !inf.Busy() && !*p.removed.get(r.Actor):
		// While the informer is busy, the key may be gone again: its deletion then waits in the handler's ring.
		return broken(r, fmt.Sprintf("handler %s was notified of %s at rv=%d, but the Indexer does not hold it and no deletion is pending", actor, r.Key, r.RV))
	}
	return nil
}

// duringCall judges what the Indexer held when the handler was called, if that is known.
func (p *storeBeforeNotify) duringCall(w World, r *sim.Record) *reports.Violation {
	called := p.called.get(r.Actor)
	before := *called
	*called = held{}
	deletion := strings.HasPrefix(r.Detail, subjects.NotifyDelete)
	switch {
	case !before.known || p.untrue:
	case deletion && before.rv != 0 && before.rv <= r.RV:
		return broken(r, fmt.Sprintf("handler %s was called for the deletion of %s while the Indexer still held it at rv=%d: it was told before the deletion was stored",
			w.Kernel().ActorName(r.Actor), r.Key, before.rv))
	case !deletion && before.reached < r.RV:
		return broken(r, fmt.Sprintf("handler %s was called for %s at rv=%d, which the Indexer had not held by then, nor anything newer: it was told before that was stored",
			w.Kernel().ActorName(r.Actor), r.Key, r.RV))
	}
	return nil
}

func broken(r *sim.Record, msg string) *reports.Violation {
	return &reports.Violation{Key: r.Key, Message: msg, Because: []reports.Evidence{reports.Because(r, "%s", scenarios.NotificationText(r))}}
}
