package properties

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// PerKeyOrder says that per handler and key, resourceVersions never go back.
var PerKeyOrder = Property{
	Name:      "PerKeyOrder",
	Statement: "per handler and key, resourceVersions never go back",
	Kinds:     []sim.Kind{subjects.KindNotify, subjects.KindHandler, subjects.KindReplace, fakeapiserver.KindRestore},
	New: func() Checker {
		p := newPerKeyOrder()
		return Checker{Record: p.record}
	},
}

// perKeyOrder remembers, per handler and key, the newest resourceVersion that the handler was told, deletions included.
// Once the store was restored to the past, time may go back for handlers too, at any later time: nothing is judged then.
type perKeyOrder struct {
	handlers byActor[orderOf]
	restored bool
	answers  byActor[answer] // by connection: the last list, to name the request that went back
}

type orderOf struct{ last map[string]told }

type told struct {
	rv     int64
	step   uint64
	at     time.Duration
	detail string
}

func newPerKeyOrder() *perKeyOrder { return &perKeyOrder{} }

// answer is the last Replace of an informer.
type answer struct {
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
		*p.answers.get(r.Actor) = answer{true, r.Step, r.At, r.RV}
		return nil
	case subjects.KindHandler:
		*p.handlers.get(r.Actor) = orderOf{}
		return nil
	}
	if p.restored {
		return nil
	}
	h := p.handlers.get(r.Actor)
	if h.last == nil {
		h.last = map[string]told{}
	}
	before := h.last[r.Key]
	if r.RV >= before.rv {
		h.last[r.Key] = told{r.RV, r.Step, r.At, r.Detail}
		return nil
	}
	// The last state of a deleted object that nobody saw go is what was known of it, never older.
	v := &reports.Violation{
		Key: r.Key,
		Message: fmt.Sprintf("handler %s was told %s of %s at rv=%d after it had been told rv=%d",
			w.Kernel().ActorName(r.Actor), r.Detail, r.Key, r.RV, before.rv),
		Because: []reports.Evidence{{Step: before.step, At: before.at, Text: fmt.Sprintf("the handler was told %s at rv=%d", before.detail, before.rv)}},
	}
	if id, ok := w.Kernel().ActorByName(informerOf(w.Kernel().ActorName(r.Actor))); ok {
		if a := p.answers.get(id); a.seen && a.rv < before.rv && a.step > before.step {
			v.Because = append(v.Because, reports.Evidence{Step: a.step, At: a.at, Text: fmt.Sprintf("however a list at rv=%d, older than what had been seen, replaced the queue", a.rv)})
		}
	}
	v.Because = append(v.Because, reports.Because(r, "the handler was told %s at rv=%d", r.Detail, r.RV))
	return v
}
