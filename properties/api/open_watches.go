package api

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// watchKinds are the records that openWatches needs.
var watchKinds = []sim.Kind{
	fakeapiserver.KindRequest, fakeapiserver.KindResponse, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, fakeapiserver.KindFault,
	fakeapiserver.KindRestore,
}

// openWatches follows the watches of all clients.
// Once the Store is restored, watch caches may show a history that it no longer has, and nothing is judged.
type openWatches struct {
	byConn   [][]*openWatch
	ended    []*openWatch // those that have ended, whose room is for the next ones
	restored bool
}

// openWatch is a watch that was requested and has not ended.
type openWatch struct {
	id      int64
	plural  string
	asked   *fakeapiserver.Asked
	rv      int64 // of the last event or bookmark, or where it began; 0 if that is unknown
	step    uint64
	at      time.Duration // of what gave it rv
	last    string        // what gave it rv
	initial bool          // it still sends the current state, in the order of keys
	opened  bool
	since   time.Duration // when it was opened
	pos     int           // of the next commit, for WatchReliable
	// selector is what it selects, once WatchFilter has asked for it.
	selector *selector
}

func (o *openWatches) of(id sim.ActorID) *[]*openWatch {
	for int(id) >= len(o.byConn) {
		o.byConn = append(o.byConn, nil)
	}
	return &o.byConn[id]
}

func (o *openWatches) find(r *sim.Record) *openWatch {
	for _, w := range *o.of(r.Actor) {
		if w.id == r.N {
			return w
		}
	}
	return nil
}

func (o *openWatches) drop(r *sim.Record) {
	all := o.of(r.Actor)
	for i, w := range *all {
		if w.id == r.N {
			*all = append((*all)[:i], (*all)[i+1:]...)
			o.ended = append(o.ended, w)
			return
		}
	}
}

// record follows a record. For an event of a watch, except one of the current state with which it begins, it returns the watch as it
// was before the event; reached must be called once the event is judged.
func (o *openWatches) record(w property.World, r *sim.Record) *openWatch {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		if q := asked(r); q != nil && q.Watch && !o.restored {
			o.request(r, q)
		}
	case fakeapiserver.KindResponse:
		if ow := o.find(r); ow != nil {
			ow.opened, ow.since = true, r.At
			if refused(r) {
				o.drop(r)
			}
		}
	case fakeapiserver.KindWatchClosed:
		o.drop(r)
	case fakeapiserver.KindFault:
		if id, known := w.Kernel().ActorByName(r.Key); known && OfBrokenServer(r) {
			*o.of(id) = nil
		}
	case fakeapiserver.KindRestore:
		o.byConn, o.restored = nil, true
	case fakeapiserver.KindFrame:
		ow := o.find(r)
		if ow == nil || r.RV == 0 || r.Detail == string(watch.Error) {
			return nil
		}
		if ow.initial {
			if r.Detail == string(watch.Bookmark) && endsInitialEvents(r.Obj) {
				ow.initial = false
				ow.reached(r)
			}
			return nil
		}
		return ow
	}
	return nil
}

func (o *openWatches) request(r *sim.Record, q *fakeapiserver.Asked) {
	ow := o.room()
	*ow = openWatch{id: r.N, plural: r.Key, asked: q, initial: q.Initial(), step: r.Step, at: r.At, last: "the watch begins"}
	if !ow.initial {
		ow.rv, _ = strconv.ParseInt(q.Options.ResourceVersion, 10, 64)
	}
	all := o.of(r.Actor)
	*all = append(*all, ow)
}

// room returns room for a watch.
func (o *openWatches) room() *openWatch {
	last := len(o.ended) - 1
	if last < 0 {
		return new(openWatch)
	}
	ow := o.ended[last]
	o.ended = o.ended[:last]
	return ow
}

// endsInitialEvents reports whether a bookmark ends the current state with which a watch begins.
func endsInitialEvents(bookmark any) bool {
	m, ok := bookmark.(interface{ GetAnnotations() map[string]string })
	return ok && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

// reached notes an event.
func (ow *openWatch) reached(r *sim.Record) {
	ow.rv, ow.step, ow.at, ow.last = r.RV, r.Step, r.At, r.Detail
}

// violation reports an event of the watch.
func (ow *openWatch) violation(w property.World, r *sim.Record, format string, args ...any) *reports.Violation {
	return &reports.Violation{
		Key:     r.Key,
		Message: fmt.Sprintf("%s, watch %d of %s: ", w.Kernel().ActorName(r.Actor), ow.id, ow.plural) + fmt.Sprintf(format, args...),
		Because: []reports.Evidence{
			{Step: ow.step, At: ow.at, Text: fmt.Sprintf("the watch is at rv=%d: %s", ow.rv, ow.last)},
			reports.Because(r, "and then: %s %s at rv=%d", r.Detail, r.Key, r.RV),
		},
	}
}

// onEvents returns the New of a property of the events of watches.
func onEvents(judge func(w property.World, ow *openWatch, r *sim.Record) *reports.Violation) func() property.Checker {
	return func() property.Checker {
		o := &openWatches{}
		return property.Checker{Record: func(w property.World, r *sim.Record) *reports.Violation {
			ow := o.record(w, r)
			if ow == nil {
				return nil
			}
			v := judge(w, ow, r)
			if v == nil {
				ow.reached(r)
			}
			return v
		}}
	}
}
