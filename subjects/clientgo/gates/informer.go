package gates

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/subjects"
)

// informer is one SharedIndexInformer.
type informer struct {
	g        *Gates
	n        int
	spec     InformerSpec
	inf      cache.SharedIndexInformer
	loop     *loopGate
	cancel   context.CancelFunc
	ended    chan struct{} // closed when client-go's Run has returned
	queue    *queueView
	waiter   *popWaiter
	handlers []*handler

	rescan bool // the Indexer's whole content is being replaced, without calls for removed objects
	// whole notes that the next list follows an expired continue token, and so must not be paged (I8).
	whole bool
	// owed is the error of the last list if nobody has been told of it; unpaid is the first of which nobody was before the next list.
	owed   error
	unpaid string
	// misused is the first object that the transform was wrongly called with, "" for none; guarded by the gates' mu.
	misused string
	// syncedAtStop says that it had synced when it was stopped.
	syncedAtStop bool

	// Told before.
	length int
	synced bool

	reading bool             // the Indexer is only read; guarded by the gates' mu
	touched []touched        // guarded by the gates' mu
	reached map[string]int64 // by key, the highest revision that the Indexer has held; nil unless interleaved; guarded by the gates' mu
}

// touched is an object that was removed or inserted.
type touched struct {
	key string
	obj any
}

// NewInformer creates an informer, the next one by number.
func (g *Gates) NewInformer(spec InformerSpec) error {
	i := &informer{g: g, n: len(g.informers), spec: spec}
	if g.interleaved {
		i.reached = map[string]int64{}
	}
	choose(spec.Queue, spec.WatchList)
	i.inf = newSharedInformer(i)
	if f := (subjects.Transform{DropLabel: spec.DropLabel, FailLabel: spec.FailLabel}).Func(); f != nil {
		if err := setTransform(i.inf, i.watched(f)); err != nil {
			return i.accepts("SetTransform", err)
		}
	}
	g.informers = append(g.informers, i)
	return i.accepts("SetWatchErrorHandler", i.listens())
}

// accepts makes a failure of the error of a call that an informer has to accept, unless it has ended.
func (i *informer) accepts(call string, err error) error {
	if err == nil || err == errBlocked || i.ended != nil && i.loop.Err() != nil {
		return err
	}
	return &subjects.Failure{Kind: subjects.Refuses, What: fmt.Sprintf("client-go %s refuses %s: %v", Release, call, err)}
}

// observe is the index function of the namespace index. The Indexer calls it with the object that it removes and with the one that it
// inserts.
func (i *informer) observe(obj any) ([]string, error) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, err
	}
	i.g.mu.Lock()
	if !i.reading {
		i.touched = append(i.touched, touched{key, obj})
	}
	if i.reached != nil {
		i.reached[key] = max(i.reached[key], subjects.RevisionOf(obj))
	}
	i.g.mu.Unlock()
	return cache.MetaNamespaceIndexFunc(obj)
}

// Start starts an informer, and waits until its goroutines are at their gates.
func (g *Gates) Start(n int) (QueueInfo, error) {
	i := g.informers[n]
	ctx, cancel := context.WithCancel(context.Background())
	i.loop, i.cancel = newLoopGate(ctx, g), cancel
	i.ended = make(chan struct{})
	g.hold(i)
	go func() {
		defer close(i.ended)
		i.run()
	}()
	g.b.Quiesce()
	if !g.asks(i) {
		g.begin() // its reflector is among those that are held: no request of it would be sent
	}
	queue, err := viewQueue(i.inf)
	if err == nil && !i.loop.waiting() {
		err = &subjects.Failure{Kind: subjects.Hung, What: "the loop of its controller does not come to take from the queue"}
		if p := panicked.Load(); p != nil {
			err = p
		}
	}
	if err == nil {
		i.waiter, err = queue.waitAsPop(ctx)
	}
	if err != nil {
		cancel()
		g.b.Quiesce()
		return QueueInfo{}, fmt.Errorf("client-go %s: %w", Release, err)
	}
	i.queue = queue // only now: what comes to rest while it is stopped is not told
	g.report()
	return i.queue.QueueInfo, nil
}

// Pop lets an informer's loop run once. Goroutines that are held begin after that.
func (g *Gates) Pop(n int) {
	g.informers[n].loop.pass()
	g.begin()
}

// Rescan has the next report tell all that the Indexer holds.
func (g *Gates) Rescan(n int) { g.informers[n].rescan = true }

// Stop ends an informer's goroutines, and releases those that wait.
func (g *Gates) Stop(n int) {
	g.begin()
	i := g.informers[n]
	i.syncedAtStop = i.inf.HasSynced()
	i.cancel()
	for _, h := range i.handlers {
		h.drop()
	}
}

// QueueKeys returns the keys of the entries from..to of a DeltaFIFO.
func (g *Gates) QueueKeys(n, from, to int) []string {
	keys := make([]string, 0, to-from)
	for k := from; k < to; k++ {
		keys = append(keys, g.informers[n].queue.key(k))
	}
	return keys
}

// LastSync returns the reflector's LastSyncResourceVersion.
func (g *Gates) LastSync(n int) string { return g.informers[n].inf.LastSyncResourceVersion() }

// Keys returns the keys of the Indexer, sorted.
func (g *Gates) Keys(n int) []string {
	keys := g.informers[n].inf.GetIndexer().ListKeys()
	slices.Sort(keys)
	return keys
}

// Get returns the object that the Indexer holds under a key, nil for none.
func (g *Gates) Get(n int, key string) any {
	obj, ok, err := g.informers[n].inf.GetIndexer().GetByKey(key)
	if err != nil || !ok {
		return nil
	}
	return obj
}

// stored returns the revision of the object that the Indexer holds under a key, 0 for none.
func (i *informer) stored(key string) int64 {
	obj, _, _ := i.inf.GetIndexer().GetByKey(key) // it has no errors
	return subjects.RevisionOf(obj)
}

// AddIndex adds an index.
func (g *Gates) AddIndex(n int, spec subjects.IndexSpec) error {
	i := g.informers[n]
	_, taken := i.inf.GetIndexer().GetIndexers()[spec.Name]
	err := i.inf.AddIndexers(cache.Indexers{spec.Name: spec.Values})
	if taken {
		return err
	}
	return i.accepts("AddIndexers", err)
}

// IndexValues returns the values of an index, sorted.
func (g *Gates) IndexValues(n int, index string) []string {
	values := g.informers[n].inf.GetIndexer().ListIndexFuncValues(index)
	slices.Sort(values)
	return values
}

// IndexKeys returns the keys of the objects under a value of an index, sorted.
func (g *Gates) IndexKeys(n int, index, value string) []string {
	keys, err := g.informers[n].inf.GetIndexer().IndexKeys(index, value)
	if err != nil {
		return nil // there is no such index
	}
	slices.Sort(keys)
	return keys
}

// Read reads the Indexer in one of the ways in which controllers do.
func (g *Gates) Read(n int, r subjects.Reading) ([]any, error) {
	i := g.informers[n]
	i.setReading(true)
	defer i.setReading(false)
	return subjects.ReadIndexer(i.inf.GetIndexer(), r)
}

// setReading says that index functions are called for a read, while the bubble is quiescent.
func (i *informer) setReading(reading bool) {
	i.g.mu.Lock()
	i.reading = reading
	i.g.mu.Unlock()
}

// report tells what an informer has done. It is called with mu held, which nobody else wants while the bubble is quiescent, except the
// index function.
func (i *informer) report() {
	g := i.g
	if i.queue == nil {
		return // it has not started
	}
	if where := i.loopBlocked(); where != "" {
		g.say(Event{What: Blocked, Of: i.n, Key: "the loop of its controller does not come back to its queue: it waits for what nothing else will do, " + where})
	}
	n := i.queue.len()
	if i.waiter.missed(i.length, n) {
		g.say(Event{What: Unwoken, Of: i.n})
	}
	if n != i.length {
		i.length = n
		g.say(Event{What: Queued, Of: i.n, N: int64(n)})
	}
	for _, t := range i.touched {
		g.say(Event{What: Touched, Of: i.n, Key: t.key, Obj: t.obj})
	}
	indexer := i.inf.GetIndexer()
	switch {
	case i.rescan:
		i.rescan = false
		for _, key := range g.Keys(i.n) {
			g.say(Event{What: Holds, Of: i.n, Key: key, Obj: g.Get(i.n, key)})
		}
	default:
		for k, t := range i.touched {
			if k > 0 && i.touched[k-1].key == t.key {
				continue
			}
			obj, _, _ := indexer.GetByKey(t.key) // it has no errors
			g.say(Event{What: Holds, Of: i.n, Key: t.key, Obj: obj})
		}
	}
	clear(i.touched)
	i.touched = i.touched[:0]
	if !i.synced && i.inf.HasSynced() {
		i.synced = true
		g.say(Event{What: Synced, Of: i.n})
	}
	for _, h := range i.handlers {
		h.report()
	}
}
