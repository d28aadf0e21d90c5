package properties

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// SyncedAfterInitialList checks that HasSynced does not turn true too early.
var SyncedAfterInitialList = Property{
	Name:      "SyncedAfterInitialList",
	Statement: "HasSynced turns true only after the whole first list was processed; that of a handler, only after the handler has returned from it, without a panic",
	Kinds:     []sim.Kind{subjects.KindReplace, subjects.KindRefused, subjects.KindIndexer, subjects.KindNotify, subjects.KindSynced, subjects.KindHandler, subjects.KindPanic},
	New: func() Checker {
		p := newSyncedAfterInitialList()
		return Checker{Record: p.record}
	},
	Needs: []property.Need{{Feature: subjects.HandlerSync, Part: "of handlers"}},
}

// syncedAfterInitialList ticks off the keys of each informer's first list as they reach the Indexer and each handler.
type syncedAfterInitialList struct {
	informers byActor[firstList]
	handlers  byActor[initialAdds]
}

// firstList is the first list of an informer.
type firstList struct {
	seen     bool
	keys     []string
	waiting  map[string]bool // not in the Indexer yet
	step     uint64
	at       time.Duration
	rv       int64
	handlers []sim.ActorID
	partial  bool // a list that the transform refused came before it, with some of the objects (I112)
}

// initialAdds are the keys that a handler waits for before it has synced.
type initialAdds struct {
	waiting  map[string]bool
	informer sim.ActorID
	last     string // the key of its last notification, if that was an add of the initial list
	panicked string // the key of such an add of which it has not returned, but panicked: that is never handled (I85)
	replay   bool   // it waits for the replay of the store; client-go may count that as handled before it has come as a whole, within a step
}

func newSyncedAfterInitialList() *syncedAfterInitialList { return &syncedAfterInitialList{} }

func (p *syncedAfterInitialList) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case subjects.KindHandler:
		p.handler(w, r)
	case subjects.KindReplace:
		p.replaced(r)
	case subjects.KindRefused:
		l := p.informers.get(r.Actor)
		l.partial = l.partial || r.Key == "" && !l.seen
	case subjects.KindIndexer:
		if l := p.informers.get(r.Actor); l.waiting != nil {
			delete(l.waiting, r.Key)
		}
	case subjects.KindNotify:
		h := p.handlers.get(r.Actor)
		if h.last = ""; r.Detail == subjects.NotifyAddInitial {
			h.last = r.Key
		}
		if h.waiting != nil {
			delete(h.waiting, r.Key)
		}
	case subjects.KindPanic:
		if h := p.handlers.get(r.Actor); h.last != "" && !h.replay {
			h.panicked = h.last
		}
	case subjects.KindSynced:
		return p.synced(w, r)
	}
	return nil
}

// handler notes a new handler; one added after the first list waits for the replay of the store (I79).
func (p *syncedAfterInitialList) handler(w World, r *sim.Record) {
	id, ok := w.Kernel().Owner(r.Actor)
	if !ok || r.Detail != "added" {
		return
	}
	h := p.handlers.get(r.Actor)
	h.informer, h.panicked = id, ""
	l := p.informers.get(id)
	l.handlers = append(l.handlers, r.Actor)
	if h.replay = l.seen; l.seen {
		h.waiting = map[string]bool{}
		if inf := w.InformerOf(id); inf != nil {
			for _, key := range inf.Keys() {
				h.waiting[key] = true
			}
		}
	}
}

func (p *syncedAfterInitialList) replaced(r *sim.Record) {
	l := p.informers.get(r.Actor)
	if !l.begin(r) {
		return
	}
	if l.partial { // some of it has been processed before
		l.keys, l.waiting = nil, nil
		return
	}
	for _, id := range l.handlers {
		p.handlers.get(id).waiting = setOf(l.keys)
	}
}

// begin notes a list, and reports whether it is the first.
func (l *firstList) begin(r *sim.Record) bool {
	if l.seen {
		return false
	}
	l.seen, l.step, l.at, l.rv = true, r.Step, r.At, r.RV
	l.keys, _ = r.Obj.([]string)
	l.waiting = setOf(l.keys)
	return true
}

func setOf(keys []string) map[string]bool {
	m := make(map[string]bool, len(keys))
	for _, k := range keys {
		m[k] = true
	}
	return m
}

func (p *syncedAfterInitialList) synced(w World, r *sim.Record) *reports.Violation {
	name := w.Kernel().ActorName(r.Actor)
	id, waiting, what := r.Actor, map[string]bool(nil), "is not in the Indexer"
	if h := p.handlers.get(r.Actor); h.informer != 0 || informerOf(name) != name {
		id, waiting, what = h.informer, h.waiting, "has not reached the handler"
		inf, handler, _ := strings.Cut(name, "/")
		if i := w.Informer(inf); i != nil && h.last != "" && i.Calling(handler) {
			return p.tooEarly(r, p.informers.get(id), h.last, fmt.Sprintf("HasSynced of %s is true, but it has not returned from the add of %s", name, h.last))
		}
		if h.panicked != "" {
			return p.tooEarly(r, p.informers.get(id), h.panicked, fmt.Sprintf("HasSynced of %s is true, but the add of %s panicked", name, h.panicked))
		}
	} else {
		waiting = p.informers.get(r.Actor).waiting
	}
	l := p.informers.get(id)
	if !l.seen {
		return &reports.Violation{Message: fmt.Sprintf("HasSynced of %s is true before the first list", name)}
	}
	for _, key := range l.keys {
		if waiting[key] {
			return p.tooEarly(r, l, key, fmt.Sprintf("HasSynced of %s is true, but %s of the first list %s", name, key, what))
		}
	}
	// A handler added later waits for the store's content, not for the first list.
	if key := smallest(waiting); key != "" {
		return p.tooEarly(r, l, key, fmt.Sprintf("HasSynced of %s is true, but %s %s", name, key, what))
	}
	return nil
}

func smallest(set map[string]bool) string {
	min := ""
	for k := range set { // order: the minimum does not depend on it
		if min == "" || k < min {
			min = k
		}
	}
	return min
}

func (p *syncedAfterInitialList) tooEarly(r *sim.Record, l *firstList, key, msg string) *reports.Violation {
	return &reports.Violation{Key: key, Message: msg, Because: []reports.Evidence{
		{Step: l.step, At: l.at, Text: fmt.Sprintf("the first list, at rv=%d, has %d objects", l.rv, len(l.keys))},
		reports.Because(r, "but HasSynced turned true"),
	}}
}
