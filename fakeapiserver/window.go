package fakeapiserver

import (
	"time"
)

// AdaptiveHistory, as ClusterOptions.History, sizes watch caches like the real ones: they retain 100 events, and double that,
// up to 102,400, whenever a full window spans less than 75 seconds (I110).
const AdaptiveHistory = -1

const (
	minWindow   = 100
	maxWindow   = 100 * 1024
	freshWindow = 75 * time.Second
)

// window bounds how many events a watch cache retains.
type window struct {
	capacity int64
	adaptive bool
	// times holds when the events of an adaptive window were applied, oldest first; the first is at position base.
	times []time.Duration
	base  int64
}

func newWindow(history int64) window {
	if history == AdaptiveHistory {
		return window{capacity: minWindow, adaptive: true}
	}
	return window{capacity: history}
}

// add records that the event at pos was applied at now, to a window that starts at start; the capacity may grow or shrink. It
// returns the new start of the window.
func (w *window) add(start, pos int64, now time.Duration) int64 {
	if w.adaptive {
		w.forget(start)
		if len(w.times) == 0 {
			w.base = pos
		}
		w.resize(start, pos, now)
		w.times = append(w.times, now)
	}
	return max(start, pos+1-w.capacity)
}

// resize doubles the capacity of a full window that spans less than freshWindow, and halves it if its newest quarter spans more.
func (w *window) resize(start, pos int64, now time.Duration) {
	full := pos-start >= w.capacity
	switch {
	case !full:
	case now-w.at(start) < freshWindow:
		w.capacity = min(2*w.capacity, maxWindow)
	case now-w.at(pos-w.capacity/4) > freshWindow:
		w.capacity = max(w.capacity/2, minWindow)
	}
}

func (w *window) at(pos int64) time.Duration { return w.times[pos-w.base] }

// forget drops the times of the events before start.
func (w *window) forget(start int64) {
	if n := min(start-w.base, int64(len(w.times))); n > 0 {
		w.times = w.times[n:]
		w.base += n
	}
}
