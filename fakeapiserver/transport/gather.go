package transport

import (
	"sync"
	"time"
)

// perStream is how long a stream waits between writes for each stream written to lately: several times what a write takes. With few
// streams there is no wait, and none is longer than gatherMax.
const (
	perStream = 50 * time.Microsecond
	gatherMin = 400 * time.Microsecond
	gatherMax = gatherMin << 7
	// lately is the length of the windows in which streams are counted.
	lately = 2 * gatherMax
)

// gatherer delays writes so that frames accumulate while many streams are busy: an event that a thousand watches see costs a
// thousand system calls, which several events can share. Frames for an idle stream are written at once. The zero value is ready to
// use.
type gatherer struct {
	mu      sync.Mutex
	started time.Time
	window  int64 // the current one
	now     int   // streams written to in the current window
	before  int   // and in the previous one
}

// wrote records a write to a stream last counted in the given window, and returns the current window and how long the stream waits
// before its next write.
func (g *gatherer) wrote(counted int64) (window int64, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.started.IsZero() {
		g.started = time.Now().Add(-lately) // the first window is 1; 0 means none
	}
	return g.count(counted, time.Since(g.started))
}

func (g *gatherer) count(counted int64, elapsed time.Duration) (window int64, wait time.Duration) {
	if window = int64(elapsed / lately); window != g.window {
		if g.before = g.now; window > g.window+1 {
			g.before = 0
		}
		g.window, g.now = window, 0
	}
	if counted != window {
		g.now++
	}
	least := time.Duration(max(g.now, g.before)) * perStream
	if least < gatherMin {
		return window, 0
	}
	period := gatherMin
	for period < least && period < gatherMax {
		period *= 2
	}
	// All streams resume at the same times; in between, the producers of events have the CPU.
	return window, period - elapsed%period
}
