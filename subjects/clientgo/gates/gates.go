package gates

import (
	"sync"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
)

// Gates is client-go in a bubble. Its methods are for the bubble's own goroutine.
type Gates struct {
	b *bubble.Bubble
	// tell is told what has happened.
	tell func(*Event)
	// interleaved says that the seed interleaves the goroutines.
	interleaved bool
	late        *informer // whose goroutines are held, as far as the seed says so; nil for none

	informers []*informer
	queues    []*workQueue
	requests  map[int64]*request
	asked     int64 // requests so far
	event     Event

	// mu guards everything that client-go's goroutines note.
	mu       sync.Mutex
	parked   []*request
	canceled []*request
	waits    []retryWait
	unread   []int64
}

type retryWait struct {
	informer int
	d        time.Duration
}

// Enter makes the caller's bubble that of client-go, for a run that has come to elapsed.
func Enter(elapsed time.Duration, tell func(*Event)) (*Gates, error) {
	b, err := bubble.Enter(elapsed)
	if err != nil {
		return nil, err
	}
	g := &Gates{b: b, tell: tell, requests: map[int64]*request{}, interleaved: b.Interleaved()}
	ownChannels()
	b.AtEnd(g.close)
	return g, nil
}

// Err returns nil: what is in this process does not go away.
func (g *Gates) Err() error { return nil }

// Interleaved reports whether the seed interleaves client-go's goroutines.
func (g *Gates) Interleaved() bool { return g.interleaved }

// hold has some of the goroutines that an informer starts until the next wait for quiescence begin late, as if other work had kept them waiting.
func (g *Gates) hold(i *informer) {
	g.begin()
	if g.interleaved {
		g.late = i
		g.b.Hold()
	}
}

// begin lets them begin, once everything else has come to rest. No time passes before that, and no handler is added or removed.
func (g *Gates) begin() {
	if g.late != nil {
		g.late = nil
		g.b.Quiesce()
		g.b.Release()
		g.b.Quiesce()
	}
}

// Seed reseeds math/rand's global source.
func (g *Gates) Seed(seed int64) { g.b.SeedRand(seed) }

// Quiesce waits until the bubble is quiescent, and tells what has happened.
func (g *Gates) Quiesce() {
	g.b.Quiesce()
	if g.late != nil && g.late.inf.HasSynced() {
		g.begin() // an empty list has nothing to pop, and time need not pass
	}
	g.report()
}

// Pass lets time pass until something happens, at most d, and returns how much has passed.
func (g *Gates) Pass(d time.Duration) time.Duration {
	g.begin()
	passed := g.b.Pass(d)
	g.report()
	return passed
}

// Elapsed returns how much time has passed in the bubble.
func (g *Gates) Elapsed() time.Duration { return g.b.Elapsed() }

// Panic returns the first panic of this run that no scenario has injected, nil for none.
func (g *Gates) Panic() *subjects.Failure { return panicked.Load() }

// Goroutines describes client-go's goroutines.
func (g *Gates) Goroutines() []string {
	var all []string
	for _, r := range g.b.Goroutines() {
		all = append(all, r.String())
	}
	return all
}

// report tells what has happened since the last report, in an order that does not depend on that of goroutines.
func (g *Gates) report() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, i := range g.informers {
		i.report()
	}
	for _, r := range g.canceled {
		g.say(Event{What: Canceled, Of: r.informer, ID: r.id})
		delete(g.requests, r.id)
	}
	for _, r := range g.parked {
		g.say(Event{What: Parked, Of: r.informer, ID: r.id, Flag: r.stream != nil, Options: &r.options})
	}
	for _, w := range g.waits {
		g.say(Event{What: Waits, Of: w.informer, N: int64(w.d)})
	}
	for _, id := range g.unread {
		g.say(Event{What: Unread, ID: id})
	}
	clear(g.parked)
	clear(g.canceled)
	g.parked, g.canceled, g.waits, g.unread = g.parked[:0], g.canceled[:0], g.waits[:0], g.unread[:0]
	for _, q := range g.queues {
		q.report()
	}
}

// say tells one event. The event is valid during the call.
func (g *Gates) say(e Event) {
	g.event = e
	g.tell(&g.event)
}

// shutdownTimeout limits the virtual time that client-go may take to stop. A streaming list that backs off sleeps on (I18).
const shutdownTimeout = 10 * time.Minute

// queueTick is more than the period at which a work queue of releases before v0.21 looks whether it has been shut down.
const queueTick = time.Second

// close ends everything in the bubble after the run. The time that passes there is not the run's.
func (g *Gates) close() {
	g.begin()
	for n, i := range g.informers {
		if i.cancel != nil {
			g.Stop(n)
		}
	}
	for _, q := range g.queues {
		q.q.ShutDown()
		q.cancel()
	}
	g.b.PassUntil(make(chan struct{}), queueTick)
	limit := time.Now().Add(shutdownTimeout)
	for _, i := range g.informers {
		if i.ended != nil && !g.b.PassUntil(i.ended, time.Until(limit)) {
			return // the bubble reports the goroutines that are left
		}
	}
}
