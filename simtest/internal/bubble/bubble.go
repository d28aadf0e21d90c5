package bubble

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing/synctest"
	"time"
)

// Bubble is the bubble of a run. Except for Note, its methods are for the goroutine on which Run calls its function, which steps
// the kernel.
type Bubble struct {
	job *job
	// active holds an item if Note was called since it was last drained.
	active chan struct{}
	timer  *time.Timer
	start  time.Time // the bubble's time at the kernel's Epoch
	atEnd  func()
}

// Enter binds the caller's bubble to a kernel whose clock has come to elapsed. It fails outside a bubble, and in one that already has a
// kernel.
func Enter(elapsed time.Duration) (*Bubble, error) {
	j := theHost.current.Load()
	switch {
	case j == nil:
		return nil, errors.New("not inside a bubble: bubble.Run makes one")
	case j.entered != nil:
		return nil, errors.New("this bubble already has a kernel: a run has only one")
	}
	b := &Bubble{job: j, active: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	b.timer.Stop()
	b.start = time.Now().Add(-elapsed)
	j.entered = b
	return b, nil
}

// AtEnd registers f to be called inside the bubble when the run has returned, to end its goroutines.
func (b *Bubble) AtEnd(f func()) { b.atEnd = f }

// Note interrupts Pass: something has happened that the kernel's goroutine must handle. Any goroutine may call it.
func (b *Bubble) Note() {
	select {
	case b.active <- struct{}{}:
	default:
	}
}

// Quiesce waits until the bubble is quiescent: every goroutine but the caller's is durably blocked.
func (b *Bubble) Quiesce() {
	b.job.beginWait()
	synctest.Wait()
	b.job.endWait()
}

// Pass lets time pass until Note is called, at most d, and returns how much has passed. The bubble is quiescent when it returns.
func (b *Bubble) Pass(d time.Duration) time.Duration {
	select {
	case <-b.active:
	default:
	}
	before := time.Now()
	b.job.beginWait()
	b.timer.Reset(d)
	select {
	case <-b.active:
		b.timer.Stop()
	case <-b.timer.C:
	}
	b.job.endWait()
	// Other goroutines may have something to do at this same instant.
	b.Quiesce()
	return time.Since(before)
}

// Next returns how long it is until a timer in the bubble may fire; no time has to pass there before. It is math.MaxInt64 if there is no timer, and 0 in a program
// that is not Seeded, where that is not known.
func (b *Bubble) Next() time.Duration {
	if bubbleNext == nil {
		return 0
	}
	if d := bubbleNext(); d >= 0 {
		return time.Duration(d)
	}
	return math.MaxInt64
}

// PassUntil lets time pass until done is closed, at most d, and reports whether it was closed.
func (b *Bubble) PassUntil(done <-chan struct{}, d time.Duration) bool {
	b.job.beginWait()
	defer b.job.endWait()
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-limit.C:
		return false
	}
}

// Interleaved reports whether the seed interleaves the bubble's goroutines.
func (b *Bubble) Interleaved() bool { return b.job.options.Interleave && Seeded() }

// Hold has some of the goroutines that other goroutines of an interleaved bubble start from now on, until the next Quiesce, not begin before
// Release, as if they were late. It is for what nothing in the bubble waits for: the bubble is quiescent without them.
func (b *Bubble) Hold() {
	if b.Interleaved() {
		bubbleHold(true)
	}
}

// Release lets the goroutines that are held begin.
func (b *Bubble) Release() {
	if b.Interleaved() {
		bubbleHold(false)
	}
}

// Elapsed returns how much time has passed in the bubble since the start of the run. Where that is not what the kernel's clock says, the
// kernel's goroutine has blocked.
func (b *Bubble) Elapsed() time.Duration { return time.Since(b.start) }

// SeedRand reseeds math/rand's global source.
func (b *Bubble) SeedRand(seed int64) { seedGlobalRand(seed) }

// Goroutines returns the bubble's live goroutines, except for the run's own and those that wait for it.
func (b *Bubble) Goroutines() []Goroutine {
	return slices.DeleteFunc(bubbled(dump(), b.job.name, false), func(g Goroutine) bool { return strings.HasPrefix(g.Started, "testing/synctest.") })
}

// never is never closed. It is made outside all bubbles.
var never = make(chan struct{})

// Abandon ends the run with an error although goroutines in the bubble would run for ever, such as a ticker's loop. It does not
// return. The caller blocks on something outside the bubble, which freezes it: no more time passes there, and its goroutines stay
// as they are. Other runs can follow.
func (b *Bubble) Abandon(err error) {
	theHost.freeze(b.job)
	b.job.done <- err
	<-never
}
