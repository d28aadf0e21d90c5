package bubble

import (
	"runtime/debug"
	"runtime/metrics"
	_ "unsafe" // for go:linkname
)

// bubbleSeed seeds the bubbles made from now on, in a program built with the overlay of package bubble/overlay. In other programs
// it has no effect.
//
//go:linkname bubbleSeed runtime.bubbleSeed
var bubbleSeed uint64

// bubbleInterleave has the goroutines of the bubbles made from now on interleaved by their seed, in a program built with that overlay.
//
//go:linkname bubbleInterleave runtime.bubbleInterleave
var bubbleInterleave bool

// bubbleLocksRest has goroutines of the bubbles made from now on be at rest while they wait for a lock, in a program built with that overlay.
//
//go:linkname bubbleLocksRest runtime.bubbleLocksRest
var bubbleLocksRest bool

// bubbleHold is the overlay's function that holds goroutines in the caller's bubble, nil in other programs.
//
//go:linkname bubbleHold runtime.bubbleHold
var bubbleHold func(on bool)

// bubbleNext is the overlay's function that says when the next timer of the caller's bubble is due, nil in other programs.
//
//go:linkname bubbleNext runtime.bubbleNext
var bubbleNext func() int64

// seededRuntime tells whether the program was built with the overlay, which initialises the variable.
var seededRuntime = bubbleSeed != 0

// Seeded reports whether the program was built with the overlay, so that a bubble's seed decides the order of maps, of a select's
// ready cases, and of timers.
func Seeded() bool { return seededRuntime }

// heapOfRun is the memory, in bytes, that a run may use before garbage is collected during it.
const heapOfRun = 1 << 30

// seedBubble seeds the next bubble, on the goroutine that makes bubbles. Garbage is collected only after the run: a collection
// during it would block goroutines that otherwise run, and would let addresses be reused, which decide the order of a map whose
// keys are pointers.
func seedBubble(seed uint64, o Options) (restore func()) {
	bubbleSeed, bubbleInterleave, bubbleLocksRest = seed<<1|1, o.Interleave, o.LocksRest
	if !seededRuntime {
		return func() {}
	}
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, int64(sample[0].Value.Uint64())+heapOfRun))
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}
