package properties

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// storeBeforeNotify asks the Indexer, as a handler would, at the moment the handler is told (I62).
type storeBeforeNotify struct{}

func (storeBeforeNotify) Name() string { return "StoreBeforeNotify" }

func (storeBeforeNotify) Kinds() []sim.Kind { return []sim.Kind{subjects.KindNotify} }

func (storeBeforeNotify) Record(w *scenarios.World, r *sim.Record) *scenarios.Violation {
	actor := w.Kernel().ActorName(r.Actor)
	inf := w.Informer(informerOf(actor))
	if inf == nil {
		return nil
	}
	obj, has := inf.Get(r.Key)
	deletion := strings.HasPrefix(r.Detail, subjects.NotifyDelete)
	switch {
	case deletion && has && any(obj) == r.Obj, deletion && has && revisionOf(obj) < r.RV:
		return broken(r, fmt.Sprintf("handler %s was told that %s was deleted, but the Indexer holds it at rv=%d", actor, r.Key, revisionOf(obj)))
	case !deletion && has && revisionOf(obj) < r.RV:
		return broken(r, fmt.Sprintf("handler %s was told of %s at rv=%d, but the Indexer holds it at rv=%d", actor, r.Key, r.RV, revisionOf(obj)))
	case !deletion && !has && !inf.Busy():
		// A key that is gone again is newer than what the handler hears: its deletion waits in the handler's ring.
		return broken(r, fmt.Sprintf("handler %s was told of %s at rv=%d, but the Indexer does not hold it and nothing about it waits", actor, r.Key, r.RV))
	}
	return nil
}

func broken(r *sim.Record, msg string) *scenarios.Violation {
	return &scenarios.Violation{Key: r.Key, Message: msg, Because: []scenarios.Evidence{because(r, "%s", scenarios.NotificationText(r))}}
}

func (storeBeforeNotify) End(*scenarios.World) *scenarios.Violation { return nil }
