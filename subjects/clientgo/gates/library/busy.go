package library

import (
	"runtime"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// busyQueues are called while they process an object. All calls wait until that is over, except those of an atomic queue that is told to unlock.
func busyQueues(c *check) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	of := []struct {
		name string
		q    cache.Queue
		lets bool
	}{
		{"a DeltaFIFO", cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true}), false},
		{"a RealFIFO", cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known}), false},
		{"a RealFIFO that unlocks", cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true}), true},
	}[c.IntN(3)]
	other := object("c", 2)
	call := []struct {
		name string
		f    func() error
	}{
		{"Add", func() error { return of.q.Add(other) }},
		{"Update", func() error { return of.q.Update(other) }},
		{"Delete", func() error { return of.q.Delete(other) }},
		{"Replace", func() error { return of.q.Replace([]any{other}, "2") }},
		{"Resync", func() error { return of.q.Resync() }},
		{"Close", func() error { of.q.Close(); return nil }},
		{"HasSynced", func() error { of.q.HasSynced(); return nil }},
	}[c.IntN(7)]
	c.no("Replace", of.q.Replace([]any{object("ns1/a", 1)}, "1"))
	if of.lets && c.IntN(2) == 0 {
		c.no("Add", of.q.Add(other))
	}
	long := 0
	if of.lets {
		switch c.IntN(8) {
		case 0: // so long that it must not grow (I60)
			of.name, of.lets, long = of.name+", but is long", false, 2*largestBatch
		case 1:
			of.name, long = of.name+", and is almost long", 2*largestBatch-2
		}
	}
	for range long {
		c.no("Add", of.q.Add(other))
	}
	var inside, met atomic.Bool
	began, returned := make(chan string, 1), make(chan struct{})
	_, err := of.q.Pop(func(any, bool) error {
		inside.Store(true)
		go func() {
			defer close(returned)
			began <- goroutine()
			err := call.f()
			met.Store(inside.Load())
			c.no(call.name+" of "+of.name, err)
		}()
		for caller := <-began; !closed(returned) && !locked(caller); {
			crowd()
		}
		inside.Store(false)
		return nil
	})
	<-returned
	c.no("Pop of "+of.name, err)
	c.is("whether "+call.name+" of "+of.name+" returns while it processes an object", of.lets, met.Load())
	of.q.Close()
	for range 4 {
		c.deltaQueues()
	}
	c.losesKey()
	c.renamedDeltas()
	c.batchEnds()
	c.takesWhenClosed()
	c.resyncsAtFirst()
	c.noDeltas()
	c.resyncedFirst()
}

// resyncsAtFirst has a resync come when half of the first list was processed: it tells of that half, behind the other.
func (c *check) resyncsAtFirst() {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
	c.no("Replace", q.Replace([]any{object("ns1/a", 1), object("ns1/b", 1)}, "1"))
	got := []string{}
	pop := func() {
		_, err := q.Pop(func(obj any, _ bool) error {
			d := obj.(cache.Deltas)[0]
			got = append(got, string(d.Type)+" "+text(d.Object))
			return known.Add(d.Object)
		})
		got = append(got, message(err))
	}
	pop()
	c.no("Resync", q.Resync())
	pop()
	c.is("HasSynced after the first list, with a resync in between", true, q.HasSynced())
	q.Close()
	pop()
	c.is("what comes of a list and a resync", []string{"Replaced ns1/a@1", "", "Replaced ns1/b@1", "", "Sync ns1/a@1", ""}, got)
}

// closed reports whether a channel is closed.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// goroutine returns the beginning of the caller's stack, which is no other goroutine's.
func goroutine() string {
	var buf [64]byte
	name, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "[")
	return name
}

// locked reports whether a goroutine waits for a lock. Such a one does not rest, so that quiescence tells nothing of it.
func locked(goroutine string) bool {
	buf := make([]byte, 1<<16)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	_, of, _ := strings.Cut("\n"+string(buf[:n]), "\n"+goroutine+"[")
	state, _, _ := strings.Cut(of, "\n")
	return strings.Contains(state, "Mutex.")
}
