package simtest_test

import (
	"runtime/debug"
	"testing"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/internal/bubble"
)

// Garbage is collected less often during runs, but not where the program or GOGC says how often, and afterwards as before.
func TestGarbageIsCollectedSeldom(t *testing.T) {
	during := func() (percent int) {
		simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(*simtest.Env) {
			percent = debug.SetGCPercent(100)
			debug.SetGCPercent(percent)
		})
		return percent
	}
	t.Setenv("GOGC", "")
	if before, got := debug.SetGCPercent(100), during(); got < 200 && !bubble.Seeded() {
		t.Errorf("it is %d during a run", got)
	} else if after := debug.SetGCPercent(before); after != 100 {
		t.Errorf("it is %d afterwards", after)
	}
	if before, got := debug.SetGCPercent(-1), during(); got != -1 {
		t.Errorf("collection was off, and is at %d during a run", got)
	} else {
		debug.SetGCPercent(before)
	}
	t.Setenv("GOGC", "100")
	if before, got := debug.SetGCPercent(100), during(); got != 100 && !bubble.Seeded() {
		t.Errorf("GOGC is 100, and it is %d during a run", got)
	} else {
		debug.SetGCPercent(before)
	}
}
