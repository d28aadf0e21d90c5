package informers

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/workers"
)

// A name may have several lives: an informer that was stopped, and one that takes its name over.

// register adds an actor to the kernel: a part of a new life under the name that it had in the one before.
func (i *Informer[H]) register(a sim.Actor) sim.ActorID {
	if i.before != nil {
		if _, known := i.Kernel.ActorByName(a.Name()); known {
			return i.Kernel.TakeOver(a)
		}
	}
	return i.Kernel.Register(a)
}

// beginAgain begins another life of an informer, whose hold goes on.
func (i *Informer[H]) beginAgain() {
	i.held = i.before.held
	i.Kernel.Emit(i.Kernel.Record(i.ID, subjects.KindRestarted))
}

// Furnish adds what an informer has when it starts: the handlers of its specification; or what the life before it had when it was stopped:
// its indexes, and its handlers, those that fill the queues of workers included, which read from the new Indexer from now on.
func (i *Informer[H]) Furnish(get func(string) (runtime.Object, bool), index func(subjects.IndexSpec) error, handler func(subjects.HandlerSpec, *workers.Pool) error) error {
	if i.before == nil {
		for _, h := range i.Spec.Handlers {
			if err := handler(h, nil); err != nil {
				return err
			}
		}
		return nil
	}
	for _, x := range i.before.Added {
		if err := index(x); err != nil {
			return err
		}
	}
	for _, h := range i.before.Attached {
		b := h.Base()
		if b.Pool != nil {
			b.Pool.ReadFrom(get)
		}
		if err := handler(b.Spec, b.Pool); err != nil {
			return err
		}
	}
	return nil
}

// inherit gives a handler of a new life the holds and faults of its name.
func (i *Informer[H]) inherit(h *Handler) {
	if i.before == nil {
		return
	}
	for _, o := range i.before.Attached {
		if b := o.Base(); b.name == h.name {
			h.Held, h.faults = b.Held, b.faults
		}
	}
}
