package properties

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// ReplaceDeletesMissing checks that a Replace deletes what the list lacks.
var ReplaceDeletesMissing = Property{
	Name:      "ReplaceDeletesMissing",
	Statement: "a Replace queues exactly one Deleted for every known key that is not in the list, including keys that only the queue knew",
	Kinds: []sim.Kind{
		fakeapiserver.KindRequest, fakeapiserver.KindFrame, subjects.KindReplace, subjects.KindRefused, subjects.KindTombstone, subjects.KindNotify,
		subjects.KindHandler, subjects.KindStopped,
	},
	New: func() Checker {
		p := newReplaceDeletesMissing()
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending}
	},
}

// replaceDeletesMissing follows what each informer received from the server: the keys of its last list, and the frames since.
// Keys that a new list lacks must be deleted, exactly once each, by the Replace of that list. Where the queue cannot be seen (no
// subjects.TombstonesVisible), the result is judged once the informer is idle.
type replaceDeletesMissing struct {
	informers byActor[knownKeys]
	replaced  []sim.ActorID // informers with a Replace in this step
	missing   missingKeyTracker
	streaming streamingListTracker
	pending   bool // something is to be judged at the end of a step
}

type knownKeys struct {
	known map[string]origin
	// The Replace of this step: how often it deleted each key that it must delete.
	missing map[string]int
	visible bool
	list    origin
}

// origin is how a key became known.
type origin struct {
	step uint64
	at   time.Duration
	rv   int64
	how  string
}

func newReplaceDeletesMissing() *replaceDeletesMissing { return &replaceDeletesMissing{} }

func (p *replaceDeletesMissing) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		p.streaming.request(w, r)
	case fakeapiserver.KindFrame:
		p.frame(w, r)
	case subjects.KindNotify, subjects.KindHandler:
		p.missing.handler(w, r)
	case subjects.KindStopped:
		p.missing.stopped(r.Actor)
	case subjects.KindReplace:
		p.replace(r)
	case subjects.KindRefused:
		if r.Key == "" {
			p.informers.get(r.Actor).known = nil // some of it may have been deleted
		}
	case subjects.KindTombstone:
		k := p.informers.get(r.Actor)
		if _, must := k.missing[r.Key]; must {
			k.missing[r.Key]++
		}
	}
	return nil
}

func (p *replaceDeletesMissing) frame(w World, r *sim.Record) {
	id, ok := watcherOf(w, r)
	if !ok {
		return
	}
	if p.streaming.contains(id, r) || r.Key == "" || lost(w, id, r) {
		return // a streaming list counts when its Replace comes; bookmarks and errors have no key
	}
	k := p.informers.get(id)
	if k.known == nil {
		k.known = map[string]origin{}
	}
	key := objectKey(r.Key)
	p.missing.changed(id, key)
	if r.Detail == "DELETED" {
		delete(k.known, key)
		return
	}
	k.known[key] = origin{r.Step, r.At, r.RV, r.Detail}
}

func (p *replaceDeletesMissing) replace(r *sim.Record) {
	k := p.informers.get(r.Actor)
	keys, _ := r.Obj.([]string)
	k.list = origin{r.Step, r.At, r.RV, "LISTED"}
	k.visible = r.Detail == subjects.TombstonesVisible
	listed := make(map[string]origin, len(keys))
	for _, key := range keys {
		listed[key] = k.list
	}
	k.missing = map[string]int{}
	for key := range k.known { // order: a set is built
		if _, ok := listed[key]; !ok {
			k.missing[key] = 0
		}
	}
	if !k.visible {
		p.missing.replaced(r.Actor, k, listed)
	}
	if k.visible && len(k.missing) > 0 {
		p.replaced = append(p.replaced, r.Actor)
		for key := range k.missing { // order: a set is built
			listed[key] = k.known[key] // for the report; deleted at the end of the step
		}
	}
	k.known = listed
	p.pending = len(p.replaced) > 0 || len(p.missing.waiting) > 0
}

// stepEnd judges the Replace of the step.
func (p *replaceDeletesMissing) stepEnd(w World) *reports.Violation {
	if v := p.missing.stepEnd(w); v != nil {
		return v
	}
	for _, id := range p.replaced {
		k := p.informers.get(id)
		keys := make([]string, 0, len(k.missing))
		for key := range k.missing { // order: sorted below
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			from, n := k.known[key], k.missing[key]
			delete(k.known, key)
			if n == 1 {
				continue
			}
			return &reports.Violation{
				Key: key,
				Message: fmt.Sprintf("informer %s knew %s at rv=%d; the list at rv=%d does not have it, and its Replace queued %d deletions, want 1",
					w.Kernel().ActorName(id), key, from.rv, k.list.rv, n),
				Because: []reports.Evidence{
					{Step: from.step, At: from.at, Text: fmt.Sprintf("%s became known: %s at rv=%d", key, from.how, from.rv)},
					{Step: k.list.step, At: k.list.at, Text: fmt.Sprintf("but a list at rv=%d without it replaced the queue", k.list.rv)},
				},
			}
		}
		k.missing = nil
	}
	p.replaced, p.pending = p.replaced[:0], len(p.missing.waiting) > 0
	return nil
}

// watcherOf returns the informer that a frame was delivered to.
func watcherOf(w World, r *sim.Record) (sim.ActorID, bool) {
	return w.Kernel().Inner(r.Actor)
}

// objectKey returns the key in a record of the server: "default/a" for "pods default/a".
func objectKey(display string) string {
	if _, key, ok := strings.Cut(display, " "); ok {
		return key
	}
	return display
}
