package properties

import (
	"fmt"
	"maps"
	"slices"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

// updatesOfNothing follows, for ResyncTellsAll, the updates whose old and new state have one resourceVersion, of informers without a check
// period: a list brings them that finds an object unchanged. Handlers that are syncing are told of these, and all are from when they are
// added until the first check (I75, I76), which never comes there. So from one time at which such an informer is idle to the next, all of its
// handlers are told of the same ones, whenever they were added.
type updatesOfNothing struct {
	informers byActor[toldOfNothing]
	open      []sim.ActorID // informers that were not idle, or have new handlers, since they were last judged
}

// toldOfNothing is that of one informer.
type toldOfNothing struct {
	open  bool
	mixed bool // a handler has come or gone, so what the others were told before need not have been for it
	count map[toldKey]int
	last  map[string]sim.Record // by key: the last one, without its objects
}

func (p *updatesOfNothing) get(id sim.ActorID) *toldOfNothing {
	t := p.informers.get(id)
	if !t.open {
		t.open = true
		p.open = append(p.open, id)
	}
	return t
}

// handlers notes that a handler was added or removed.
func (p *updatesOfNothing) handlers(id sim.ActorID, s *resyncSchedule) {
	if s.check == 0 {
		p.get(id).mixed = true
	}
}

func (p *updatesOfNothing) told(id sim.ActorID, s *resyncSchedule, r *sim.Record) {
	if s.check != 0 {
		return
	}
	t := p.get(id)
	if t.mixed {
		return
	}
	if t.count == nil {
		t.count, t.last = map[toldKey]int{}, map[string]sim.Record{}
	}
	t.count[toldKey{r.Actor, r.Key}]++
	t.last[r.Key] = bare(r)
}

func (p *updatesOfNothing) forget(id sim.ActorID) {
	*p.informers.get(id) = toldOfNothing{}
	p.open = slices.DeleteFunc(p.open, func(x sim.ActorID) bool { return x == id })
}

func (p *updatesOfNothing) stepEnd(w World, schedules *resyncSchedules) *reports.Violation {
	for n := 0; n < len(p.open); n++ {
		id := p.open[n]
		inf := w.InformerOf(id)
		if inf != nil && inf.Busy() {
			continue
		}
		t := *p.informers.get(id)
		p.forget(id)
		n--
		if s := schedules.informers.get(id); inf != nil && !t.mixed && s.check == 0 {
			if v := t.judge(w, s.handlers); v != nil {
				return v
			}
		}
	}
	return nil
}

// judge compares what the handlers were told.
func (t *toldOfNothing) judge(w World, handlers []sim.ActorID) *reports.Violation {
	for _, key := range slices.Sorted(maps.Keys(t.last)) {
		for _, h := range handlers {
			first, last := handlers[0], t.last[key]
			if a, b := t.count[toldKey{first, key}], t.count[toldKey{h, key}]; a != b {
				return &reports.Violation{
					Key: key,
					Message: fmt.Sprintf("handlers %s and %s are both syncing, as their informer is never resynced, but of %s, which a list found unchanged, one was told %d times and the other %d",
						w.Kernel().ActorName(first), w.Kernel().ActorName(h), key, a, b),
					Because: []reports.Evidence{
						reports.Because(&last, "%s was told: %s", w.Kernel().ActorName(last.Actor), scenarios.NotificationText(&last)),
						{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "and now the informer is idle"},
					},
				}
			}
		}
	}
	return nil
}
