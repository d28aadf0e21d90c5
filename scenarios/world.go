package scenarios

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// A World is the state of a run: the kernel, the cluster, the subject with its informers, and the script.
type World struct {
	ctx      context.Context
	scenario *Scenario
	options  *Options
	kernel   *sim.Kernel
	cluster  *fakeapiserver.Cluster
	subject  subjects.Subject
	script   *scriptActor
	// transcript reports that commands run back to back, and outputs and expectations are compared (see the package comment).
	transcript bool
	// takesDefaults reports that what informer commands leave open has its default.
	takesDefaults bool

	resources map[string]store.ResourceID
	informers map[string]subjects.Informer
	ofActor   []subjects.Informer // by actor: what InformerOf has found among them
	inOrder   []subjects.Informer // in order of creation
	live      []subjects.Informer // those that have not been stopped; never changed in place
	handlers  map[string]subjects.Informer
	workers   map[string]subjects.Workers
	workerOrd []subjects.Workers
	writers   map[string]*writer
	writeOrd  []*writer
	stopped   map[string]bool
	refusals  map[string]*refusals // by informer: of those whose transforms may fail; nil without any
	logs      map[string]*lineLog
	scripted  scripted

	barrier *barrier
	stepped func() // is called after each step; nil if nobody watches
	// healedAt is the virtual time at which the faults stopped.
	healedAt time.Duration
	// overtime is not nil once the time of the run is up.
	overtime *overtime
	monitor  *property.Monitor
	result   *Result
}

var _ property.World = (*World)(nil)

// Kernel returns the run's kernel.
func (w *World) Kernel() *sim.Kernel { return w.kernel }

// Cluster returns the run's cluster; nil before the scenario's first command.
func (w *World) Cluster() *fakeapiserver.Cluster { return w.cluster }

// Informers returns the informers that have not been stopped, in order of creation. Properties ask for them after nearly every step.
func (w *World) Informers() []subjects.Informer { return w.live }

// Informer returns the informer with that name, stopped or not; nil if there is none.
func (w *World) Informer(name string) subjects.Informer { return w.informers[name] }

// InformerOf returns the informer that has the name of an actor or of a handler's informer, stopped or not; nil if there is none. Properties ask for
// it with nearly every record.
func (w *World) InformerOf(id sim.ActorID) subjects.Informer {
	if int(id) < len(w.ofActor) && w.ofActor[id] != nil {
		return w.ofActor[id]
	}
	owner, ok := w.kernel.Owner(id)
	if !ok {
		return nil
	}
	inf := w.informers[w.kernel.ActorName(owner)]
	if inf == nil {
		return nil
	}
	for int(id) >= len(w.ofActor) {
		w.ofActor = append(w.ofActor, nil)
	}
	w.ofActor[id] = inf
	return inf
}

// nameInformer gives an informer its name, which the life of it that was stopped may have had.
func (w *World) nameInformer(name string, inf subjects.Informer) {
	w.informers[name] = inf
	clear(w.ofActor)
}

// Workers returns the workers of all controllers, in order of creation.
func (w *World) Workers() []subjects.Workers { return w.workerOrd }

// barrier is a command that takes longer than its step: the script continues once done returns true.
type barrier struct {
	what string
	done func() bool
}

func (w *World) wait(what string, clock func(), done func() bool) {
	clock()
	w.barrier = &barrier{what: what, done: done}
}

// freeTime sets how time passes while no command waits: not at all in a transcript, freely when schedules are explored.
func (w *World) freeTime() {
	if w.transcript {
		w.kernel.Clock().Freeze()
	} else {
		w.kernel.Clock().Unfreeze()
	}
}

func (w *World) ensureCluster() error {
	if w.cluster != nil {
		return nil
	}
	return w.startCluster(defaultCluster.options())
}

func (w *World) startCluster(o fakeapiserver.ClusterOptions) error {
	if w.cluster != nil {
		return fmt.Errorf("cluster: it has already started")
	}
	if w.options.Mix != nil {
		o.Faults, o.MaxFaults = w.options.Mix.Kinds(), w.options.Mix.Max
	}
	w.cluster = fakeapiserver.NewCluster(w.kernel, o)
	w.cluster.OnRestore(w.scripted.restored)
	deps := subjects.Dependencies{Kernel: w.kernel, Cluster: w.cluster}
	if w.transcript {
		deps.Draws = subjects.NewDraws(w.options.Seed)
	}
	w.subject = w.options.Subject.New(deps)
	return nil
}

func (w *World) addInformer(inf subjects.Informer, spec subjects.InformerSpec) {
	w.nameInformer(spec.Name, inf)
	w.inOrder = append(w.inOrder, inf)
	w.live = append(w.live[:len(w.live):len(w.live)], inf)
	for _, h := range spec.Handlers {
		w.handlers[h.Name] = inf
	}
}

func (w *World) output(c *script.Command, text string) {
	w.result.Outputs[c] = text
	if !w.transcript || c.Output == nil {
		return
	}
	want, got := w.comparable(script.NormalizeOutput(c.Output.Text), script.NormalizeOutput(text))
	if want != got {
		w.result.Mismatches = append(w.result.Mismatches, reports.Mismatch{At: c.Output.Pos.String(), Expected: want, Actual: got})
	}
}

func (w *World) expectFailed(c *script.Command, msg string) {
	w.result.Mismatches = append(w.result.Mismatches, reports.Mismatch{At: c.Pos.String(), Message: msg})
}

// Explores implements property.World.
func (w *World) Explores() bool { return !w.options.takesDefaults() }

// Divergence describes how an informer's Indexer differs from the Store, as its transform makes that: the first key, in order, that is missing, different or
// left over, unless its transform is to blame; "" if they are equal.
func (w *World) Divergence(inf subjects.Informer) (key, message string) {
	d := w.differs(inf)
	server := resourceVersion(d.want)
	switch d.how {
	case equal:
		return "", ""
	case unreadable:
		return "", d.err.Error()
	case missing:
		return d.key, fmt.Sprintf("informer %s does not hold %s, which the server has at rv=%s", inf.Name(), d.key, server)
	case different:
		return d.key, fmt.Sprintf("informer %s holds %s at rv=%s, the server has it at rv=%s", inf.Name(), d.key, resourceVersion(d.have), server)
	case invalid:
		return d.key, fmt.Sprintf("informer %s holds %q, which is not a valid key", inf.Name(), d.key)
	}
	return d.key, fmt.Sprintf("informer %s still holds %s rv=%s, which the server does not have", inf.Name(), d.key, resourceVersion(d.have))
}

// divergence is how an Indexer and the Store differ. While a run converges it is asked for again and again, and nobody reads it.
type divergence struct {
	how        how
	key        string
	have, want runtime.Object
	err        error
}

// how is the way in which they differ.
type how uint8

const (
	equal how = iota
	unreadable
	missing
	different
	invalid
	leftOver
)

func (w *World) differs(inf subjects.Informer) (d divergence) {
	seen := 0
	err := w.cluster.Store().Walk(inf.Resource(), w.cluster.Store().Revision(), "", func(k string, want runtime.Object) bool {
		if !inf.Selects(want) {
			return true
		}
		have, ok := inf.Get(k)
		switch {
		case !ok && w.excuses(inf, k):
			return true
		case !ok:
			d = divergence{how: missing, key: k, want: want}
		case !sameObject(have, inf.Transformed(want)) && !w.excuses(inf, k):
			d = divergence{how: different, key: k, have: have, want: want}
		}
		seen++
		return d.how == equal
	})
	switch {
	case err != nil:
		return divergence{how: unreadable, err: err}
	case d.how != equal || seen == inf.Len():
		return d
	}
	for _, k := range inf.Keys() {
		have, _ := inf.Get(k)
		namespace, name, err := splitKey(k)
		if err != nil {
			return divergence{how: invalid, key: k}
		}
		if want, _ := w.cluster.Store().Get(inf.Resource(), namespace, name); (want == nil || !inf.Selects(want)) && !w.excuses(inf, k) {
			return divergence{how: leftOver, key: k, have: have}
		}
	}
	return divergence{}
}

func (w *World) divergence(inf subjects.Informer) string {
	_, msg := w.Divergence(inf)
	return msg
}

// sameObject compares pointers first: most engines share the Store's objects, which saves comparing their content.
func sameObject(a, b runtime.Object) bool {
	return a == b || resourceVersion(a) == resourceVersion(b) && equality.Semantic.DeepEqual(a, b)
}

// Converged reports whether every informer equals the store, all queues are empty, all workers are idle, and every write was
// answered.
func (w *World) Converged() bool {
	for _, wr := range w.writeOrd {
		if wr.busy() {
			return false
		}
	}
	for _, ws := range w.workerOrd {
		if ws.Busy() {
			return false
		}
	}
	for _, inf := range w.live {
		if !inf.HasSynced() && !w.excusesSync(inf) || inf.Busy() {
			return false
		}
	}
	for _, inf := range w.live { // this takes longer
		if w.differs(inf).how != equal {
			return false
		}
	}
	return true
}
