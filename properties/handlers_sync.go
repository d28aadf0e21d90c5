package properties

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// HandlersSync checks that handlers sync at last; SyncedAfterInitialList checks that they do not do so too early (I86).
var HandlersSync = Property{
	Name:      "HandlersSync",
	Statement: "once the faults stop, HasSynced turns true for informers, and for their handlers that have not panicked",
	Kinds:     []sim.Kind{subjects.KindSynced, subjects.KindHandler, subjects.KindPanic},
	New: func() Checker {
		p := &handlersSync{}
		return Checker{Record: p.record, End: p.end}
	},
	Needs: []property.Need{{Feature: subjects.HandlerSync, Part: "of handlers", Rest: func() Checker { return Checker{End: informersSync} }}},
}

// handlersSync excuses a handler that has panicked: the notification counts as never handled (I85).
type handlersSync struct{ actors byActor[syncState] }

// syncState is what is known of an informer or a handler.
type syncState struct {
	synced, panicked bool
	added            uint64
	addedAt          time.Duration
}

func (p *handlersSync) record(_ World, r *sim.Record) *reports.Violation {
	a := p.actors.get(r.Actor)
	switch r.Kind {
	case subjects.KindSynced:
		a.synced = true
	case subjects.KindPanic:
		a.panicked = true
	case subjects.KindHandler:
		*a = syncState{added: r.Step, addedAt: r.At}
	}
	return nil
}

// informersSync judges informers alone.
func informersSync(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if v := informerSyncs(w, inf); v != nil {
			return v
		}
	}
	return nil
}

// informerSyncs excuses an informer whose own transform fails for what it would list: no list is taken then (I112).
func informerSyncs(w World, inf subjects.Informer) *reports.Violation {
	if inf.HasSynced() || refusesList(w, inf) {
		return nil
	}
	return &reports.Violation{
		Message: fmt.Sprintf("informer %s has not synced", inf.Name()),
		Because: []reports.Evidence{{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: fmt.Sprintf("HasSynced of %s is false, long after the faults stopped", inf.Name())}},
	}
}

func (p *handlersSync) end(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		if v := informerSyncs(w, inf); v != nil {
			return v
		}
		if !inf.HasSynced() {
			continue
		}
		for _, name := range inf.Handlers() {
			id, known := w.Kernel().ActorByName(inf.Name() + "/" + name)
			if !known || inf.Calling(name) {
				continue // a slow call holds up the others
			}
			if a := p.actors.get(id); !a.synced && !a.panicked {
				return &reports.Violation{
					Message: fmt.Sprintf("handler %s/%s has not synced, although its informer has, and no call of it panicked", inf.Name(), name),
					Because: []reports.Evidence{
						{Step: a.added, At: a.addedAt, Text: "the handler was added"},
						{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "but its HasSynced is still false"},
					},
				}
			}
		}
	}
	return nil
}
