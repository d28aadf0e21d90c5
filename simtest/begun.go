package simtest

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

// begun are the reconciles that have begun and not ended. Who sends a request is known in two cases: the goroutine that began a reconcile sends it, or its
// context is the one that controller-runtime gave the reconcile. Anything else is nobody's: a goroutine that a reconcile starts may be the cache's.
type begun struct {
	any   atomic.Bool // whether there has been one
	mu    sync.Mutex
	on    map[uint64]int64   // by goroutine, the last one that began there
	named map[string]logging // by the id that controller-runtime gives each
}

// logging is a reconcile of which a logger tells.
type logging struct {
	id  int64
	end func(string, time.Duration)
}

// enter notes that a reconcile begins on the caller's goroutine, and returns that. One that has not ended there may never do so, after a panic for
// example: it is not taken up again when this one ends.
func (b *begun) enter(id int64) (goroutine uint64) {
	goroutine = goroutineID()
	b.any.Store(true)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on == nil {
		b.on, b.named = map[uint64]int64{}, map[string]logging{}
	}
	b.on[goroutine] = id
	return goroutine
}

// leave notes that a reconcile has ended. Ending it twice does no harm.
func (b *begun) leave(goroutine uint64, id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on[goroutine] == id {
		delete(b.on, goroutine)
	}
}

// name notes what controller-runtime calls a reconcile.
func (b *begun) name(name string, l logging) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.named[name] = l
}

// unname forgets a name, and returns what had it; the zero value for nothing.
func (b *begun) unname(name string) logging {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.named[name]
	delete(b.named, name)
	return l
}

// sender returns the reconcile that sends a request from the caller's goroutine with that context, 0 if none is known to.
func (b *begun) sender(ctx context.Context) int64 {
	if !b.any.Load() {
		return 0 // most tests tell of none
	}
	goroutine := goroutineID()
	b.mu.Lock()
	defer b.mu.Unlock()
	if id := b.on[goroutine]; id != 0 {
		return id
	}
	if s, ok := klog.FromContext(ctx).GetSink().(*sink); ok && s.reconciles() {
		return b.named[s.id].id
	}
	return 0
}

// goroutineID returns the number of the caller's goroutine. The runtime gives none out twice. There is no other way to it than the first line of a
// stack, "goroutine 7 [running]:".
func goroutineID() uint64 {
	head := make([]byte, 64)
	head = bytes.TrimPrefix(head[:runtime.Stack(head, false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(head, []byte(" "))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		panic("simtest: a stack does not begin with its goroutine's number: " + string(head))
	}
	return n
}
