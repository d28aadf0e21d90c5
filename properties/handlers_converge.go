package properties

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// HandlersConverge checks that what a handler was notified of adds up to the Indexer.
var HandlersConverge = Property{
	Name:      "HandlersConverge",
	Statement: "once the faults stop, a handler that keeps what it is notified of has exactly what the Indexer has",
	Kinds:     []sim.Kind{subjects.KindNotify, subjects.KindHandler},
	New: func() Checker {
		p := &handlersConverge{}
		return Checker{Record: p.record, End: p.end}
	},
}

// handlersConverge keeps what a cache built from each handler's notifications would hold. HandlerGrammar and StoreBeforeNotify
// judge the notifications that come; a last one that never comes shows only here.
type handlersConverge struct{ handlers byActor[toldOf] }

// toldOf is each key's last notification.
type toldOf struct{ last map[string]notification }

func (p *handlersConverge) record(_ World, r *sim.Record) *reports.Violation {
	h := p.handlers.get(r.Actor)
	if r.Kind == subjects.KindHandler {
		*h = toldOf{last: map[string]notification{}}
		return nil
	}
	h.last[r.Key] = notification{r.RV, r.Step, r.At, r.Detail}
	return nil
}

func (p *handlersConverge) end(w World) *reports.Violation {
	for _, inf := range w.Informers() {
		for _, name := range inf.Handlers() {
			id, known := w.Kernel().ActorByName(inf.Name() + "/" + name)
			if !known || inf.Calling(name) {
				continue // a slow call holds up the others
			}
			if v := p.handlers.get(id).differs(inf, name); v != nil {
				return v
			}
		}
	}
	return nil
}

// differs returns the first key, in order, of which the handler was last notified otherwise than the Indexer has it.
func (h *toldOf) differs(inf subjects.Informer, name string) *reports.Violation {
	for _, key := range slices.Sorted(maps.Keys(h.last)) {
		if _, held := inf.Get(key); !held && !h.last[key].deletion() {
			return h.violation(key, fmt.Sprintf("handler %s was never notified that %s is gone, although informer %s no longer holds it", name, key, inf.Name()))
		}
	}
	for _, key := range inf.Keys() {
		obj, _ := inf.Get(key)
		rv := subjects.RevisionOf(obj)
		switch told, any := h.last[key]; {
		case !any || told.deletion():
			return h.violation(key, fmt.Sprintf("handler %s was never notified of %s, which informer %s holds at rv=%d", name, key, inf.Name(), rv))
		case told.rv != rv:
			return h.violation(key, fmt.Sprintf("handler %s was never notified of %s at rv=%d, which informer %s holds", name, key, rv, inf.Name()))
		}
	}
	return nil
}

func (h *toldOf) violation(key, message string) *reports.Violation {
	v := &reports.Violation{Key: key, Message: message}
	if told := h.last[key]; told.step != 0 {
		v.Because = []reports.Evidence{{Step: told.step, At: told.at, Text: fmt.Sprintf("the last notification of %s was: %s at rv=%d", key, told.detail, told.rv)}}
	}
	return v
}

func (n notification) deletion() bool { return strings.HasPrefix(n.detail, subjects.NotifyDelete) }
