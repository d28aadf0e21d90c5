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

// ReplaceDeletesMissing says that a Replace yields exactly one Deleted for every key that was known and is not in the list, keys that only the queue knew included.
var ReplaceDeletesMissing = Property{
	Name:      "ReplaceDeletesMissing",
	Statement: "a Replace yields exactly one Deleted for every key that was known and is not in the list, keys that only the queue knew included",
	Kinds: []sim.Kind{
		fakeapiserver.KindRequest, fakeapiserver.KindFrame, subjects.KindReplace, subjects.KindTombstone, subjects.KindNotify, subjects.KindHandler,
		subjects.KindStopped,
	},
	New: func() Checker {
		p := newReplaceDeletesMissing()
		return Checker{Record: p.record, StepEnd: p.stepEnd}
	},
}

// replaceDeletesMissing follows what each informer was told by the server: the keys of its last list, and the frames since.
// Those that a new list lacks must be deleted, exactly once each, by the Replace that takes the list. Where the queue cannot
// be seen (no subjects.TombstonesVisible), that is judged by what has come of it when the informer has nothing left to do.
type replaceDeletesMissing struct {
	informers byActor[knownKeys]
	replaced  []sim.ActorID // informers with a Replace in this step
	missing   missingKeyTracker
	streaming streamingListTracker
}

type knownKeys struct {
	known map[string]knownFrom
	// The Replace of this step: the keys that it must delete and how often it did.
	missing map[string]int
	visible bool
	list    knownFrom
}

// knownFrom is why a key is known.
type knownFrom struct {
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
	if p.streaming.has(id, r) || r.Key == "" {
		return // the Replace that comes of a list tells what is known; bookmarks and errors tell nothing
	}
	k := p.informers.get(id)
	if k.known == nil {
		k.known = map[string]knownFrom{}
	}
	key := objectKey(r.Key)
	p.missing.changed(id, key)
	if r.Detail == "DELETED" {
		delete(k.known, key)
		return
	}
	k.known[key] = knownFrom{r.Step, r.At, r.RV, r.Detail}
}

func (p *replaceDeletesMissing) replace(r *sim.Record) {
	k := p.informers.get(r.Actor)
	keys, _ := r.Obj.([]string)
	k.list = knownFrom{r.Step, r.At, r.RV, "LISTED"}
	k.visible = r.Detail == subjects.TombstonesVisible
	listed := make(map[string]knownFrom, len(keys))
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
			listed[key] = k.known[key] // kept for the report; dropped at the end of the step
		}
	}
	k.known = listed
}

// stepEnd judges the Replace of the step.
func (p *replaceDeletesMissing) stepEnd(w World) *reports.Violation {
	if v := p.missing.stepEnd(w); v != nil || len(p.replaced) == 0 {
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
				Message: fmt.Sprintf("informer %s knew %s at rv=%d; the list at rv=%d does not have it, and its Replace queued %d deletions of it instead of 1",
					w.Kernel().ActorName(id), key, from.rv, k.list.rv, n),
				Because: []reports.Evidence{
					{Step: from.step, At: from.at, Text: fmt.Sprintf("%s became known: %s at rv=%d", key, from.how, from.rv)},
					{Step: k.list.step, At: k.list.at, Text: fmt.Sprintf("however a list at rv=%d without it replaced the queue", k.list.rv)},
				},
			}
		}
		k.missing = nil
	}
	p.replaced = p.replaced[:0]
	return nil
}

// watcherOf is the informer that a frame was delivered to.
func watcherOf(w World, r *sim.Record) (sim.ActorID, bool) {
	return w.Kernel().ActorByName(strings.TrimPrefix(w.Kernel().ActorName(r.Actor), "conn/"))
}

// objectKey is the key in a record of the server, "pods default/a".
func objectKey(display string) string {
	if _, key, ok := strings.Cut(display, " "); ok {
		return key
	}
	return display
}
