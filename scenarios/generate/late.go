package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/informersim/informersim/scenarios"
)

// What a scenario ends with is drawn after all the rest, so that what comes before it is the scenario that the seed has always had. It begins once that
// has come to rest: the next change of an object hides what is wrong with it.

// lateActions are the actions that only the end of a scenario has.
var lateActions = []action{
	{"restart", 3, (*Generator).restart},
	{"refuse", 1, (*Generator).refuse},
	{"overtake", 3, (*Generator).overtake},
}

// end adds, in some scenarios, late actions, each with a few others after it. Small numbers stand for none, as whoever shrinks draws makes them small.
func (g *Generator) end(others []action) {
	for _, late := range lateActions {
		if slices.Contains(g.without, late.name) || g.src.IntN(8) < 8-late.weight {
			continue
		}
		g.rest()
		if !late.do(g) {
			continue
		}
		for range g.src.IntN(6) {
			g.one(others)
		}
	}
}

// extra decides for something in one of n cases, and against it when a decision is made small.
func (g *Generator) extra(n int) bool { return g.src.IntN(n) == n-1 }

// rest ends all holds, and lets the scenario come to rest.
func (g *Generator) rest() {
	for _, target := range g.held {
		g.b.Release(target)
	}
	g.held = nil
	g.b.Advance(10 * time.Second)
}

// restart restarts an informer, mostly while something waits in its queue, and changes objects before its next life begins, or after that.
func (g *Generator) restart() bool {
	i := pick(g.src, g.informers...)
	busy := !i.stopped && g.extra(2) && !slices.Contains(g.held, i.name)
	if busy {
		g.b.Hold(i.name)
	}
	if !i.stopped {
		g.changes(i.resource, 1+g.src.IntN(3))
		if g.extra(3) {
			g.b.Settle()
		}
	}
	if !i.stopped && g.extra(2) {
		g.b.Stop(i.name)
		g.changes(i.resource, 1+g.src.IntN(3))
	}
	if g.extra(3) { // for the first list of the next life
		kind := pick(g.src, faultsWithPrefix("list-", "")...)
		g.b.Fault(i.name, kind, g.faultArgs(kind)...)
	}
	g.b.Restart(i.name)
	i.stopped = false
	if !g.extra(2) || !g.someSteps() {
		g.changeOf(i.resource)
	}
	if busy {
		g.b.Release(i.name)
	}
	return true
}

// refuse starts an informer whose transform fails for some objects, which come and go.
func (g *Generator) refuse() bool {
	i := g.newInformer()
	if i == nil {
		return false
	}
	for range g.src.IntN(3) {
		g.newHandler(i)
	}
	var args []scenarios.Arg
	if len(i.handlers) > 0 {
		args = append(args, scenarios.Key("handlers", g.withPeriods(i)))
	}
	args = append(args, scenarios.Key("queue", pick(g.src, "delta", "inorder", "atomic")), scenarios.Key("transform", "fail:"+pick(g.src, "tier", "tier", "tier", "app")))
	if g.extra(2) {
		args = append(args, scenarios.Key("watch-list", "on"))
	}
	if g.extra(2) {
		i.resync = true
		args = append(args, scenarios.Key("resync", pick(g.src, resyncPeriods...)))
	}
	if g.extra(3) {
		args = append(args, scenarios.Key("page", 1+g.src.IntN(3)))
	}
	if g.extra(4) {
		args = append(args, scenarios.Key("labels", pick(g.src, "app=x", "app!=x")))
	}
	g.b.Informer(i.name, i.resource, args...)
	for range 1 + g.src.IntN(3) {
		g.changes(i.resource, 1+g.src.IntN(3))
		g.b.Advance(pick(g.src, 100*time.Millisecond, 3*time.Second, 10*time.Second))
	}
	return true
}

// overtake has keys of workers wait for retries for long, and then one of them fail anew after a success: it is due before those that it waits behind.
func (g *Generator) overtake() bool {
	i := pick(g.src, g.informers...)
	if i.stopped {
		return false
	}
	g.pools++
	name := fmt.Sprintf("c%d", g.pools)
	g.workers = append(g.workers, name)
	n := g.src.IntN(len(baseDelays))
	g.b.Worker(name, i.name, scenarios.Key("base", baseDelays[n]), scenarios.Key("max", maxDelays[len(maxDelays)-1]))
	for len(g.alive[i.resource]) < 3 && g.createOf(i.resource) {
	}
	g.b.Reconcile(name, scenarios.Key("takes", durations[1]), scenarios.Key("fails", "always"))
	g.b.Advance(pick(g.src, 10*time.Second, time.Minute))
	keys := g.alive[i.resource]
	for len(keys) > 0 {
		g.b.Reconcile(name, scenarios.Key("fails", "never"))
		g.b.Update(i.resource, keys[len(keys)-1])
		g.b.Advance(100 * time.Millisecond)
		g.b.Reconcile(name, scenarios.Key("fails", "always"))
		g.b.Update(i.resource, keys[len(keys)-1])
		if keys = keys[:len(keys)-1]; !g.extra(3) {
			break
		}
	}
	g.b.Advance(3 * time.Second)
	if g.extra(3) { // somebody waits for the queue to drain, and then not any longer
		g.b.Reconcile(name, scenarios.Key("takes", durations[len(durations)-1]))
		g.changes(i.resource, 1+g.src.IntN(3))
		g.b.Advance(100 * time.Millisecond)
		g.drainWorker(name)
		g.b.Stop(name)
	}
	return true
}

// changes changes n objects of a resource.
func (g *Generator) changes(resource string, n int) {
	for range n {
		g.changeOf(resource)
	}
}
