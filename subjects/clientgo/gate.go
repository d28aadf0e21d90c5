package clientgo

import (
	"sync"
	"time"

	"github.com/informersim/informersim/bubble"
)

// gate is shared by the kernel's goroutine and client-go's: the bubble, a lock for what the latter note, and whether this step has
// affected them.
type gate struct {
	*bubble.Bubble

	// mu guards everything that client-go's goroutines note for the kernel's goroutine.
	mu sync.Mutex

	touched bool // this step may have woken goroutines in the bubble
	passed  bool // time has passed in this step
}

// touch notes that goroutines in the bubble may have something to do.
func (g *gate) touch() { g.touched = true }

// pass lets time pass until Note is called, at most d, and returns how much has passed.
func (g *gate) pass(d time.Duration) time.Duration {
	g.touched, g.passed = true, true
	return g.Pass(d)
}
