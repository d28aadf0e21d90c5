package differential

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// point holds the observations since the previous quiescent point.
type point struct {
	command string
	at      time.Duration
	// topics holds the observed lines. The lines of a topic are compared as a sequence, and a difference is reported by topic.
	topics map[string][]string
	order  []string // the topics, in order of appearance
}

func (p *point) line(topic, format string, args ...any) {
	if p.topics == nil {
		p.topics = map[string][]string{}
	}
	if _, ok := p.topics[topic]; !ok {
		p.order = append(p.order, topic)
	}
	p.topics[topic] = append(p.topics[topic], fmt.Sprintf(format, args...))
}

// takenBefore marks the first call of a handler after its removal, if the call before it has panicked.
const takenBefore = ", taken before the removal"

// observation is the part of a run that is compared.
type observation struct {
	k      *sim.Kernel
	points []point
	now    point
	broken *reports.Violation    // what ended the run early, nil if it came to its end
	began  map[sim.ActorID]int64 // by worker: the revision of its reconcile in flight

	crashed, removed map[sim.ActorID]bool // handlers whose last call has panicked, and those that are removed

	silent, flagless bool // handlers do not say when they have synced, or which additions are of the initial list
}

// observe runs a scenario on one subject. What one that lacks something cannot say is left out.
func observe(ctx context.Context, s *scenarios.Scenario, kind subjects.Kind, seed uint64, lacks map[subjects.Feature]string) (*observation, error) {
	o := &observation{began: map[sim.ActorID]int64{}, crashed: map[sim.ActorID]bool{}, removed: map[sim.ActorID]bool{}}
	_, o.silent = lacks[subjects.HandlerSync]
	_, o.flagless = lacks[subjects.InitialFlags]
	res, err := scenarios.Run(ctx, s, scenarios.Options{
		Properties: []property.Property{properties.NoLivelock},
		Subject:    kind, Seed: seed, Strategy: "fifo", WorkersLast: true,
		Observe: func(w *scenarios.World) []sim.Observer {
			o.k = w.Kernel()
			return []sim.Observer{o}
		},
		Settled: o.settled,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Name, err)
	}
	o.broken = res.Violation
	return o, nil
}

// Record implements sim.Observer.
func (o *observation) Record(r *sim.Record) {
	actor := o.k.ActorName(r.Actor)
	switch r.Kind {
	case fakeapiserver.KindRequest:
		o.now.line("requests of "+strings.TrimPrefix(actor, "conn/"), "%v %s", r.At, r.Detail)
	case subjects.KindNotify:
		told := *r
		if o.flagless && told.Detail == subjects.NotifyAddInitial {
			told.Detail = subjects.NotifyAdd
		}
		late := ""
		if o.crashed[r.Actor] && o.removed[r.Actor] {
			late = takenBefore
		}
		o.crashed[r.Actor] = false
		o.now.line("handler "+actor+" about "+r.Key, "%s%s", scenarios.NotificationText(&told), late)
	case subjects.KindHandler:
		o.removed[r.Actor] = r.Detail == "removed"
	case subjects.KindSynced:
		if !o.silent || !strings.Contains(actor, "/") {
			o.now.line("synced", "%s", actor)
		}
	case subjects.KindPanic:
		o.crashed[r.Actor] = true
		o.now.line("handler "+actor+" about "+r.Key, "panics") // without the time, which depends on the order of keys
	case subjects.KindWorkers:
		o.now.line("workers "+actor, "%v %s", r.At, r.Detail)
	case subjects.KindReady:
		o.now.line("work of "+actor+" about "+r.Key, "%v ready", r.At)
	case subjects.KindReconcile:
		o.began[r.Actor] = r.RV
		o.now.line("work of "+poolOf(actor)+" about "+r.Key, "%v begins rv=%d", r.At, r.RV)
	case subjects.KindReconciled:
		o.now.line("work of "+poolOf(actor)+" about "+r.Key, "%v %s", r.At, scenarios.ReconcileText(r, o.began[r.Actor]))
	}
}

// poolOf returns the part of a worker's name that all workers of its controller share: which one does the work is not compared.
func poolOf(worker string) string {
	name, _, _ := strings.Cut(worker, "/")
	return name
}

// StepEnd implements sim.Observer.
func (*observation) StepEnd(*sim.StepInfo) {}

// settled ends a point, with what every informer holds.
func (o *observation) settled(w *scenarios.World, command string) {
	o.now.command, o.now.at = command, w.Kernel().Elapsed()
	for _, inf := range w.Informers() {
		topic := "Indexer of " + inf.Name()
		for _, key := range inf.Keys() {
			obj, ok := inf.Get(key)
			if !ok {
				o.now.line(topic, "%s is listed but not found", key)
				continue
			}
			rv := ""
			if m, err := meta.Accessor(obj); err == nil {
				rv = m.GetResourceVersion()
			}
			o.now.line(topic, "%s rv=%s", key, rv)
		}
		o.now.line("state of "+inf.Name(), "synced=%v busy=%v rv=%s store rv=%s", inf.HasSynced(), inf.Busy(), inf.LastSyncResourceVersion(), inf.StoreResourceVersion())
	}
	for _, ws := range w.Workers() {
		o.now.line("state of "+ws.Spec().Name, "busy=%v queued=%d", ws.Busy(), ws.Queued())
	}
	o.points = append(o.points, o.now)
	o.now = point{}
}
