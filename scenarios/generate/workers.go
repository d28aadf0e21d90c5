package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/informersim/informersim/scenarios"
)

// maxWorkers is how many controllers a scenario has at most.
const maxWorkers = 3

// Delays and durations are no multiples of one another, nor of what else happens: what happens at one instant has no order. The
// longest delays are long, because what always fails is tried again for hours.
var (
	baseDelays = []time.Duration{time.Millisecond, 7 * time.Millisecond, 311 * time.Millisecond}
	maxDelays  = []time.Duration{1709 * time.Millisecond, 9433 * time.Millisecond, 61813 * time.Millisecond}
	durations  = []time.Duration{0, 17 * time.Millisecond, 1319 * time.Millisecond, 4127 * time.Millisecond}
)

// worker starts the workers of a controller, some of which wait in Get, unless "get" is left out. They recover from panics: those who do not lose keys.
func (g *Generator) worker() bool {
	i := pick(g.src, g.informers...)
	if i.stopped || g.pools == maxWorkers {
		return false
	}
	var args []scenarios.Arg
	if g.oneIn(2) {
		args = append(args, scenarios.Key("count", 1+g.src.IntN(3)))
	}
	if g.oneIn(2) {
		n := g.src.IntN(len(baseDelays))
		args = append(args, scenarios.Key("base", baseDelays[n]), scenarios.Key("max", maxDelays[n]))
	}
	if g.oneIn(4) {
		args = append(args, scenarios.Key("retries", 1+g.src.IntN(3)))
	}
	if g.oneIn(4) {
		i.resync = true
		args = append(args, scenarios.Key("resync", pick(g.src, resyncPeriods...)))
	}
	if !slices.Contains(g.without, "get") && g.oneIn(3) {
		args = append(args, scenarios.Key("get", "block"))
	}
	g.pools++
	name := fmt.Sprintf("c%d", g.pools)
	g.workers = append(g.workers, name)
	g.b.Worker(name, i.name, args...)
	if g.oneIn(4) {
		// Each failure makes the delays longer; what has waited for long may go wrong in other ways.
		g.b.Reconcile(name, g.about([]scenarios.Arg{scenarios.Key("fails", pick(g.src, "always", "always", "0.5", "5"))})...)
		g.b.Advance(pick(g.src, 3*time.Second, time.Minute, 6*time.Minute))
	}
	return true
}

// rate is how often something happens.
func (g *Generator) rate() string { return pick(g.src, "1", "2", "5", "0.3", "always", "never") }

// about makes a trouble one of a single object, now and then.
func (g *Generator) about(args []scenarios.Arg) []scenarios.Arg {
	if g.oneIn(3) {
		args = append(args, scenarios.Key("key", pick(g.src, g.shape.namespaces...)+"/"+pick(g.src, g.shape.names...)))
	}
	return args
}

// reconcile troubles workers. What fails always has a long delay by and by, unless its limiter has none: that one fails a few
// times only.
func (g *Generator) reconcile() bool {
	if len(g.workers) == 0 {
		return false
	}
	args := []scenarios.Arg{scenarios.Key("takes", pick(g.src, durations...))}
	if g.oneIn(2) {
		args = append(args, scenarios.Key("fails", g.rate()))
	}
	if g.oneIn(4) {
		args = append(args, scenarios.Key("panics", g.rate()))
	}
	g.b.Reconcile(pick(g.src, g.workers...), g.about(args)...)
	return true
}

// handle troubles a handler: one that no workers wait for may panic, too. After each panic it rests for a second, so an
// order of keys that is open, as that of a resync, would show in what it is told when.
func (g *Generator) handle() bool {
	i := pick(g.src, g.informers...)
	if g.oneIn(4) && len(g.workers) > 0 {
		g.b.Handle(pick(g.src, g.workers...), g.about([]scenarios.Arg{scenarios.Key("takes", pick(g.src, durations...))})...)
		return true
	}
	if i.stopped || len(i.handlers) == 0 {
		return false
	}
	args := []scenarios.Arg{scenarios.Key("takes", pick(g.src, durations...))}
	if !i.resync && g.oneIn(2) {
		args = append(args, scenarios.Key("panics", g.rate()))
	}
	g.b.Handle(pick(g.src, i.handlers...), g.about(args)...)
	return true
}

func (g *Generator) stopWorker(name string) {
	g.workers = slices.DeleteFunc(g.workers, func(w string) bool { return w == name })
	g.unhold(name)
	g.b.Stop(name)
}

// drainWorker is stopWorker for somebody who waits until nothing is being reconciled.
func (g *Generator) drainWorker(name string) {
	g.workers = slices.DeleteFunc(g.workers, func(w string) bool { return w == name })
	g.unhold(name)
	g.b.Drain(name)
}
