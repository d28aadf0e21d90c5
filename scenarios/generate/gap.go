package generate

import (
	"slices"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// gap ends an informer's watch and changes the same few objects before and after: what a relist has to make sense of. Mostly there is
// an object that the informer knows, and what comes before may still be queued when the list arrives.
func (g *Generator) gap() bool {
	i := pick(g.src, g.informers...)
	if i.stopped {
		return false
	}
	known, ok := g.present(i.resource)
	if !ok {
		known, _ = g.absent(i.resource)
		g.createKey(i.resource, known)
	}
	if !g.oneIn(3) {
		g.b.Settle()
	}
	busy := !g.oneIn(3) && !slices.Contains(g.held, i.name)
	if busy {
		g.held = append(g.held, i.name)
		g.b.Hold(i.name)
	}
	if g.oneIn(3) {
		g.changeKey(i.resource, known)
	} else {
		g.changeOf(i.resource)
	}
	if !g.oneIn(3) {
		g.b.Settle() // so that the change is queued before the watch ends
	}
	// Only the first makes an informer list again, as long as the server remembers what came since.
	g.b.Fault(i.name, pick(g.src, fault.Watch410, fault.Watch410, fault.Watch410, fault.WatchEOF, fault.Watch500))
	if !g.oneIn(3) {
		g.changeKey(i.resource, known)
	}
	for range g.src.IntN(3) {
		g.changeOf(i.resource)
	}
	g.b.Advance(3 * time.Second)
	if !g.oneIn(3) {
		g.b.Settle() // so that the list is queued before the hold ends
	}
	if busy && !g.oneIn(3) {
		g.unhold(i.name)
		g.b.Release(i.name)
	}
	return true
}

// change changes one object, whatever there is.
func (g *Generator) change() { g.changeOf(g.resource()) }

// changeOf changes one object of a resource.
func (g *Generator) changeOf(resource string) {
	key, ok := g.present(resource)
	if !ok || g.oneIn(5) {
		if g.createOf(resource) || !ok {
			return
		}
	}
	g.changeKey(resource, key)
}

// changeKey changes an object: it makes one that is not there.
func (g *Generator) changeKey(resource, key string) {
	if !slices.Contains(g.alive[resource], key) {
		g.createKey(resource, key)
		return
	}
	pick(g.src, g.deleteKey, g.deleteKey, g.recreateKey, g.updateKey, g.relabelKey)(resource, key)
}
