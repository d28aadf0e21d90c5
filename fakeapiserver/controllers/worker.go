package controllers

import (
	"time"

	"github.com/informersim/informersim/sim"
)

// Options configure a controller. The zero value works.
type Options struct {
	// Delay is how long each item takes, in virtual time.
	Delay time.Duration
	// Lag is the time between a write and the controller's learning of it.
	Lag time.Duration
	// GracePeriod returns an object's deletion grace period; nil means none.
	GracePeriod GracePeriod
}

// worker is the actor behind both controllers: a queue of distinct items, processed one at a time.
type worker[T comparable] struct {
	k       *sim.Kernel
	name    string
	id      sim.ActorID
	kind    sim.Kind
	options Options
	handle  func(T)

	items   []T
	queued  map[T]bool
	offered bool
	choice  sim.Choice
	busy    bool
	held    int
}

func newWorker[T comparable](k *sim.Kernel, name string, kind sim.Kind, o Options, handle func(T)) *worker[T] {
	w := &worker[T]{k: k, name: name, kind: kind, options: o, handle: handle, queued: map[T]bool{}}
	w.id = k.Register(w)
	return w
}

// Name implements sim.Actor.
func (w *worker[T]) Name() string { return w.name }

// Apply implements sim.Actor: it starts processing the oldest item.
func (w *worker[T]) Apply(sim.Choice) {
	w.offered = false
	item := w.items[0]
	w.items = w.items[1:]
	delete(w.queued, item)
	if w.options.Delay <= 0 {
		w.handle(item)
		w.offer()
		return
	}
	w.busy = true
	w.k.Clock().AfterFunc(w.options.Delay, func() {
		w.busy = false
		w.handle(item)
		w.offer()
	})
}

// learn calls note, after the lag, about a write.
func (w *worker[T]) learn(note func()) {
	if w.options.Lag > 0 {
		w.k.Clock().AfterFunc(w.options.Lag, note)
		return
	}
	note()
}

// retryRefused is how long a controller waits after the Store has refused its write.
const retryRefused = time.Second

// again queues an item after a while, when no write will announce the next change.
func (w *worker[T]) again(item T, after time.Duration) {
	w.k.Clock().AfterFunc(after, func() { w.add(item) })
}

// add queues an item that is not queued.
func (w *worker[T]) add(item T) {
	if w.queued[item] {
		return
	}
	w.queued[item] = true
	w.items = append(w.items, item)
	w.offer()
}

func (w *worker[T]) offer() {
	if w.offered || w.busy || w.held > 0 || len(w.items) == 0 {
		return
	}
	w.choice = w.k.Offer(w.id, w.kind, 0)
	w.offered = true
}

// Hold keeps the controller from starting an item until Release. Holds nest.
func (w *worker[T]) Hold() {
	w.held++
	if w.offered {
		w.k.Withdraw(w.choice)
		w.offered = false
	}
}

// Release undoes one Hold.
func (w *worker[T]) Release() {
	if w.held > 0 {
		w.held--
		w.offer()
	}
}

// Idle reports whether the controller has nothing queued or in progress.
func (w *worker[T]) Idle() bool { return len(w.items) == 0 && !w.busy }
