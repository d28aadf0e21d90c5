package properties

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// WorkDrains says that when the faults have stopped, every key was reconciled after its last change.
var WorkDrains = Property{
	Name:      "WorkDrains",
	Statement: "when the faults have stopped, every key was reconciled after its last change",
	Kinds:     []sim.Kind{subjects.KindWorkers, subjects.KindNotify, subjects.KindReconcile, subjects.KindReconciled},
	New: func() Checker {
		p := newWorkDrains()
		return Checker{Record: p.record, End: p.end}
	},
}

// workDrains: when the faults have stopped, every key was reconciled, with success or until it was given up, after the
// workers' handler was told of it for the last time.
type workDrains struct {
	pools    []*workPool
	byName   map[string]*workPool
	handlers map[string]*workPool
}

// workPool is the work of a controller's workers.
type workPool struct {
	name     string
	informer string
	started  bool
	stopping bool
	keys     []string // in the order in which they came up
	work     map[string]*work
}

// work is the last change of a key and its reconciles: it is done if the reconcile that has succeeded last began after the last call.
type work struct{ told, began, done knownFrom }

func newWorkDrains() *workDrains {
	return &workDrains{byName: map[string]*workPool{}, handlers: map[string]*workPool{}}
}

func (p *workDrains) record(w World, r *sim.Record) *reports.Violation {
	if r.Kind == subjects.KindNotify {
		if len(p.pools) > 0 {
			if pool := p.handlers[w.Kernel().ActorName(r.Actor)]; pool != nil {
				pool.of(r.Key).told = knownFrom{r.Step, r.At, r.RV, r.Detail}
			}
		}
		return nil
	}
	name, _, _ := strings.Cut(w.Kernel().ActorName(r.Actor), "/")
	if r.Kind == subjects.KindWorkers {
		p.workers(name, r)
		return nil
	}
	k := p.byName[name].of(r.Key)
	switch {
	case r.Kind == subjects.KindReconcile:
		k.began = knownFrom{r.Step, r.At, r.RV, ""}
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

func (p *workPool) of(key string) *work {
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
			continue // what they leave behind is lost (I97)
		case !pool.started && !running(w, pool.informer):
			continue // it was stopped before it had told them everything that they wait for
		}
		for _, key := range pool.keys {
			if k := pool.work[key]; k.told.step > k.done.step {
				return pool.left(w, key, k)
			}
		}
	}
	return nil
}

func (p *workPool) left(w World, key string, k *work) *reports.Violation {
	v := &reports.Violation{
		Key:     key,
		Message: fmt.Sprintf("the workers %s were told of %s (%s, rv=%d), and no reconcile of it that began later has succeeded", p.name, key, k.told.how, k.told.rv),
		Because: []reports.Evidence{{Step: k.told.step, At: k.told.at, Text: fmt.Sprintf("their handler was told of %s", key)}},
	}
	however := "however nothing is left to do for the workers"
	switch {
	case !p.started:
		however = "however the workers have not begun: they wait for their handler, which has not synced"
	case k.began.step > k.told.step:
		v.Because = append(v.Because, reports.Evidence{Step: k.began.step, At: k.began.at, Text: fmt.Sprintf("a reconcile of %s began, the last one, and failed", key)})
	case k.done.step > 0:
		v.Because = append(v.Because, reports.Evidence{Step: k.done.step, At: k.done.at, Text: fmt.Sprintf("the last reconcile of %s had begun before", key)})
	}
	v.Because = append(v.Because, reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: however})
	return v
}

// running tells whether an informer was not stopped.
func running(w World, name string) bool {
	return slices.ContainsFunc(w.Informers(), func(inf subjects.Informer) bool { return inf.Name() == name })
}
