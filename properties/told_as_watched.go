package properties

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"k8s.io/apimachinery/pkg/watch"
)

// ToldAsWatched checks that handlers are told what watches bring, as they bring it.
var ToldAsWatched = Property{
	Name: "ToldAsWatched",
	Statement: "what a watch brings, a handler is told in the order of the watch, whatever the key, unless the queue goes by key; " +
		"and of a deletion that it brings, with the final state",
	Kinds: []sim.Kind{
		fakeapiserver.KindRequest, fakeapiserver.KindFrame, subjects.KindReplace, subjects.KindNotify, subjects.KindHandler, subjects.KindStopped,
	},
	New: func() Checker {
		p := &toldAsWatched{}
		return Checker{Record: p.record}
	},
}

// toldAsWatched numbers the frames that each informer gets. What streaming lists and lists bring has no order (I52).
type toldAsWatched struct {
	informers byActor[watchedFrames]
	handlers  byActor[toldFrames]
	streaming streamingListTracker
}

// version is a state of an object.
type version struct {
	key string
	rv  int64
}

// watchedFrames are an informer's frames.
type watchedFrames struct {
	n       uint64                      // how many there were
	numbers map[version]uint64          // of each frame; 0 for a version that came twice
	listed  map[string]uint64           // by key: how many frames there were when a list had it
	deleted map[string]reports.Evidence // by key: the last DELETED
	final   map[string]int64            // by key: the resourceVersion of that
}

// toldFrames are what a handler was told of its informer's frames.
type toldFrames struct {
	informer sim.ActorID
	ordered  bool       // its informer's queue keeps the order
	last     uint64     // the number of the latest frame that it was told of
	because  sim.Record // of that
}

func (p *toldAsWatched) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		p.streaming.request(w, r)
	case fakeapiserver.KindFrame:
		p.frame(w, r)
	case subjects.KindReplace:
		p.informers.get(r.Actor).replaced(r)
	case subjects.KindStopped:
		*p.informers.get(r.Actor) = watchedFrames{}
	case subjects.KindHandler:
		p.handler(w, r)
	case subjects.KindNotify:
		return p.told(w, r)
	}
	return nil
}

func (p *toldAsWatched) handler(w World, r *sim.Record) {
	added, ok := r.Obj.(subjects.HandlerAdded)
	if !ok {
		return
	}
	id, _ := w.Kernel().Owner(r.Actor)
	*p.handlers.get(r.Actor) = toldFrames{informer: id, ordered: added.Queue == subjects.QueueInOrder || added.Queue == subjects.QueueAtomic}
}

func (p *toldAsWatched) frame(w World, r *sim.Record) {
	id, ok := watcherOf(w, r)
	if !ok || p.streaming.contains(id, r) || r.Key == "" || lost(w, id, r) {
		return // a streaming list counts when its Replace comes; bookmarks and errors have no key
	}
	f := p.informers.get(id)
	if f.numbers == nil {
		f.numbers, f.deleted, f.final = map[version]uint64{}, map[string]reports.Evidence{}, map[string]int64{}
	}
	f.n++
	v := version{objectKey(r.Key), r.RV}
	if _, again := f.numbers[v]; again {
		f.numbers[v] = 0 // which of the two a handler is told of cannot be seen
	} else {
		f.numbers[v] = f.n
	}
	if r.Detail == string(watch.Deleted) {
		f.deleted[v.key], f.final[v.key] = reports.Because(r, "the watch brought its deletion at rv=%d", r.RV), r.RV
	}
}

// replaced notes the keys of a list: a handler that is told of one of them may be told because of the list.
func (f *watchedFrames) replaced(r *sim.Record) {
	keys, _ := r.Obj.([]string)
	if f.listed == nil {
		f.listed = map[string]uint64{}
	}
	for _, key := range keys {
		f.listed[key] = f.n
	}
}

func (p *toldAsWatched) told(w World, r *sim.Record) *reports.Violation {
	h := p.handlers.get(r.Actor)
	f := p.informers.get(h.informer)
	switch r.Detail {
	case subjects.NotifyAddInitial, subjects.NotifySync:
		return nil
	case subjects.NotifyUnknown:
		if rv := f.final[r.Key]; rv != 0 && rv == r.RV {
			return &reports.Violation{
				Key:     r.Key,
				Message: fmt.Sprintf("handler %s was told that %s was deleted with its final state unknown, but the watch had brought that", w.Kernel().ActorName(r.Actor), r.Key),
				Because: []reports.Evidence{f.deleted[r.Key], reports.Because(r, "but %s", scenarios.NotificationText(r))},
			}
		}
		return nil
	}
	n := f.numbers[version{r.Key, r.RV}]
	if !h.ordered || n == 0 || f.listed[r.Key] >= n {
		return nil
	}
	if n < h.last {
		return &reports.Violation{
			Key:     r.Key,
			Message: fmt.Sprintf("handler %s was told of %s at rv=%d after what the watch had brought later", w.Kernel().ActorName(r.Actor), r.Key, r.RV),
			Because: []reports.Evidence{reports.Because(&h.because, "it was told: %s", scenarios.NotificationText(&h.because)), reports.Because(r, "but then it was told: %s", scenarios.NotificationText(r))},
		}
	}
	h.last, h.because = n, bare(r)
	return nil
}
