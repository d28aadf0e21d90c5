package simtest

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// roomForGarbage is how much garbage, in bytes, a test's process may have between two collections where that is more than Go's default.
const roomForGarbage = 64 << 20

// collectSeldom has garbage be collected less often until restore is called, unless GOGC says how often. A run leaves a megabyte, and little of a test's
// memory lives: by default a tenth of its time would go into collecting.
func collectSeldom() (restore func()) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if os.Getenv("GOGC") != "" || live[0].Value.Uint64() >= roomForGarbage {
		return func() {}
	}
	percent := int(min(400, 100*roomForGarbage/max(live[0].Value.Uint64(), 1)))
	before := debug.SetGCPercent(percent)
	if before < 0 || before > percent { // the program has its own mind
		debug.SetGCPercent(before)
	}
	return func() { debug.SetGCPercent(before) }
}
