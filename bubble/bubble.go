package bubble

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/informersim/informersim/sim"
)

// Bubble is the bubble that a run is in. But for Note, its methods are for the goroutine that Run called, which steps the kernel.
type Bubble struct {
	kernel *sim.Kernel
	job    *job
	// active has an item if something was noted since it was last emptied.
	active chan struct{}
	timer  *time.Timer
	start  time.Time // the bubble's time at the kernel's Epoch
	atEnd  func()
}

// Enter gives the bubble that the caller is in to a kernel. It fails outside of a bubble, and in one that has a kernel.
func Enter(k *sim.Kernel) (*Bubble, error) {
	j := theHost.current.Load()
	switch {
	case j == nil:
		return nil, errors.New("there is no bubble here: bubble.Run makes one")
	case j.entered != nil:
		return nil, errors.New("this bubble has a world already: a run has one")
	}
	b := &Bubble{kernel: k, job: j, active: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	b.timer.Stop()
	b.start = time.Now().Add(-k.Elapsed())
	j.entered = b
	return b, nil
}

// AtEnd has f called inside the bubble when the run has returned, to end its goroutines.
func (b *Bubble) AtEnd(f func()) { b.atEnd = f }

// Note ends the passing of time: something has happened that the kernel's goroutine must look at. Any goroutine may call it.
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

// Pass lets time pass until something is noted, at most d, and returns how long it was. The bubble is quiescent when it returns.
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
	// Others may have something to do at this same instant.
	b.Quiesce()
	return time.Since(before)
}

// PassUntil lets time pass until done is closed, at most d, and tells whether it was.
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

// CheckTime fails the kernel's run if the bubble's clock and the kernel's differ: the kernel's goroutine has waited for something.
func (b *Bubble) CheckTime() {
	if d := time.Since(b.start); d != b.kernel.Elapsed() {
		b.kernel.Fail(fmt.Errorf("the bubble is at %v, the run at %v: time passed without being advanced; this is a bug of informersim", d, b.kernel.Elapsed()))
	}
}

// SeedRand seeds math/rand's global source anew, for what is drawn next.
func (b *Bubble) SeedRand(seed int64) { seedGlobalRand(seed) }

// Goroutines are those in the bubble that have not ended, without the one that Run called and those that wait for it.
func (b *Bubble) Goroutines() []Goroutine {
	return slices.DeleteFunc(bubbled(dump(), false), func(g Goroutine) bool { return strings.HasPrefix(g.Started, "testing/synctest.") })
}

// never is closed by nobody. It is made outside of all bubbles.
var never = make(chan struct{})

// Abandon ends the run with an error although goroutines in the bubble would go on for ever, as a ticker's loop does. The
// bubble is frozen: its caller, which does not return, waits for something outside, so no time passes in it any more. Its
// goroutines stay as they are; other runs can follow.
func (b *Bubble) Abandon(err error) {
	j, h := b.job, &theHost
	j.restore()
	h.current.Store(nil)
	h.frozen = true // read by the next run, which begins after this one's end was received
	j.done <- err
	<-never
}
