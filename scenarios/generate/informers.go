package generate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/scenarios"
)

// maxInformers and maxHandlers keep scenarios small enough to be read when one fails.
const (
	maxInformers = 4
	maxHandlers  = 6
)

func (g *Generator) newHandler(i *informerModel) string {
	g.handlers++
	name := fmt.Sprintf("h%d", g.handlers)
	i.handlers = append(i.handlers, name)
	return name
}

// resyncPeriods are no multiples of what servers and scripts wait for: what happens at one instant has no order.
var resyncPeriods = []time.Duration{1073 * time.Millisecond, 2137 * time.Millisecond, 30171 * time.Millisecond}

// newInformer returns the model of another informer, nil if there are enough.
func (g *Generator) newInformer() *informerModel {
	if len(g.informers) == maxInformers {
		return nil
	}
	i := &informerModel{name: fmt.Sprintf("i%d", len(g.informers)+1), resource: g.resource()}
	g.informers = append(g.informers, i)
	return i
}

func (g *Generator) informer() bool {
	i := g.newInformer()
	if i == nil {
		return false
	}
	var args []scenarios.Arg
	for range g.src.IntN(3) {
		g.newHandler(i)
	}
	if len(i.handlers) > 0 {
		args = append(args, scenarios.Key("handlers", g.withPeriods(i)))
	}
	args = append(args, scenarios.Key("queue", pick(g.src, "delta", "inorder", "atomic")))
	if g.oneIn(4) {
		args = append(args, scenarios.Key("watch-list", "on"))
	}
	if g.oneIn(2) {
		i.resync = true
		args = append(args, scenarios.Key("resync", pick(g.src, resyncPeriods...)))
	}
	if g.oneIn(3) {
		args = append(args, scenarios.Key("page", 1+g.src.IntN(3)))
	}
	if g.oneIn(4) {
		args = append(args, scenarios.Key("namespace", pick(g.src, g.shape.namespaces...)))
	}
	if g.oneIn(3) {
		args = append(args, scenarios.Key("labels", pick(g.src, "app=x", "app!=x")))
	}
	if g.oneIn(8) {
		args = append(args, scenarios.Key("fields", "metadata.name="+pick(g.src, g.shape.names...)))
	}
	if g.oneIn(8) {
		args = append(args, scenarios.Key("transform", "drop:"+pick(g.src, "tier", "tier", "app")))
	}
	switch {
	case g.shape.together:
		args = append(args, scenarios.Key("replica", 0))
	case g.oneIn(2):
		args = append(args, scenarios.Key("replica", pick(g.src, "round-robin", "choice", fmt.Sprint(g.src.IntN(g.replicas)))))
	}
	g.b.Informer(i.name, i.resource, args...)
	g.slowStart(i.handlers)
	if g.oneIn(4) {
		g.index(i)
	}
	return true
}

// withPeriods gives some of the handlers of a new informer a resync period of their own.
func (g *Generator) withPeriods(i *informerModel) []string {
	var all []string
	for _, h := range i.handlers {
		if g.oneIn(6) {
			i.resync = true
			h += "@" + pick(g.src, append([]time.Duration{0}, resyncPeriods...)...).String()
		}
		all = append(all, h)
	}
	return all
}

// maxIndexes is for one informer.
const maxIndexes = 2

func (g *Generator) indexer() bool {
	i := pick(g.src, g.informers...)
	if i.stopped || i.indexes == maxIndexes {
		return false
	}
	g.index(i)
	return true
}

// index adds an index, mostly one that has several values for an object. None fails: that panics, and ends the program (I71).
func (g *Generator) index(i *informerModel) {
	i.indexes++
	by := pick(g.src, "label:app", "labels", "label:app,label:tier", "labels,namespace", "name,labels")
	g.b.Indexer(i.name, fmt.Sprintf("x%d", i.indexes), strings.Split(by, ","))
}

func (g *Generator) handler() bool {
	i := pick(g.src, g.informers...)
	if i.stopped || g.handlers == maxHandlers {
		return false
	}
	var args []scenarios.Arg
	if g.oneIn(2) {
		i.resync = true
		args = append(args, scenarios.Key("resync", pick(g.src, resyncPeriods...)))
	}
	h := g.newHandler(i)
	g.b.Handler(i.name, h, args...)
	g.slowStart([]string{h})
	return true
}

func (g *Generator) remove() bool {
	i := pick(g.src, g.informers...)
	if i.stopped || len(i.handlers) == 0 {
		return false
	}
	g.drop(i, pick(g.src, i.handlers...))
	return true
}

// drop removes a handler.
func (g *Generator) drop(i *informerModel, h string) {
	i.handlers = slices.DeleteFunc(i.handlers, func(x string) bool { return x == h })
	g.unhold(h)
	g.b.Remove(h)
}

func (g *Generator) stop() bool {
	i := pick(g.src, g.informers...)
	if i.stopped || !g.oneIn(3) {
		return false
	}
	i.stopped = true
	g.unhold(append([]string{i.name, "conn/" + i.name}, i.handlers...)...)
	g.b.Stop(i.name)
	return true
}
