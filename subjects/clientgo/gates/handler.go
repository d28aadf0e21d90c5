package gates

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// injectedPanic is the panic value of handlers and reconciles that a scenario makes panic.
type injectedPanic struct{ key string }

// handler is an event handler of an informer.
type handler struct {
	i      *informer
	n      int
	reg    registration
	pass   chan bool // buffered: makes the parked call return, or panic
	told   bool      // that its registration has synced
	filter *filter

	// Guarded by the gates' mu.
	calls   []call
	parked  bool // a call waits
	through int  // the number of calls that return at once before one waits again
	gone    bool // removed, or the informer was stopped: calls return
	removed bool // calls after the removal are told, although there should be none
}

// call is a call that is yet to be told.
type call struct {
	what     What
	sort     Call
	key      string
	obj, old any
	passed   *Passed
	// In interleaved runs: the revision that the Indexer held under the key when the call was made, and the highest that it had held; 0 for none.
	stored, reached int64
}

// AddHandler adds a handler to an informer, the next one by number. The first through of its calls return at once.
func (g *Gates) AddHandler(n int, resync time.Duration, through int) error {
	g.begin()
	i := g.informers[n]
	h := &handler{i: i, n: len(i.handlers), pass: make(chan bool, 1), through: through, filter: newFilter(len(i.handlers))}
	err := i.call("AddEventHandler", func() (err error) {
		h.reg, err = addHandler(i.inf, h, resync)
		return err
	})
	if err != nil {
		return i.accepts("AddEventHandler", err)
	}
	g.mu.Lock()
	i.handlers = append(i.handlers, h)
	g.mu.Unlock()
	return nil
}

// RemoveHandler removes a handler. Its calls that wait go on waiting.
func (g *Gates) RemoveHandler(n, handler int) error {
	g.begin()
	i := g.informers[n]
	return i.accepts("RemoveEventHandler", i.call("RemoveEventHandler", func() error { return removeHandler(i.inf, i.handlers[handler].reg) }))
}

// Through has the next k calls of a handler return at once, before one waits again.
func (g *Gates) Through(n, handler, k int) {
	g.mu.Lock()
	g.informers[n].handlers[handler].through = k
	g.mu.Unlock()
}

// Return makes a handler's waiting call return, or panic.
func (g *Gates) Return(n, handler int, panics bool) {
	h := g.informers[n].handlers[handler]
	g.mu.Lock()
	h.parked = false
	g.mu.Unlock()
	h.pass <- panics
}

// Drop has a removed handler's calls return; they are told as late.
func (g *Gates) Drop(n, handler int) {
	h := g.informers[n].handlers[handler]
	g.mu.Lock()
	h.removed = true
	g.mu.Unlock()
	h.drop()
}

// drop has all calls return.
func (h *handler) drop() {
	g := h.i.g
	g.mu.Lock()
	defer g.mu.Unlock()
	h.gone = true
	if h.parked {
		h.parked = false
		h.pass <- false
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *handler) OnUpdate(old, obj any) { h.called(call{sort: Update, obj: obj, old: old}) }

// OnDelete implements cache.ResourceEventHandler.
func (h *handler) OnDelete(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		h.called(call{sort: DeleteUnknown, key: t.Key, obj: t.Obj})
		return
	}
	h.called(call{sort: Delete, obj: obj})
}

// called handles a call, on client-go's goroutine.
func (h *handler) called(c call) {
	if c.key == "" {
		key, err := cache.MetaNamespaceKeyFunc(c.obj)
		if err != nil {
			key = err.Error() // every property about keys will report it
		}
		c.key = key
	}
	c.passed = h.filter.pass(&c)
	g := h.i.g
	if g.interleaved {
		c.stored = h.i.stored(c.key)
	}
	g.mu.Lock()
	c.reached = h.i.reached[c.key]
	switch {
	case h.gone:
		if h.removed {
			c.what = Late
			h.calls = append(h.calls, c)
		}
		g.mu.Unlock()
		return
	case h.through > 0:
		h.through--
		c.what = PassedBy
		h.calls = append(h.calls, c)
		g.mu.Unlock()
		return
	}
	c.what = Called
	h.parked, h.calls = true, append(h.calls, c)
	g.mu.Unlock()
	g.b.Note()
	if <-h.pass {
		panic(injectedPanic{c.key})
	}
}

// report tells a handler's calls. It is called with mu held.
func (h *handler) report() {
	g := h.i.g
	for _, c := range h.calls {
		e := Event{What: c.what, Of: h.i.n, Sub: h.n, Call: c.sort, Key: c.key, Obj: c.obj, Old: c.old, Passed: c.passed}
		if g.interleaved {
			e.N, e.ID, e.Flag = c.stored, c.reached, c.stored != h.i.stored(c.key)
		}
		g.say(e)
	}
	clear(h.calls)
	h.calls = h.calls[:0]
	if !h.told && h.hasSynced() {
		h.told = true
		g.say(Event{What: HandlerSynced, Of: h.i.n, Sub: h.n})
	}
}
