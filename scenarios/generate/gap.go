package generate

import (
	"slices"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
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
	// What waits in the queue and what the list has may be two lives of one key (k83810); the less else happens, the longer that shows.
	again := g.oneIn(4) && slices.Contains(g.alive[i.resource], known)
	mostly := func() bool { return !g.oneIn(3) || again }
	if mostly() {
		g.b.Settle()
	}
	busy := mostly() && !slices.Contains(g.held, i.name)
	if busy {
		g.held = append(g.held, i.name)
		g.b.Hold(i.name)
	}
	switch {
	case again:
		g.deleteKey(i.resource, known)
	case g.oneIn(3):
		g.changeKey(i.resource, known)
	default:
		g.changeOf(i.resource)
	}
	if mostly() {
		g.b.Settle() // so that the change is queued before the watch ends
	}
	// Only the first makes an informer list again, as long as the server remembers what came since.
	ends := []fault.Kind{fault.Watch410, fault.Watch410, fault.Watch410, fault.WatchEOF, fault.Watch500}
	if again {
		ends = ends[:1]
	}
	g.b.Fault(i.name, pick(g.src, ends...))
	if mostly() {
		g.changeKey(i.resource, known)
	}
	for range g.src.IntN(3) {
		g.changeOf(i.resource)
	}
	g.b.Advance(3 * time.Second)
	if mostly() {
		g.b.Settle() // so that the list is queued before the hold ends
	}
	if busy && mostly() {
		g.unhold(i.name)
		g.b.Release(i.name)
	}
	return true
}

// reopen has an informer ask for its watch again while the watch caches start anew: the server may have taken the request, and the client
// not heard of it, when etcd loses its leader, and what changes until the caches are filled is in no watch's history (k116122).
func (g *Generator) reopen() bool {
	i := pick(g.src, g.informers...)
	if i.stopped {
		return false
	}
	g.b.Settle()
	replica := g.replica()
	held := g.oneIn(2) && !slices.Contains(g.held, replica)
	if held {
		g.b.Hold(replica) // it has yet to apply what changes now, and never will
	}
	g.changeOf(i.resource)
	if g.oneIn(2) {
		g.b.Fault(i.name, fault.WatchOpenSlow, scenarios.Key("for", 3*time.Second))
	}
	g.b.Fault(i.name, pick(g.src, fault.WatchClose, fault.WatchEOF))
	if !g.someSteps() {
		g.b.Settle()
	}
	g.b.Fault("cluster", fault.LeaderLoss, scenarios.Key("for", time.Second))
	if g.oneIn(2) {
		g.changeOf(i.resource)
	}
	if held {
		g.b.Release(replica)
	}
	g.b.Advance(5 * time.Second)
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
