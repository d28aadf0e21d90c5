package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// Kinds of records of the reconciles that a test tells of. They are named like those of a scenario's workers, and so is their actor: "web/0". Key
// is the object's. RV is unknownRV, since nobody knows what the controller's cache has. Detail of the second is "ok" or the error, N nanoseconds
// until the object is reconciled again, -1 if that is not known. The third is the reconcile's, too: it follows the record of a request that the reconcile
// sends, whose number is N, and whose client is Detail.
var (
	kindReconcile  = sim.RegisterKind("reconcile", sim.ClassRecord)
	kindReconciled = sim.RegisterKind("reconciled", sim.ClassRecord)
	kindSends      = sim.RegisterKind("sends", sim.ClassRecord)
)

// unknownRV is no revision of any object.
const unknownRV = -1

// reconciles are what the test's process has told of its controllers' reconciles.
type reconciles struct {
	w    *world
	told []reconcile // since the last step
	busy map[int64]*reconciler
	all  map[string][]*reconciler // by controller
}

// reconcile is the begin or the end of one.
type reconcile struct {
	id         int64
	controller string
	key        string

	ended   bool
	outcome string
	retry   time.Duration
}

// reconciler stands for a goroutine of a controller: how many there are is not known, so there are as many as reconcile at the same time. It is an
// actor for the sake of its name.
type reconciler struct {
	name string
	id   sim.ActorID
	key  string // "" while it is idle
}

// Name implements sim.Actor.
func (r *reconciler) Name() string { return r.name }

// Apply implements sim.Actor. Nothing is ever offered for it.
func (r *reconciler) Apply(sim.Choice) {}

func newReconciles(w *world) *reconciles {
	return &reconciles{w: w, busy: map[int64]*reconciler{}, all: map[string][]*reconciler{}}
}

// event takes in what the test's process says.
func (r *reconciles) event(m *wire.Message) {
	x := reconcile{id: m.Num(), controller: m.Text(), ended: m.Flag()}
	if x.ended {
		x.outcome, x.retry = m.Text(), m.Duration()
	} else {
		group, kind, key := m.Text(), m.Text(), m.Text()
		x.key = r.keyOf(group, kind, key)
	}
	r.told = append(r.told, x)
}

// keyOf returns an object's key as the Store has it. Without a kind, that is the key.
func (r *reconciles) keyOf(group, kind, key string) string {
	if kind == "" {
		return key
	}
	plurals := map[string]bool{}
	for _, served := range r.w.mapper.registry.All() {
		if served.Group == group && served.Kind == kind {
			return served.Plural + " " + key
		}
		if group == "" && strings.EqualFold(served.Kind, kind) { // a logger of the program's own says no group, and "rayCluster"
			plurals[served.Plural] = true
		}
	}
	if len(plurals) == 1 {
		kind = slices.Collect(maps.Keys(plurals))[0] // order: there is one
	}
	return strings.ToLower(kind) + " " + key
}

// emit puts what was told into the step under way. Which of two controllers came first in it is nobody's choice, so they are in the order of
// their names.
func (r *reconciles) emit() {
	slices.SortStableFunc(r.told, func(x, y reconcile) int { return cmp.Compare(x.controller, y.controller) })
	for i := range r.told {
		if x := &r.told[i]; x.ended {
			r.end(x)
		} else {
			r.begin(x)
		}
	}
	r.told = r.told[:0]
}

func (r *reconciles) begin(x *reconcile) {
	by := r.idle(x.controller)
	by.key, r.busy[x.id] = x.key, by
	rec := r.w.kernel.Record(by.id, kindReconcile)
	rec.Key, rec.RV = x.key, unknownRV
	r.w.kernel.Emit(rec)
}

func (r *reconciles) end(x *reconcile) {
	by := r.busy[x.id]
	if by == nil {
		return // it ended twice
	}
	delete(r.busy, x.id)
	rec := r.w.kernel.Record(by.id, kindReconciled)
	rec.Key, rec.N, rec.Detail = by.key, int64(max(x.retry, -1)), x.outcome
	by.key = ""
	r.w.run.Reconciles++
	r.w.kernel.Emit(rec)
}

// sends puts into the trace that a reconcile has just sent a request. If it has ended since it did so, which a goroutine that it started can bring about,
// nothing is said.
func (r *reconciles) sends(q *request, n int) {
	by := r.busy[q.by]
	if by == nil {
		return
	}
	rec := r.w.kernel.Record(by.id, kindSends)
	rec.Key, rec.N, rec.Detail = by.key, int64(n), q.client
	r.w.kernel.Emit(rec)
}

// idle returns the first of a controller's reconcilers that has nothing to do.
func (r *reconciles) idle(controller string) *reconciler {
	for _, by := range r.all[controller] {
		if by.key == "" {
			return by
		}
	}
	by := &reconciler{name: fmt.Sprintf("%s/%d", controller, len(r.all[controller]))}
	for _, taken := r.w.kernel.ActorByName(by.name); taken; _, taken = r.w.kernel.ActorByName(by.name) {
		by.name = "controller-" + by.name // a process "0", and a controller that is called "process"
	}
	by.id = r.w.kernel.Register(by)
	r.all[controller] = append(r.all[controller], by)
	return by
}
