package properties

import (
	"fmt"
	"slices"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// InitialListFlag checks what handlers are told of the initial list (I41, I79).
var InitialListFlag = Property{
	Name:      "InitialListFlag",
	Statement: "isInInitialList is true for the objects of the first list, or of the store that a late handler is replayed, and for no others",
	Kinds:     []sim.Kind{subjects.KindReplace, subjects.KindRefused, subjects.KindIndexer, subjects.KindHandler, subjects.KindNotify},
	New: func() Checker {
		p := &initialListFlag{}
		return Checker{Record: p.record}
	},
	Needs: []property.Need{{Feature: subjects.InitialFlags}},
}

// initialListFlag knows each registration's initial objects: those of the informer's first list, and for a handler that is added
// later, what the Indexer holds by then and what of the first list is still to come. An object may be added, deleted and added
// again within the initial list, so more than one add of a key may have the flag.
type initialListFlag struct {
	informers byActor[firstList]
	handlers  byActor[initialOfHandler]
}

type initialOfHandler struct {
	keys map[string]bool // nil before the first list
	told map[string]bool // keys that it was notified of
	late bool            // added after the first list
	from *firstList
	step uint64
	at   time.Duration
}

func (p *initialListFlag) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case subjects.KindReplace:
		p.replaced(r)
	case subjects.KindRefused:
		i := p.informers.get(r.Actor)
		i.partial = i.partial || r.Key == "" && !i.seen
	case subjects.KindIndexer:
		delete(p.informers.get(r.Actor).waiting, r.Key)
	case subjects.KindHandler:
		p.handler(w, r)
	case subjects.KindNotify:
		return p.notified(w, r)
	}
	return nil
}

func (p *initialListFlag) replaced(r *sim.Record) {
	i := p.informers.get(r.Actor)
	if !i.begin(r) {
		return
	}
	for _, id := range i.handlers {
		p.handlers.get(id).keys = setOf(i.keys)
	}
}

func (p *initialListFlag) handler(w World, r *sim.Record) {
	id, ok := w.Kernel().Owner(r.Actor)
	if !ok {
		return
	}
	i, h := p.informers.get(id), p.handlers.get(r.Actor)
	i.handlers = slices.DeleteFunc(i.handlers, func(x sim.ActorID) bool { return x == r.Actor })
	*h = initialOfHandler{}
	if r.Detail != "added" {
		return
	}
	i.handlers = append(i.handlers, r.Actor)
	*h = initialOfHandler{told: map[string]bool{}, late: i.seen, from: i, step: r.Step, at: r.At}
	if inf := w.InformerOf(id); i.seen && inf != nil {
		h.keys = setOf(inf.Keys())
		for key := range i.waiting { // order: a set is built
			h.keys[key] = true
		}
	}
}

func (p *initialListFlag) notified(w World, r *sim.Record) *reports.Violation {
	h := p.handlers.get(r.Actor)
	if h.told == nil {
		return nil
	}
	first := !h.told[r.Key]
	h.told[r.Key] = true
	switch {
	case h.from != nil && h.from.partial:
	case r.Detail == subjects.NotifyAddInitial && !h.keys[r.Key]:
		return h.wrong(w, r, "was told that %s is in the initial list, but it is not")
	case r.Detail == subjects.NotifyAdd && h.keys[r.Key] && first:
		return h.wrong(w, r, "was told of %s, which is in the initial list, as if it were not")
	}
	return nil
}

func (h *initialOfHandler) wrong(w World, r *sim.Record, format string) *reports.Violation {
	v := &reports.Violation{Key: r.Key, Message: fmt.Sprintf("handler %s "+format, w.Kernel().ActorName(r.Actor), r.Key)}
	if h.from.seen {
		v.Because = append(v.Because, reports.Evidence{Step: h.from.step, At: h.from.at, Text: fmt.Sprintf("the informer's first list had %d objects", len(h.from.keys))})
	}
	if h.late {
		v.Because = append(v.Because, reports.Evidence{Step: h.step, At: h.at, Text: fmt.Sprintf("the handler was added when there were %d objects for it to begin with", len(h.keys))})
	}
	v.Because = append(v.Because, reports.Because(r, "but the handler was notified: %s", scenarios.NotificationText(r)))
	return v
}
