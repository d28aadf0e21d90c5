package informers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// The kinds of choices of an informer.
var (
	KindPop  = sim.RegisterKind("pop", sim.ClassAction)  // the controller pops from the queue and processes what it took
	KindWake = sim.RegisterKind("wake", sim.ClassAction) // a timer has fired: a backoff, a resync period, a retry
)

// Engine is an engine's informer, as an actor.
type Engine interface {
	sim.Actor
	// Queued returns the number of entries in its queue.
	Queued() int
}

// Informer is embedded by an engine's informer, whose handlers have type H. Init must be called first.
type Informer[H EngineHandler] struct {
	Kernel   *sim.Kernel
	Spec     subjects.InformerSpec
	ID       sim.ActorID
	Attached []H // the handlers, in order of adding
	Added    []subjects.IndexSpec
	Synced   bool
	Stopped  bool

	engine    Engine
	selection selection
	pop       sim.Toggle
	held      bool
	crashes   crashes
	before    *Informer[H] // the life of this name that was stopped; nil for none
}

// crashes tracks panics of an informer's handlers.
type crashes struct {
	any      bool          // a handler has panicked
	poppedAt time.Duration // when something was last popped since
}

// note notes a panic, or a pop after one, and makes time stop where the handler's backoff may end.
func (c *crashes) note(k *sim.Kernel) {
	c.poppedAt = k.Elapsed()
	k.Clock().AfterFunc(subjects.CrashBackoff, func() {})
}

// Init sets up the informer e, which embeds i, and registers it with the kernel. before is the life of its name that was stopped, and nil
// for none: see Furnish.
func (i *Informer[H]) Init(k *sim.Kernel, spec subjects.InformerSpec, e Engine, before *Informer[H]) error {
	selection, err := newSelection(&spec)
	if err != nil {
		return err
	}
	i.Kernel, i.Spec, i.engine, i.selection, i.before = k, spec, e, selection, before
	if i.ID = i.register(e); before != nil {
		i.beginAgain()
	}
	return nil
}

// Name implements sim.Actor and subjects.Informer.
func (i *Informer[H]) Name() string { return i.Spec.Name }

// Resource implements subjects.Informer.
func (i *Informer[H]) Resource() store.ResourceID { return i.Spec.Resource }

// PageSize implements subjects.Informer.
func (i *Informer[H]) PageSize() int64 { return i.Spec.PageSize }

// Selects implements subjects.Informer.
func (i *Informer[H]) Selects(obj runtime.Object) bool { return i.selection.selects(obj) }

// Transformed implements subjects.Informer.
func (i *Informer[H]) Transformed(obj runtime.Object) runtime.Object {
	return i.Spec.Transform.Object(obj)
}

// Refuses implements subjects.Informer.
func (i *Informer[H]) Refuses(obj runtime.Object) bool { return i.Spec.Transform.Refuses(obj) }

// NoteFrame notes that the transform fails for the object of a frame, if it does.
func (i *Informer[H]) NoteFrame(key string, rv int64, obj runtime.Object) {
	if key != "" && i.Refuses(obj) {
		r := i.Kernel.Record(i.ID, subjects.KindRefused)
		r.Key, r.RV = key, rv
		i.Kernel.Emit(r)
	}
}

// NoteList notes that the transform fails for n objects of a list.
func (i *Informer[H]) NoteList(n int) {
	r := i.Kernel.Record(i.ID, subjects.KindRefused)
	r.N = int64(n)
	i.Kernel.Emit(r)
}

// NewHandler returns the base of a handler, which fills the queue of pool unless that is nil.
func (i *Informer[H]) NewHandler(spec subjects.HandlerSpec, pool *workers.Pool) Handler {
	name := i.Spec.Name + "/" + spec.Name
	h := Handler{Kernel: i.Kernel, Spec: spec, Pool: pool, name: name, faults: subjects.NewCallFaults(i.Kernel, name), crashes: &i.crashes}
	i.inherit(&h)
	return h
}

// Attach adds a handler, once the engine's informer has it: late, if that has started. allResyncs is as in subjects.HandlerAdded.
func (i *Informer[H]) Attach(h H, late, allResyncs bool) {
	b := h.Base()
	b.ID = i.register(h)
	i.Attached = append(i.Attached, h)
	i.note(b.ID, "added", subjects.HandlerAdded{HandlerSpec: b.Spec, Check: i.Spec.Resync, Late: late, AllResyncs: allResyncs, Queue: i.Spec.Queue})
}

// RemoveHandler implements subjects.Informer.
func (i *Informer[H]) RemoveHandler(name string) error {
	h, err := i.handler(name)
	if err != nil {
		return err
	}
	if err := h.Remove(); err != nil {
		return err
	}
	i.Attached = slices.DeleteFunc(i.Attached, func(x H) bool { return x == h })
	i.note(h.Base().ID, "removed", nil)
	return nil
}

func (i *Informer[H]) note(handler sim.ActorID, detail string, added any) {
	r := i.Kernel.Record(handler, subjects.KindHandler)
	r.Detail, r.Obj = detail, added
	i.Kernel.Emit(r)
}

// Handlers implements subjects.Informer.
func (i *Informer[H]) Handlers() []string {
	names := make([]string, len(i.Attached))
	for k, h := range i.Attached {
		names[k] = h.Base().Spec.Name
	}
	return names
}

func (i *Informer[H]) handler(name string) (H, error) {
	for _, h := range i.Attached {
		if h.Base().Spec.Name == name {
			return h, nil
		}
	}
	var none H
	return none, fmt.Errorf("informer %s has no handler %q; it has %s", i.Spec.Name, name, strings.Join(i.Handlers(), ", "))
}

// InjectFault implements subjects.Informer.
func (i *Informer[H]) InjectFault(handler string, f subjects.CallFault) error {
	h, err := i.handler(handler)
	if err != nil {
		return err
	}
	h.Base().faults.Inject(f)
	return nil
}

// ClearFaults implements subjects.Informer.
func (i *Informer[H]) ClearFaults() {
	for _, h := range i.Attached {
		h.Base().faults.Clear()
	}
}

// Hold implements subjects.Informer.
func (i *Informer[H]) Hold(part string) error { return i.setHeld(part, true) }

// Release implements subjects.Informer.
func (i *Informer[H]) Release(part string) error { return i.setHeld(part, false) }

func (i *Informer[H]) setHeld(part string, held bool) error {
	if part == "queue" {
		i.held = held
		i.OfferPop(i.engine.Queued())
		return nil
	}
	h, err := i.handler(part)
	if err != nil {
		return err
	}
	h.Base().Held = held
	h.Offer()
	return nil
}

// OfferPop offers the choice pop if anything is queued, and withdraws it otherwise.
func (i *Informer[H]) OfferPop(queued int) {
	i.pop.Set(i.Kernel, i.ID, KindPop, !i.held && !i.Stopped && queued > 0)
}

// PopPicked notes that the choice pop was picked.
func (i *Informer[H]) PopPicked() {
	i.pop.Taken()
	if i.crashes.any {
		i.crashes.note(i.Kernel)
	}
}

// NoteSynced notes that the informer has synced.
func (i *Informer[H]) NoteSynced() {
	i.Synced = true
	i.Kernel.Emit(i.Kernel.Record(i.ID, subjects.KindSynced))
}

// Busy implements subjects.Informer.
func (i *Informer[H]) Busy() bool {
	return i.engine.Queued() > 0 || slices.ContainsFunc(i.Attached, func(h H) bool { return h.Pending() || h.Base().crashedRecently() })
}

// Calling implements subjects.Informer.
func (i *Informer[H]) Calling(handler string) bool {
	h, err := i.handler(handler)
	return err == nil && h.Base().timer != nil
}

// Indexes implements subjects.Informer.
func (i *Informer[H]) Indexes() []subjects.IndexSpec { return i.Added }

// SortedKeys returns what an Indexer has under a value, sorted.
func SortedKeys(indexer interface {
	IndexKeys(index, value string) ([]string, error)
}, index, value string) []string {
	keys, err := indexer.IndexKeys(index, value)
	if err != nil {
		return nil // there is no such index
	}
	slices.Sort(keys)
	return keys
}

// Lookup returns the object that an Indexer holds under a key.
func Lookup(indexer interface {
	GetByKey(key string) (obj any, exists bool, err error)
}, key string) (runtime.Object, bool) {
	obj, ok, err := indexer.GetByKey(key)
	if err != nil || !ok {
		return nil, false
	}
	o, ok := obj.(runtime.Object)
	return o, ok
}
