package bubble

import (
	"runtime/debug"
	"runtime/metrics"
	_ "unsafe" // for go:linkname
)

// bubbleSeed decides, in a program built with the overlay of package bubble/overlay, what Go leaves open in the bubbles that are
// made from now on. In other programs it decides nothing.
//
//go:linkname bubbleSeed runtime.bubbleSeed
var bubbleSeed uint64

// seededRuntime tells whether the program was built with the overlay, which initialises the variable.
var seededRuntime = bubbleSeed != 0

// Seeded tells whether Go's runtime follows the seed in a bubble: the order of maps, of ready cases of a select, of timers.
func Seeded() bool { return seededRuntime }

// heapOfRun is how much memory, in bytes, a run may take before garbage is collected in it.
const heapOfRun = 1 << 30

// seedBubble seeds the bubble that is made next, on the goroutine that makes bubbles. Garbage is collected when the run is
// over: a collection in the middle of it has goroutines wait that otherwise would not, and lets addresses be used again, which
// decide the order of a map whose keys are pointers.
func seedBubble(seed uint64) (restore func()) {
	bubbleSeed = seed<<1 | 1
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
