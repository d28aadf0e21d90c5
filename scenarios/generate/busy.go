package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/informersim/informersim/scenarios"
)

// The actions here make parts busy on purpose: what is wrong with a full queue, a handler that is behind, or workers that shut down in
// the middle of their work hardly shows by chance.

// crowds are the numbers of objects that are made together: more than a small queue or index holds before it grows.
var crowds = []int{9, 12, 20}

// crowd makes, changes or deletes many objects in one command, mostly while an informer takes nothing from its queue.
func (g *Generator) crowd() bool {
	i := pick(g.src, g.informers...)
	if i.stopped {
		return false
	}
	busy := !g.oneIn(3) && !slices.Contains(g.held, i.name)
	if busy {
		g.held = append(g.held, i.name)
		g.b.Hold(i.name)
	}
	keys := g.crowds[i.resource]
	switch from := g.src.IntN(max(len(keys), 1)); {
	case len(keys) == 0:
		for n := range pick(g.src, crowds...) {
			keys = append(keys, fmt.Sprintf("%s/m%d", g.shape.namespaces[0], n))
		}
		g.crowds[i.resource] = keys
		g.b.Create(i.resource, keys...)
	case g.oneIn(2):
		g.b.Update(i.resource, keys[from:]...)
	default:
		g.crowds[i.resource] = slices.Clone(keys[:from])
		g.b.Delete(i.resource, keys[from:]...)
	}
	if busy && g.oneIn(2) {
		g.b.Settle()
		g.changeOf(i.resource)
		g.unhold(i.name)
		g.b.Release(i.name)
	}
	return true
}

// linger lets time pass while something waits in an informer's queue: longer than most resync periods, so that a resync meets it.
func (g *Generator) linger() bool {
	i := pick(g.src, g.informers...)
	if i.stopped || !i.resync || slices.Contains(g.held, i.name) {
		return false
	}
	for len(g.alive[i.resource]) < 2 && g.createOf(i.resource) { // of the others, nothing waits
	}
	g.b.Settle()
	g.b.Hold(i.name)
	for range 1 + g.src.IntN(2) {
		g.changeOf(i.resource)
	}
	g.b.Advance(pick(g.src, 3*time.Second, 10*time.Second, time.Minute))
	g.b.Release(i.name)
	return true
}

// removeBusy removes a handler for which something waits.
func (g *Generator) removeBusy() bool {
	i := pick(g.src, g.informers...)
	if i.stopped || len(i.handlers) == 0 {
		return false
	}
	h := pick(g.src, i.handlers...)
	switch {
	case slices.Contains(g.held, h):
	case g.oneIn(2):
		g.b.Hold(h)
	default:
		g.b.Handle(h, scenarios.Key("takes", pick(g.src, durations[1:]...)))
	}
	for range 2 + g.src.IntN(3) {
		g.changeOf(i.resource)
	}
	if g.oneIn(2) || !g.someSteps() {
		g.b.Settle()
	}
	g.drop(i, h)
	return true
}

// slowStart has some of the handlers that were just added be slow, or stand still, before they have synced.
func (g *Generator) slowStart(handlers []string) {
	for _, h := range handlers {
		switch {
		case !g.oneIn(6):
		case g.oneIn(3):
			g.held = append(g.held, h)
			g.b.Hold(h)
		default:
			g.b.Handle(h, scenarios.Key("takes", pick(g.src, durations[1:]...)))
		}
	}
}

// someSteps adds a few steps, unless the scenario is not to have any.
func (g *Generator) someSteps() bool {
	if slices.Contains(g.without, "step") {
		return false
	}
	return g.step()
}

// shutDown shuts workers down that are at work, with keys that wait, or came while a worker held them.
func (g *Generator) shutDown() bool {
	if len(g.workers) == 0 {
		return false
	}
	name := pick(g.src, g.workers...)
	stop := g.stopWorker
	if g.oneIn(2) {
		stop = g.drainWorker // what takes long is worth a wait
		g.b.Reconcile(name, scenarios.Key("takes", pick(g.src, durations[1:]...)), scenarios.Key("fails", g.rate()))
	}
	if g.oneIn(4) && !slices.Contains(g.held, name) {
		g.b.Hold(name)
	}
	for range 1 + g.src.IntN(4) {
		g.change()
	}
	if g.oneIn(2) || !g.someSteps() {
		g.b.Advance(pick(g.src, 7*time.Millisecond, 400*time.Millisecond, 3*time.Second))
	}
	stop(name)
	if g.oneIn(2) {
		g.change()
	}
	return true
}
