package clientgo

import (
	"fmt"
	"sync"
	"testing/synctest"
	"time"

	"github.com/informersim/informersim/sim"
)

// bubble is where the kernel's goroutine and client-go's meet: a lock for what the latter note, and the waiting for them.
type bubble struct {
	kernel *sim.Kernel
	job    *job

	// mu guards everything that client-go's goroutines note for the kernel's to collect.
	mu sync.Mutex
	// active has an item if something was noted since it was last emptied.
	active chan struct{}

	timer   *time.Timer
	start   time.Time // the bubble's time at the kernel's Epoch
	touched bool      // something was done to the bubble in this step
	passed  bool      // time has passed in this step
}

func newBubble(k *sim.Kernel, j *job) *bubble {
	b := &bubble{kernel: k, job: j, active: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	b.timer.Stop()
	b.start = time.Now().Add(-k.Elapsed())
	return b
}

// note tells the kernel's goroutine, if it lets time pass, that something happened.
func (b *bubble) note() {
	select {
	case b.active <- struct{}{}:
	default:
	}
}

// touch says that goroutines in the bubble may have something to do now.
func (b *bubble) touch() { b.touched = true }

// rest waits until nothing moves in the bubble any more.
func (b *bubble) rest() {
	b.job.beginWait()
	synctest.Wait()
	b.job.endWait()
}

// pass lets time pass until something is noted, at most d, and returns how long it was.
func (b *bubble) pass(d time.Duration) time.Duration {
	select {
	case <-b.active:
	default:
	}
	before := time.Now()
	b.touched, b.passed = true, true
	b.job.beginWait()
	b.timer.Reset(d)
	select {
	case <-b.active:
		b.timer.Stop()
	case <-b.timer.C:
	}
	b.job.endWait()
	// Others may have something to do at this same instant.
	b.rest()
	return time.Since(before)
}

// checkTime fails the run if the bubble's clock and the kernel's differ: somebody has waited for something.
func (b *bubble) checkTime() {
	if d := time.Since(b.start); d != b.kernel.Elapsed() {
		b.kernel.Fail(fmt.Errorf("clientgo: the bubble is at %v, the run at %v: time passed without being advanced; this is a bug of informersim", d, b.kernel.Elapsed()))
	}
}
