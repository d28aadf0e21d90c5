package clientgo

import (
	"sync"
	"time"

	"github.com/informersim/informersim/bubble"
)

// gate is where the kernel's goroutine and client-go's meet: the bubble, a lock for what the latter note, and what this step has
// done to them.
type gate struct {
	*bubble.Bubble

	// mu guards everything that client-go's goroutines note for the kernel's to collect.
	mu sync.Mutex

	touched bool // something was done to the bubble in this step
	passed  bool // time has passed in this step
}

// touch says that goroutines in the bubble may have something to do now.
func (g *gate) touch() { g.touched = true }

// pass lets time pass until something is noted, at most d, and returns how long it was.
func (g *gate) pass(d time.Duration) time.Duration {
	g.touched, g.passed = true, true
	return g.Pass(d)
}
