package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// missingKeyTracker judges the Replaces of informers whose queue cannot be seen: once an informer is idle, neither its Indexer
// nor any of its handlers may hold a key that a list lacked, unless an event of it came since. Duplicate notifications are left to
// HandlerGrammar.
type missingKeyTracker struct {
	informers byActor[pendingDeletions]
	handlers  byActor[heldKeys]
	waiting   []sim.ActorID // informers with pending deletions
}

// pendingDeletions are the keys that an informer still has to delete, and the handlers that it has to notify.
type pendingDeletions struct {
	keys     map[string]missingKey
	handlers []sim.ActorID
}

// missingKey is a key that a list lacked: how it became known, and the list.
type missingKey struct{ from, list origin }

// heldKeys are the keys that a handler holds according to its notifications.
type heldKeys struct{ keys map[string]bool }

// replaced notes the keys that a list lacks.
func (t *missingKeyTracker) replaced(id sim.ActorID, k *knownKeys, listed map[string]origin) {
	p := t.informers.get(id)
	for key := range listed { // order: a set is changed
		delete(p.keys, key)
	}
	if len(k.missing) == 0 {
		return
	}
	if p.keys == nil {
		p.keys = map[string]missingKey{}
	}
	for key := range k.missing { // order: a set is built
		p.keys[key] = missingKey{k.known[key], k.list}
	}
	if !slices.Contains(t.waiting, id) {
		t.waiting = append(t.waiting, id)
	}
}

// stopped drops the pending deletions of an informer that has stopped: it no longer notifies its handlers.
func (t *missingKeyTracker) stopped(id sim.ActorID) {
	clear(t.informers.get(id).keys)
}

// changed notes an event of a key.
func (t *missingKeyTracker) changed(id sim.ActorID, key string) {
	if int(id) < len(t.informers.t) && t.informers.t[id] != nil {
		delete(t.informers.t[id].keys, key)
	}
}

// handler follows what a handler holds.
func (t *missingKeyTracker) handler(w World, r *sim.Record) {
	h := t.handlers.get(r.Actor)
	if r.Kind == subjects.KindHandler {
		*h = heldKeys{}
		id, ok := w.Kernel().Owner(r.Actor)
		if !ok {
			return
		}
		p := t.informers.get(id)
		p.handlers = slices.DeleteFunc(p.handlers, func(x sim.ActorID) bool { return x == r.Actor })
		if r.Detail == "added" {
			p.handlers = append(p.handlers, r.Actor)
		}
		return
	}
	if h.keys == nil {
		h.keys = map[string]bool{}
	}
	if strings.HasPrefix(r.Detail, subjects.NotifyDelete) {
		delete(h.keys, r.Key)
	} else {
		h.keys[r.Key] = true
	}
}

// stepEnd judges the informers that are idle.
func (t *missingKeyTracker) stepEnd(w World) *reports.Violation {
	for n := 0; n < len(t.waiting); n++ {
		id := t.waiting[n]
		inf := w.InformerOf(id)
		if inf == nil || inf.Busy() {
			continue
		}
		p := t.informers.get(id)
		if v := t.judge(w, inf, p); v != nil {
			return v
		}
		clear(p.keys)
		t.waiting = slices.Delete(t.waiting, n, n+1)
		n--
	}
	return nil
}

func (t *missingKeyTracker) judge(w World, inf subjects.Informer, p *pendingDeletions) *reports.Violation {
	keys := make([]string, 0, len(p.keys))
	for key := range p.keys { // order: sorted below
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if _, has := inf.Get(key); has {
			return p.broken(key, fmt.Sprintf("informer %s is idle and still holds it", inf.Name()))
		}
		for _, h := range p.handlers {
			if t.handlers.get(h).keys[key] {
				return p.broken(key, fmt.Sprintf("handler %s was not notified of its deletion, and its informer is idle", w.Kernel().ActorName(h)))
			}
		}
	}
	return nil
}

func (p *pendingDeletions) broken(key, what string) *reports.Violation {
	d := p.keys[key]
	return &reports.Violation{
		Key:     key,
		Message: fmt.Sprintf("%s was known at rv=%d and is not in the list at rv=%d, but %s", key, d.from.rv, d.list.rv, what),
		Because: []reports.Evidence{
			{Step: d.from.step, At: d.from.at, Text: fmt.Sprintf("%s became known: %s at rv=%d", key, d.from.how, d.from.rv)},
			{Step: d.list.step, At: d.list.at, Text: fmt.Sprintf("but a list at rv=%d without it replaced the queue", d.list.rv)},
		},
	}
}
