package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// WorkDrains checks that no change is left without a reconcile.
var WorkDrains = Property{
	Name:      "WorkDrains",
	Statement: "once the faults stop, every key is eventually reconciled after its last change",
	Kinds:     []sim.Kind{subjects.KindWorkers, subjects.KindNotify, subjects.KindReconcile, subjects.KindReconciled},
	New: func() Checker {
		p := newWorkDrains()
		return Checker{Record: p.record, End: p.end}
	},
}

// workDrains requires that every key's last reconcile, which succeeded or gave the key up, began after the last notification of
// the workers' handler.
type workDrains struct {
	pools    []*workPool
	byName   map[string]*workPool
	handlers map[string]*workPool
}

// workPool follows the workers of a controller.
type workPool struct {
	name     string
	informer string
	started  bool
	stopping bool
	keys     []string // in order of appearance
	work     map[string]*work
}

// work is the last change of a key, the start of its last reconcile, and the start of the last one that finished the key. The key
// is done if that came after the change.
type work struct{ changed, began, done origin }

func newWorkDrains() *workDrains {
	return &workDrains{byName: map[string]*workPool{}, handlers: map[string]*workPool{}}
}

func (p *workDrains) record(w World, r *sim.Record) *reports.Violation {
	if r.Kind == subjects.KindNotify {
		if len(p.pools) > 0 {
			if pool := p.handlers[w.Kernel().ActorName(r.Actor)]; pool != nil {
				pool.workOn(r.Key).changed = origin{r.Step, r.At, r.RV, r.Detail}
			}
		}
		return nil
	}
	name, _, _ := strings.Cut(w.Kernel().ActorName(r.Actor), "/")
	if r.Kind == subjects.KindWorkers {
		p.workers(name, r)
		return nil
	}
	k := p.byName[name].workOn(r.Key)
	switch {
	case r.Kind == subjects.KindReconcile:
		k.began = origin{r.Step, r.At, r.RV, ""}
	case r.Detail == subjects.ReconcileOK || r.Detail == subjects.ReconcileFailedForGood || r.Detail == subjects.ReconcilePanickedForGood:
		k.done = k.began
	}
	return nil
}

func (p *workDrains) workers(name string, r *sim.Record) {
	switch r.Detail {
	case subjects.WorkersAdded:
		pool := &workPool{name: name, informer: informerOf(r.Key), work: map[string]*work{}}
		p.pools = append(p.pools, pool)
		p.byName[name], p.handlers[r.Key] = pool, pool
	case subjects.WorkersStarted:
		p.byName[name].started = true
	case subjects.WorkersStopping:
		p.byName[name].stopping = true
	}
}

func (p *workPool) workOn(key string) *work {
	k := p.work[key]
	if k == nil {
		k = &work{}
		p.work[key] = k
		p.keys = append(p.keys, key)
	}
	return k
}

func (p *workDrains) end(w World) *reports.Violation {
	for _, pool := range p.pools {
		switch {
		case pool.stopping:
			continue // the keys that they leave behind are lost (I97)
		case !pool.started && !syncing(w, pool.informer):
			continue
		}
		for _, key := range pool.keys {
			if k := pool.work[key]; k.changed.step > k.done.step {
				return pool.undone(w, key, k)
			}
		}
	}
	return nil
}

func (p *workPool) undone(w World, key string, k *work) *reports.Violation {
	v := &reports.Violation{
		Key:     key,
		Message: fmt.Sprintf("the handler of the workers %s was notified of %s (%s, rv=%d), but no reconcile that began later succeeded", p.name, key, k.changed.how, k.changed.rv),
		Because: []reports.Evidence{{Step: k.changed.step, At: k.changed.at, Text: fmt.Sprintf("the workers' handler was notified of %s", key)}},
	}
	but := "but the workers are idle"
	switch {
	case !p.started:
		but = "but the workers have not started: they wait for their handler, which has not synced"
	case k.began.step > k.changed.step:
		v.Because = append(v.Because, reports.Evidence{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("the last reconcile of %s began, and failed", key)})
	case k.done.step > 0:
		v.Because = append(v.Because, reports.Evidence{Step: k.done.step, At: k.done.at, Text: fmt.Sprintf("the last reconcile of %s began earlier", key)})
	}
	v.Because = append(v.Because, reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: but})
	return v
}

// syncing reports whether the handlers of an informer can be expected to sync: it has not been stopped, and its own transform does not keep it from taking a
// list (I112).
func syncing(w World, name string) bool {
	return slices.ContainsFunc(w.Informers(), func(inf subjects.Informer) bool {
		return inf.Name() == name && (inf.HasSynced() || !refusesList(w, inf))
	})
}
