package transport

import (
	"sync"
	"time"
)

// perStream is how long a stream that was written to waits before it is written to again, for each stream that was written to
// lately: some times as long as writing to it takes. A few wait not at all, and none longer than gatherMax.
const (
	perStream = 50 * time.Microsecond
	gatherMin = 400 * time.Microsecond
	gatherMax = gatherMin << 7
	// lately is how far back streams are counted, in windows of that length.
	lately = 2 * gatherMax
)

// gatherer lets frames come together after some were written, as long as many streams are being written to: an event that a
// thousand watches see costs a thousand system calls, which several events can share. What comes to a stream at rest is written
// at once. The zero value is ready to use.
type gatherer struct {
	mu      sync.Mutex
	started time.Time
	window  int64 // the one that is counted now
	now     int   // how many streams were written to in it
	before  int   // and in the one before
}

// wrote notes that a stream was written to, which was counted last in the given window, and returns the present window and how
// long the stream is to wait before it is written to again.
func (g *gatherer) wrote(counted int64) (window int64, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.started.IsZero() {
		g.started = time.Now().Add(-lately) // so that the first window is 1, and 0 is none
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
	// All streams go on at the same times, so that between these whoever makes the events has the processor.
	return window, period - elapsed%period
}
