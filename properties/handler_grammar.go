package properties

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// HandlerGrammar checks that a handler's calls for a key follow the grammar add (update)* delete, repeated.
var HandlerGrammar = Property{
	Name:      "HandlerGrammar",
	Statement: "per handler and key: add (update)* delete, repeated; the old object of an update is the new one of the previous call",
	Kinds:     []sim.Kind{subjects.KindNotify, subjects.KindHandler, fakeapiserver.KindRequest, fakeapiserver.KindFrame},
	New: func() Checker {
		p := newHandlerGrammar()
		return Checker{Record: p.record}
	},
}

// handlerGrammar follows what each handler holds according to its notifications. An update whose objects have different uids
// stands for a deletion and a creation that went unseen (I69): it is wrong if the watch did deliver the deletion.
type handlerGrammar struct {
	handlers  byActor[heldBy]
	deletions byActor[deletedKeys] // by informer
	streaming streamingListTracker
}

// deletedKeys holds the revision of each key's last DELETED frame.
type deletedKeys struct{ rv map[string]int64 }

type heldBy struct{ held map[string]heldObject }

type heldObject struct {
	obj  any
	uid  string
	step uint64
	at   time.Duration
	rv   int64
}

func newHandlerGrammar() *handlerGrammar { return &handlerGrammar{} }

func (p *handlerGrammar) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		p.streaming.request(w, r)
		return nil
	case fakeapiserver.KindFrame:
		p.frame(w, r)
		return nil
	case subjects.KindHandler:
		if r.Detail == "added" { // one that was removed may still be called once (see NothingAfterRemove)
			*p.handlers.get(r.Actor) = heldBy{}
		}
		return nil
	}
	h := p.handlers.get(r.Actor)
	if h.held == nil {
		h.held = map[string]heldObject{}
	}
	cur, known := h.held[r.Key]
	switch r.Detail {
	case subjects.NotifyAdd, subjects.NotifyAddInitial:
		if known {
			return p.broken(w, r, cur, "was notified of an add of %s, but already has it at rv=%d", r.Key, cur.rv)
		}
	case subjects.NotifyDelete, subjects.NotifyUnknown:
		if !known {
			return p.broken(w, r, cur, "was notified of a deletion of %s, but does not have it", r.Key)
		}
		delete(h.held, r.Key)
		return nil
	default:
		if v := p.update(w, r, cur, known); v != nil {
			return v
		}
	}
	h.held[r.Key] = heldObject{obj: r.Obj, uid: uidOf(r.Obj), step: r.Step, at: r.At, rv: r.RV}
	return nil
}

func (p *handlerGrammar) update(w World, r *sim.Record, cur heldObject, known bool) *reports.Violation {
	switch {
	case !known:
		return p.broken(w, r, cur, "was notified of an update of %s, but does not have it", r.Key)
	case r.Old != cur.obj && r.N != cur.rv:
		return p.broken(w, r, cur, "was notified of an update of %s from rv=%d, but has it at rv=%d", r.Key, r.N, cur.rv)
	case r.RV != r.N && uidOf(r.Obj) != cur.uid:
		if d := p.deletedAt(w, r); d > cur.rv && d < r.RV {
			return p.broken(w, r, cur, "was notified of an update of %s to an object with another uid (%s, was %s), although the watch delivered the deletion in between, at rv=%d", r.Key, uidOf(r.Obj), cur.uid, d)
		}
	}
	return nil
}

// frame notes the deletions that a watch delivers. Those within a streaming list vanish in the list, and one of an object for which the transform fails
// is lost (I112).
func (p *handlerGrammar) frame(w World, r *sim.Record) {
	id, ok := watcherOf(w, r)
	if !ok || p.streaming.contains(id, r) || r.Detail != "DELETED" || lost(w, id, r) {
		return
	}
	d := p.deletions.get(id)
	if d.rv == nil {
		d.rv = map[string]int64{}
	}
	d.rv[objectKey(r.Key)] = r.RV
}

// deletedAt returns the revision of the key's last deletion that a watch delivered to the handler's informer; 0 for none.
func (p *handlerGrammar) deletedAt(w World, r *sim.Record) int64 {
	id, ok := w.Kernel().Owner(r.Actor)
	if !ok {
		return 0
	}
	return p.deletions.get(id).rv[r.Key]
}

func (p *handlerGrammar) broken(w World, r *sim.Record, cur heldObject, format string, args ...any) *reports.Violation {
	v := &reports.Violation{Key: r.Key, Message: fmt.Sprintf("handler %s %s", w.Kernel().ActorName(r.Actor), fmt.Sprintf(format, args...))}
	if cur.step != 0 {
		v.Because = append(v.Because, reports.Evidence{Step: cur.step, At: cur.at, Text: fmt.Sprintf("it was notified of %s at rv=%d", r.Key, cur.rv)})
	}
	v.Because = append(v.Because, reports.Because(r, "but it was notified: %s", scenarios.NotificationText(r)))
	return v
}

func uidOf(obj any) string {
	if m, ok := obj.(interface{ GetUID() types.UID }); ok {
		return string(m.GetUID())
	}
	return ""
}
