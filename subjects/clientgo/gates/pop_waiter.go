package gates

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"
)

// popWaiter waits on the condition of an informer's queue, as a Pop of an empty queue does. The loop of the controller waits at its gate instead, where it
// would not notice that nobody wakes it.
type popWaiter struct {
	ctx     context.Context
	cond    *sync.Cond
	waiting atomic.Bool
	woken   atomic.Int64

	// Seen before, and used while the bubble is quiescent.
	waited bool
	count  int64
}

// waitAsPop starts a popWaiter, which ends with its context, if whoever closes the queue then wakes it.
func (q *queueView) waitAsPop(ctx context.Context) (*popWaiter, error) {
	f, err := field(q.queue, "cond")
	if err != nil {
		return nil, err
	}
	w := &popWaiter{ctx: ctx, cond: (*sync.Cond)(unsafe.Pointer(f.UnsafeAddr()))}
	go w.run()
	return w, nil
}

func (w *popWaiter) run() {
	w.cond.L.Lock()
	defer w.cond.L.Unlock()
	for w.ctx.Err() == nil {
		w.waiting.Store(true)
		w.cond.Wait()
		w.woken.Add(1)
	}
}

// missed reports whether it has been left waiting since the last call, by an empty queue that has something now.
func (w *popWaiter) missed(before, now int) bool {
	waited, count := w.waited, w.count
	w.waited, w.count = w.waiting.Load(), w.woken.Load()
	return waited && before == 0 && now > 0 && count == w.count
}
