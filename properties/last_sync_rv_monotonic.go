package properties

import (
	"fmt"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// LastSyncRVMonotonic checks that a reflector never goes back in time.
var LastSyncRVMonotonic = Property{
	Name:      "LastSyncRVMonotonic",
	Statement: "an informer's LastSyncResourceVersion never goes backwards",
	Kinds:     []sim.Kind{subjects.KindReplace, fakeapiserver.KindFrame, fakeapiserver.KindRestore},
	New: func() Checker {
		p := &lastSyncRVMonotonic{}
		return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending}
	},
}

// lastSyncRVMonotonic reads the resourceVersion after each step that may have changed it: a list, or a frame of a watch. Once the
// store has been restored to the past, nothing is judged any more.
type lastSyncRVMonotonic struct {
	informers byActor[lastSync]
	changed   []sim.ActorID
	pending   bool // there are some
	restored  bool
}

// lastSync is where an informer was last seen.
type lastSync struct {
	rv   int64
	step uint64
	at   time.Duration
	list lastReplace
}

func (p *lastSyncRVMonotonic) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRestore:
		p.restored = true
	case subjects.KindReplace:
		p.informers.get(r.Actor).list = lastReplace{true, r.Step, r.At, r.RV}
		p.changed, p.pending = append(p.changed, r.Actor), true
	default:
		if id, ok := watcherOf(w, r); ok {
			p.changed, p.pending = append(p.changed, id), true
		}
	}
	return nil
}

func (p *lastSyncRVMonotonic) stepEnd(w World) *reports.Violation {
	for _, id := range p.changed {
		inf := w.InformerOf(id)
		if inf == nil || p.restored {
			continue
		}
		i, rv := p.informers.get(id), subjects.ParseRevision(inf.LastSyncResourceVersion())
		if rv < i.rv {
			return i.wentBack(w, inf, rv)
		}
		if rv > i.rv {
			i.rv, i.step, i.at = rv, w.Kernel().Steps(), w.Kernel().Elapsed()
		}
	}
	p.changed, p.pending = p.changed[:0], false
	return nil
}

func (i *lastSync) wentBack(w World, inf subjects.Informer, rv int64) *reports.Violation {
	now, why := w.Kernel().Steps(), "but a frame of its watch took it back"
	if i.list.seen && i.list.step == now {
		why = fmt.Sprintf("but a list at rv=%d, older than that, replaced the queue", i.list.rv)
	}
	return &reports.Violation{
		Message: fmt.Sprintf("LastSyncResourceVersion of informer %s went back from %d to %d", inf.Name(), i.rv, rv),
		Because: []reports.Evidence{
			{Step: i.step, At: i.at, Text: fmt.Sprintf("informer %s had seen rv=%d", inf.Name(), i.rv)},
			{Step: now, At: w.Kernel().Elapsed(), Text: why},
		},
	}
}
