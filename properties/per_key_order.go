package properties

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// PerKeyOrder checks that handlers never see a key go back in time.
var PerKeyOrder = Property{
	Name:      "PerKeyOrder",
	Statement: "per handler and key, resourceVersions never go backwards",
	Kinds:     []sim.Kind{subjects.KindNotify, subjects.KindHandler, subjects.KindReplace, subjects.KindRefused, fakeapiserver.KindRestore},
	New: func() Checker {
		p := newPerKeyOrder()
		return Checker{Record: p.record}
	},
}

// perKeyOrder remembers, per handler and key, the newest resourceVersion that the handler was notified of, deletions included.
// Once the store has been restored to the past, handlers may go back too, at any later time: nothing is judged from then on. Nor is anything of an
// informer whose transform has failed for a list: its queue keeps what came before in that list, of which its reflector knows nothing, and so takes an older
// one next (I112).
type perKeyOrder struct {
	handlers byActor[newestByKey]
	restored bool
	refused  byActor[bool]        // by informer: its transform has failed for a list
	replaces byActor[lastReplace] // by informer: evidence if the list is to blame
}

type newestByKey struct{ last map[string]notification }

type notification struct {
	rv     int64
	step   uint64
	at     time.Duration
	detail string
}

func newPerKeyOrder() *perKeyOrder { return &perKeyOrder{} }

// lastReplace is the last Replace of an informer.
type lastReplace struct {
	seen bool
	step uint64
	at   time.Duration
	rv   int64
}

func (p *perKeyOrder) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRestore:
		p.restored = true
		return nil
	case subjects.KindReplace:
		*p.replaces.get(r.Actor) = lastReplace{true, r.Step, r.At, r.RV}
		return nil
	case subjects.KindRefused:
		*p.refused.get(r.Actor) = *p.refused.get(r.Actor) || r.Key == ""
		return nil
	case subjects.KindHandler:
		if r.Detail == "added" { // one that was removed may still be called once (see NothingAfterRemove)
			*p.handlers.get(r.Actor) = newestByKey{}
		}
		return nil
	}
	if p.restored {
		return nil
	}
	h := p.handlers.get(r.Actor)
	if h.last == nil {
		h.last = map[string]notification{}
	}
	before := h.last[r.Key]
	if r.RV >= before.rv {
		h.last[r.Key] = notification{r.RV, r.Step, r.At, r.Detail}
		return nil
	}
	informer, known := w.Kernel().Owner(r.Actor)
	if known && *p.refused.get(informer) {
		return nil
	}
	// This includes tombstones: an unseen deletion carries the last known state, never an older one.
	v := &reports.Violation{
		Key: r.Key,
		Message: fmt.Sprintf("handler %s was notified: %s of %s at rv=%d, after rv=%d",
			w.Kernel().ActorName(r.Actor), r.Detail, r.Key, r.RV, before.rv),
		Because: []reports.Evidence{{Step: before.step, At: before.at, Text: fmt.Sprintf("the handler was notified: %s at rv=%d", before.detail, before.rv)}},
	}
	if known {
		if a := p.replaces.get(informer); a.seen && a.rv < before.rv && a.step > before.step {
			v.Because = append(v.Because, reports.Evidence{Step: a.step, At: a.at, Text: fmt.Sprintf("but a list at rv=%d, older than that, replaced the queue", a.rv)})
		}
	}
	v.Because = append(v.Because, reports.Because(r, "the handler was notified: %s at rv=%d", r.Detail, r.RV))
	return v
}
